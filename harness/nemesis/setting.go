package nemesis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/checker/strict"
	"nodestorm/sim/seed"
)

// oftenSet is one of how many settings is drawn, for each.
const oftenSet = 4

// clusterAutoscalerFlags are flags that all its releases have, with what else people set them
// to. Only some of its clouds tell prices: with the others --expander=price ends it at once.
func clusterAutoscalerFlags(expanders ...string) map[string][]string {
	return map[string][]string{
		"--balance-similar-node-groups":            {"true"},
		"--enforce-node-group-min-size":            {"true"},
		"--expander":                               append([]string{"least-waste", "most-pods", "random"}, expanders...),
		"--cordon-node-before-terminating":         {"true"},
		"--daemonset-eviction-for-empty-nodes":     {"true"},
		"--initial-node-group-backoff-duration":    {"1m"},
		"--max-bulk-soft-taint-count":              {"0"},
		"--max-pod-eviction-time":                  {"30s"},
		"--max-scale-down-parallelism":             {"1"},
		"--max-graceful-termination-sec":           {"60"},
		"--new-pod-scale-up-delay":                 {"20s"},
		"--node-delete-delay-after-taint":          {"30s"},
		"--node-deletion-batcher-interval":         {"30s"},
		"--scale-down-unready-enabled":             {"false"},
		"--scale-down-unready-time":                {"1m"},
		"--scale-down-utilization-threshold":       {"0.9"},
		"--scan-interval":                          {"30s"},
		"--skip-nodes-with-custom-controller-pods": {"false"},
		"--unremovable-node-recheck-timeout":       {"30s"},
	}
}

// Karpenter's settings are variables of its environment, and fields of all its NodePools.
var karpenterSettings = map[string][]string{
	"BATCH_IDLE_DURATION": {"15s"},
	"BATCH_MAX_DURATION":  {"30s", "3m"},
	featureGates:          {"NodeRepair=true", "SpotToSpotConsolidation=true"},

	"budget":                 {"0", "1", "100%"},
	"consolidateAfter":       {"30s", "5m", "Never"},
	"consolidationPolicy":    {"WhenEmpty"},
	"expireAfter":            {"15m"},
	"terminationGracePeriod": {"0s", "1m"},
}

const featureGates = "FEATURE_GATES"

// nodePoolFields are the settings that are fields of NodePools, with what they are of, as YAML.
var nodePoolFields = map[string]struct{ of, yaml string }{
	"budget":                 {"disruption", `budgets: [{nodes: "%s"}]`},
	"consolidateAfter":       {"disruption", "consolidateAfter: %s"},
	"consolidationPolicy":    {"disruption", "consolidationPolicy: %s"},
	"expireAfter":            {"template", "expireAfter: %s"},
	"terminationGracePeriod": {"template", "terminationGracePeriod: %s"},
}

// fieldsOf are the fields of its NodePools that are set of that.
func (s Schedule) fieldsOf(that string) (fields []string) {
	for _, name := range slices.Sorted(maps.Keys(nodePoolFields)) {
		if f := nodePoolFields[name]; f.of == that && s.Settings[name] != "" {
			fields = append(fields, fmt.Sprintf(f.yaml, s.Settings[name]))
		}
	}
	return fields
}

// variables are the lines of a table of them, with the gates of what acts bring.
func (s Schedule) variables() string {
	s = s.clone()
	gates := []string{}
	if set := s.Settings[featureGates]; set != "" {
		gates = append(gates, set)
	}
	for _, gate := range [][2]string{{"buffer", "CapacityBuffer=true"}, {"static", "StaticCapacity=true"}} {
		if slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == gate[0] }) {
			gates = append(gates, gate[1])
		}
	}
	if len(gates) > 0 {
		if s.Settings == nil {
			s.Settings = map[string]string{}
		}
		s.Settings[featureGates] = strings.Join(gates, ",")
	}
	return s.settingsOf(isVariable)
}

// bootTimes are how long machines take to be Ready once they have registered.
var bootTimes = []Duration{Duration(5 * time.Second), Duration(5 * time.Second), Duration(time.Minute), Duration(150 * time.Second)}

// settingsOf are the lines of a table of those whose names begin like this.
func (s Schedule) settingsOf(prefix func(name string) bool) (table string) {
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		if prefix(name) {
			table += fmt.Sprintf("| %s | %s |\n", name, s.Settings[name])
		}
	}
	return table
}

func isVariable(name string) bool { return name == strings.ToUpper(name) }

// checkSettings finds what is wrong with how things are set up.
func (s site) checkSettings(of Schedule) error {
	for name, value := range of.Settings {
		if _, known := s.settings[name]; !known {
			all := slices.Sorted(maps.Keys(s.settings))
			return fmt.Errorf("settings: %q is none of %s%s (there are %s)", name, s.name, strict.Meant(name, all), strings.Join(all, ", "))
		}
		if value == "" || strings.ContainsAny(value, "|\n\r\\\"{}") {
			return fmt.Errorf("settings: %s: %q is no value", name, value)
		}
	}
	if s.program != "karpenter" && of.Ready != 0 {
		return fmt.Errorf("ready: it cannot be said on %s", s.name)
	}
	if of.Ready > mostTime {
		return fmt.Errorf("ready: %s: want at most %s", of.Ready, mostTime)
	}
	return nil
}

// settings draws how things are set up: mostly as they are by default.
func (p *pen) settings(from uint64) {
	random := seed.Stream(from, "settings", p.drawing.Site, p.drawing.Profile)
	for _, name := range slices.Sorted(maps.Keys(p.at.settings)) {
		values := p.at.settings[name]
		if value := values[random.IntN(len(values))]; random.IntN(oftenSet) == 0 {
			if p.s.Settings == nil {
				p.s.Settings = map[string]string{}
			}
			p.s.Settings[name] = value
		}
	}
	if ready := bootTimes[random.IntN(len(bootTimes))]; p.at.program == "karpenter" {
		p.s.Ready = ready
	}
	p.s.Intolerant = random.IntN(4) == 0
	if p.at.groupsHaveBounds && random.IntN(4) == 0 {
		p.s.Groups[random.IntN(len(p.s.Groups))].Min = 1
	}
}
