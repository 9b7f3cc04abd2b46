package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/search/workload"
)

// replayLog is what kubereplay (a tool of Karpenter for AWS) captures from audit logs, as of January 2026. Its fields are those of
// Kubernetes in JSON.
type replayLog struct {
	Events []struct {
		Type       string             `json:"type"` // create, scale, delete
		Kind       string             `json:"kind"` // Deployment, Job
		Key        string             `json:"key"`
		Deployment *appsv1.Deployment `json:"deployment"`
		Job        *batchv1.Job       `json:"job"`
		Replicas   *int32             `json:"replicas"`
		Timestamp  time.Time          `json:"timestamp"`
	} `json:"events"`
}

func kubereplay(text []byte, n *notes) (all []change, err error) {
	var log replayLog
	if err := json.Unmarshal(text, &log); err != nil {
		return nil, fmt.Errorf("it is no replay log of kubereplay: %w", err)
	}
	if len(log.Events) == 0 {
		return nil, errors.New("it has no events: want a replay log of kubereplay, or a trace of SimKube")
	}
	for i, e := range log.Events {
		c := change{at: e.Timestamp, kind: e.Kind, key: e.Key, pods: e.Replicas, deleted: e.Type == "delete"}
		switch {
		case !slices.Contains([]string{"create", "scale", "delete"}, e.Type):
			return nil, fmt.Errorf("events: row %d: type is %q: want create, scale or delete", i+1, e.Type)
		case e.Timestamp.IsZero():
			return nil, fmt.Errorf("events: row %d: there is no timestamp", i+1)
		case e.Type == "create" && e.Kind == workload.Deployment && e.Deployment != nil:
			c.template, c.pods = &e.Deployment.Spec.Template, e.Deployment.Spec.Replicas
		case e.Type == "create" && e.Kind == workload.Job && e.Job != nil:
			c.template = &e.Job.Spec.Template
			c.pods, c.runs = jobPods(e.Job, e.Key, n), sleeps(&e.Job.Spec.Template.Spec)
		case e.Type == "create":
			return nil, fmt.Errorf("events: row %d: it creates a %q without one: want a Deployment or a Job", i+1, e.Kind)
		}
		all = append(all, c)
	}
	return all, nil
}

// jobPods is how many pods a Job needs.
func jobPods(job *batchv1.Job, key string, n *notes) *int32 {
	at, all := job.Spec.Parallelism, job.Spec.Completions
	switch {
	case all == nil:
		return at
	case at == nil || *at != *all:
		n.add("does not have all of its pods at a time, as it has here", key)
	}
	return all
}

var sleep = regexp.MustCompile(`^sleep ([0-9]{1,6})$`)

// sleeps is how long a container that only sleeps runs, which is how kubereplay's own examples say it.
func sleeps(spec *corev1.PodSpec) time.Duration {
	if len(spec.Containers) != 1 {
		return 0
	}
	command := spec.Containers[0].Command
	if len(command) > 2 && command[0] == "sh" && command[1] == "-c" {
		command = command[2:]
	}
	m := sleep.FindStringSubmatch(strings.Join(command, " "))
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1] + "s")
	return d
}
