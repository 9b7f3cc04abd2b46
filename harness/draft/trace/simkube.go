package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/ugorji/go/codec"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/search/workload"
)

// simKubeTrace is a trace of SimKube in MessagePack, of the version 2 of that format. Objects are those of Kubernetes.
type simKubeTrace struct {
	Version int `codec:"version"`
	Events  []struct {
		Seconds int64            `codec:"ts"` // since 1970
		Applied []map[string]any `codec:"applied_objs"`
		Deleted []map[string]any `codec:"deleted_objs"`
	} `codec:"events"`
	// Lifecycles are read on their own, see ran.
	Lifecycles codec.Raw `codec:"pod_lifecycles"`
}

const (
	simKubeVersion = 2
	deepest        = 100
	mostSeconds    = 7 * 24 * 60 * 60
)

func simKube(text []byte, n *notes) (all []change, err error) {
	h := handle()
	h.MapType = reflect.TypeFor[map[string]any]()
	var t simKubeTrace
	if err := codec.NewDecoderBytes(text, h).Decode(&t); err != nil {
		return nil, errors.New("it is neither a replay log of kubereplay in JSON nor a trace of SimKube in MessagePack")
	}
	if t.Version != simKubeVersion {
		return nil, fmt.Errorf("it is a trace of the version %d of SimKube's format: want %d", t.Version, simKubeVersion)
	}
	for _, e := range t.Events {
		for _, object := range e.Applied {
			if all, err = applied(all, object, e.Seconds, false, n); err != nil {
				return nil, err
			}
		}
		for _, object := range e.Deleted {
			if all, err = applied(all, object, e.Seconds, true, n); err != nil {
				return nil, err
			}
		}
	}
	ran := t.ran()
	for i := range all {
		if c := &all[i]; c.runs == 0 && !c.deleted && c.kind != workload.Deployment {
			c.runs = ran[c.key]
		}
	}
	return all, nil
}

// handle reads texts as such, and refuses what is nested too deep.
func handle() *codec.MsgpackHandle {
	h := &codec.MsgpackHandle{}
	h.RawToString, h.MaxDepth = true, deepest
	return h
}

// applied adds what an event did to an object.
func applied(all []change, object map[string]any, seconds int64, deleted bool, n *notes) ([]change, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return all, fmt.Errorf("an object of the trace cannot be read: %w", err)
	}
	var of struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return all, fmt.Errorf("an object of the trace is no object of Kubernetes: %w", err)
	}
	c := change{at: time.Unix(seconds, 0).UTC(), kind: of.Kind, key: of.Namespace + "/" + of.Name, deleted: deleted}
	if of.Kind != cronJob && !slices.Contains(workload.Kinds, of.Kind) {
		n.add("is a "+of.Kind+", and is left out", of.Name)
		return all, nil
	}
	if deleted {
		return append(all, c), nil
	}
	switch of.Kind {
	case workload.Deployment:
		var d appsv1.Deployment
		err = json.Unmarshal(text, &d)
		one := int32(1)
		if c.template, c.pods = &d.Spec.Template, d.Spec.Replicas; c.pods == nil {
			c.pods = &one
		}
	case workload.Job:
		var j batchv1.Job
		err = json.Unmarshal(text, &j)
		c.template, c.pods, c.runs = &j.Spec.Template, jobPods(&j, of.Name, n), sleeps(&j.Spec.Template.Spec)
	case cronJob:
		var j batchv1.CronJob
		if err = json.Unmarshal(text, &j); err != nil {
			break
		}
		job := batchv1.Job{Spec: j.Spec.JobTemplate.Spec}
		c.template, c.pods, c.runs = &job.Spec.Template, jobPods(&job, of.Name, n), sleeps(&job.Spec.Template.Spec)
		if !c.comes(&j, n) {
			return all, nil
		}
	case workload.Pod:
		var p corev1.Pod
		err = json.Unmarshal(text, &p)
		c.template = &corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
		c.runs = sleeps(&p.Spec)
	}
	if err != nil {
		return all, fmt.Errorf("%s %s: %w", of.Kind, c.key, err)
	}
	return append(all, c), nil
}

const (
	cronJob = "CronJob"
	// mostTimes is of how many times of a CronJob the mean is taken.
	mostTimes = 100
)

// comes is when the Jobs of a CronJob do. It reports whether they ever do.
func (c *change) comes(j *batchv1.CronJob, n *notes) bool {
	zone := ""
	if j.Spec.TimeZone != nil {
		zone = "CRON_TZ=" + *j.Spec.TimeZone + " "
	}
	times, err := cron.ParseStandard(zone + j.Spec.Schedule)
	switch {
	case err != nil:
		n.add("is a CronJob with a schedule that cannot be read, and is left out", j.Name)
		return false
	case j.Spec.Suspend != nil && *j.Spec.Suspend:
		n.add("is a suspended CronJob, and is left out", j.Name)
		return false
	}
	first := times.Next(c.at)
	last, regular := first, true
	second := times.Next(first)
	for range mostTimes {
		next := times.Next(last)
		regular = regular && next.Sub(last) == second.Sub(first)
		last = next
	}
	if first.IsZero() || last.IsZero() {
		n.add("is a CronJob that hardly comes, and is left out", j.Name)
		return false
	}
	if !regular {
		n.add("is a CronJob of irregular times, and comes as often on average", j.Name)
	}
	c.after, c.every = first.Sub(c.at), (last.Sub(first) / mostTimes).Round(time.Second)
	return true
}

// ran is how long the pods of each owner ran at most, by NAMESPACE/NAME, as far as their ends are known. A trace has them by owner (a kind
// and that name), then by a hash of their template, as lists of {Finished: [start, end]}, {Running: [start]} or Empty.
func (t simKubeTrace) ran() map[string]time.Duration {
	all := map[string]time.Duration{}
	var lives []any // keys and values in turn, as keys are lists
	if err := codec.NewDecoderBytes(t.Lifecycles, handle()).Decode(&lives); err != nil {
		return all
	}
	for i := 0; i+1 < len(lives); i += 2 {
		key, _ := lives[i].([]any)
		pods, _ := lives[i+1].(map[any]any)
		if len(key) != 2 {
			continue
		}
		owner, _ := key[1].(string)
		for _, list := range pods {
			of, _ := list.([]any)
			for _, life := range of {
				finished, _ := life.(map[any]any)
				times, _ := finished["Finished"].([]any)
				if len(times) != 2 {
					continue
				}
				from, begun := number(times[0])
				to, ended := number(times[1])
				if begun && ended && to > from && to-from < mostSeconds {
					all[owner] = max(all[owner], time.Duration(to-from)*time.Second)
				}
			}
		}
	}
	return all
}

func number(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case uint64:
		return int64(n), n < 1<<62
	}
	return 0, false
}
