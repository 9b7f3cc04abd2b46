package sentences

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"nodestorm/sim/history"
)

// newest and oldest stand for the names of objects that a program gave, in the order in
// which they came: of Nodes that the target brought, and of pods.
const (
	newest = "$newest"
	oldest = "$oldest"
)

// noneError says that there is no newest or oldest object.
type noneError struct{ kind, which string }

func (e *noneError) Error() string {
	return fmt.Sprintf("%s/%s: there is none; of Nodes those count that have come since the target runs", e.kind, e.which)
}

// nobody tells whether doing something to an object of a scenario that was drawn came to
// nothing because there is no newest or oldest one, or none any more.
func (s *scenario) nobody(ref string, err error) bool {
	_, name, _ := strings.Cut(ref, "/")
	return s.drawn && (name == newest || name == oldest) && (errors.As(err, new(*noneError)) || apierrors.IsNotFound(err))
}

// aged is the name that newest or oldest stands for, or the name itself. target is whose
// Nodes count: those that came since it first did anything.
func aged(records []history.Record, target, kind, which string) (string, error) {
	if which != newest && which != oldest {
		return which, nil
	}
	came := map[string]uint64{}
	switch strings.ToLower(kind) {
	case "node", "nodes", "no":
		all, since := nodes{}, uint64(0)
		for _, r := range records {
			all.take(r)
			if since == 0 && r.Actor == target {
				since = r.Seq
			}
		}
		for name, n := range all {
			if !n.gone && since > 0 && n.created > since {
				came[name] = n.created
			}
		}
	case "pod", "pods", "po":
		all := everyPod()
		for _, r := range records {
			all.take(r)
		}
		for name, p := range all.all {
			came[name] = p.created
		}
	default:
		return "", fmt.Errorf("%s/%s: only Nodes and pods are told apart by their age", kind, which)
	}
	found := ""
	for name, seq := range came {
		if found == "" || (seq > came[found]) == (which == newest) {
			found = name
		}
	}
	if found == "" {
		return "", &noneError{kind, which}
	}
	return found, nil
}

// podsCome is how long controllers need at most until the first pods are there of what was
// created or scaled: two calls, and the retry of one.
const podsCome = 5 * time.Second

// everyPodRuns holds at a moment at which every pod that is there runs, once those are there that
// the step before has asked for.
func (*scenario) everyPodRuns(d string) (observation, error) {
	pods := everyPod()
	o, err := eventually(d, pods, func() error {
		if !pods.ever {
			return errors.New("there has never been a pod, but for those of DaemonSets")
		}
		waiting := pods.waiting()
		if len(waiting) == 0 {
			return nil
		}
		return fmt.Errorf("%d of %d pods do not run, such as %s", len(waiting), len(pods.all), waiting[0])
	})
	o.settle = min(podsCome, o.window)
	return o, err
}
