package draft

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/harness/draft/shapes"
	"nodestorm/reports/redact"
)

// shaping are flags of Cluster Autoscaler that shape what it decides, with the values that
// they have by default (FAQ of Cluster Autoscaler). Logs print all flags, set or
// not.
var shaping = map[string]string{
	"balance-similar-node-groups": "false", "cordon-node-before-terminating": "false", "cores-total": "0:320000",
	"daemonset-eviction-for-empty-nodes": "false", "daemonset-eviction-for-occupied-nodes": "true",
	"enforce-node-group-min-size": "false", "expander": "random", "expendable-pods-priority-cutoff": "-10",
	"force-ds": "false", "ignore-daemonsets-utilization": "false", "ignore-mirror-pods-utilization": "false",
	"initial-node-group-backoff-duration": "5m0s", "max-drain-parallelism": "1", "max-empty-bulk-delete": "10",
	"max-graceful-termination-sec": "600", "max-inactivity": "10m0s", "max-node-group-backoff-duration": "30m0s",
	"max-node-provision-time": "15m0s", "max-nodes-per-scaleup": "1000", "max-nodes-total": "0",
	"max-pod-eviction-time": "2m0s", "max-scale-down-parallelism": "10", "max-total-unready-percentage": "45",
	"memory-total": "0:6400000", "min-replica-count": "0", "new-pod-scale-up-delay": "0s",
	"node-deletion-batcher-interval": "0s", "node-deletion-delay-timeout": "2m0s",
	"node-group-backoff-reset-timeout": "3h0m0s", "ok-total-unready-count": "3", "scale-down-candidates-pool-min-count": "50",
	"scale-down-candidates-pool-ratio": "0.1", "scale-down-delay-after-add": "10m0s", "scale-down-delay-after-delete": "0s",
	"scale-down-delay-after-failure": "3m0s", "scale-down-enabled": "true", "scale-down-non-empty-candidates-count": "30",
	"scale-down-unneeded-time": "10m0s", "scale-down-unready-enabled": "true", "scale-down-unready-time": "20m0s",
	"scale-down-utilization-threshold": "0.5", "scale-up-from-zero": "true", "scan-interval": "10s",
	"skip-nodes-with-custom-controller-pods": "true", "skip-nodes-with-local-storage": "true",
	"skip-nodes-with-system-pods": "true", "unremovable-node-recheck-timeout": "5m0s",
}

// expanders are those that need nothing but the flag.
var expanders = []string{"random", "most-pods", "least-waste", "least-nodes"}

// atDefault reports whether a value is the one that a flag has if it is not given, however it is written.
func atDefault(name, value string) bool {
	standard := shaping[name]
	if value == standard {
		return true
	}
	if a, err := time.ParseDuration(standard); err == nil {
		b, err := time.ParseDuration(value)
		return err == nil && a == b
	}
	a, wrong := strconv.ParseFloat(standard, 64)
	b, err := strconv.ParseFloat(value, 64)
	return wrong == nil && err == nil && a == b
}

// settings are what is known of flags.
type settings struct {
	given    []flag   // those that a world can be given
	standard []string // names of those that were given with their defaults
	others   []string // names of those that say where the autoscaler is, which the world's own are in place of
}

func (c *Cluster) settings() (s settings) {
	for _, f := range c.flags {
		_, decides := shaping[f.name]
		good := decides && !redact.SecretName(f.name) && !strings.ContainsAny(f.value, "\n\r\t|\\") && len(f.value) <= 100 && f.value != ""
		if f.name == "expander" && !slices.Contains(expanders, f.value) {
			good = false
		}
		switch {
		// mutant: a flag at its default is in a draft
		case good && atDefault(f.name, f.value):
			if !slices.Contains(s.standard, f.name) {
				s.standard = append(s.standard, f.name)
			}
		case good:
			s.given = append(s.given, f)
		case !slices.Contains(s.others, f.name) && shapes.LabelKey.MatchString(f.name):
			s.others = append(s.others, f.name)
		}
	}
	slices.Sort(s.standard)
	slices.Sort(s.others)
	return s
}

// comments say which flags a draft leaves out, and why.
func (s settings) comments(printed bool) (all []string) {
	if len(s.others) > 0 {
		all = append(all, "Left out, as the world sets them or they shape no decision: "+strings.Join(s.others, ", "))
	}
	switch {
	case printed:
		all = append(all, "As far as the log has flags, those that shape decisions and are not here were at their defaults.")
	case len(s.standard) > 0:
		all = append(all, "Left out, as they were at their defaults: "+strings.Join(s.standard, ", "))
	case len(s.given)+len(s.others) == 0:
		all = append(all, "Its flags are not in the sources.")
	}
	return all
}

// Shapes reports whether an argument is a flag of Cluster Autoscaler that drafts go by.
func Shapes(argument string) bool {
	name := strings.TrimLeft(argument, "-")
	_, decides := shaping[name]
	return decides || name == "nodes" || name == "cloud-provider"
}
