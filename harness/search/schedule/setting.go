package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/strict"
	"nodestorm/sim/time/seed"
)

// oftenSet is one of how many settings is drawn, for each.
const oftenSet = 4

// clusterAutoscalerFlags are flags, with what else people set them to. Only some of its clouds
// have prices: with the others --expander=price ends it at once.
func clusterAutoscalerFlags(expanders ...string) map[string][]string {
	return map[string][]string{
		"--balance-similar-node-groups":                        {"true"},
		"--bypassed-scheduler-names":                           {"default-scheduler"},
		"--cordon-node-before-terminating":                     {"true"},
		"--daemonset-eviction-for-empty-nodes":                 {"true"},
		"--dynamic-node-delete-delay-after-taint-enabled":      {"true"},
		"--emit-per-nodegroup-metrics":                         {"true"},
		"--enable-proactive-scaleup":                           {"true"},
		"--enforce-node-group-min-size":                        {"true"},
		"--expander":                                           append([]string{"least-waste", "most-pods", "random"}, expanders...),
		"--fastpath-binpacking-enabled":                        {"true"},
		"--force-delete-failed-nodes":                          {"true"},
		"--force-delete-unregistered-nodes":                    {"true"},
		"--force-ds":                                           {"true"},
		"--frequent-loops-enabled":                             {"true"},
		"--ignore-daemonsets-utilization":                      {"true"},
		"--initial-node-group-backoff-duration":                {"1m"},
		"--max-bulk-soft-taint-count":                          {"0"},
		"--max-drain-parallelism":                              {"3"},
		"--max-graceful-termination-sec":                       {"60"},
		"--max-node-startup-time":                              {"3m"},
		"--max-nodes-per-scaleup":                              {"1"},
		"--max-pod-eviction-time":                              {"30s"},
		"--max-scale-down-parallelism":                         {"1"},
		"--new-pod-scale-up-delay":                             {"20s"},
		"--node-delete-delay-after-taint":                      {"30s"},
		"--node-deletion-batcher-interval":                     {"30s"},
		"--node-deletion-candidate-ttl":                        {"2m"},
		"--node-info-cache-expire-time":                        {"1m"},
		"--node-removal-latency-tracking-enabled":              {"true"},
		"--parallel-scale-up":                                  {"true"},
		"--predicate-parallelism":                              {"1"},
		"--salvo-scale-up":                                     {"true"},
		"--scale-down-delay-after-delete":                      {"1m"},
		"--scale-down-delay-after-failure":                     {"30s"},
		"--scale-down-delay-type-local":                        {"true"},
		"--scale-down-unready-enabled":                         {"false"},
		"--scale-down-unready-time":                            {"1m"},
		"--scale-down-utilization-threshold":                   {"0.9"},
		"--scaleup-simulation-for-skipped-node-groups-enabled": {"true"},
		"--scan-interval":                                      {"30s"},
		"--skip-nodes-with-custom-controller-pods":             {"false"},
		"--unremovable-node-recheck-timeout":                   {"30s"},
	}
}

// settingsSince are the first releases that have a setting, or a value of it. The rest is in
// all releases, or is a flag that is passed over by those that lack it.
var settingsSince = map[string]string{
	"--bypassed-scheduler-names":                           "1.29.0",
	"--dynamic-node-delete-delay-after-taint-enabled":      "1.29.0",
	"--enable-proactive-scaleup":                           "1.31.0",
	"--fastpath-binpacking-enabled":                        "1.36.0",
	"--force-delete-failed-nodes":                          "1.34.0",
	"--force-delete-unregistered-nodes":                    "1.32.0",
	"--frequent-loops-enabled":                             "1.30.0",
	"--max-node-startup-time":                              "1.35.0",
	"--node-deletion-candidate-ttl":                        "1.34.0",
	"--node-removal-latency-tracking-enabled":              "1.35.0",
	"--predicate-parallelism":                              "1.35.0",
	"--salvo-scale-up":                                     "1.36.0",
	"--scale-down-delay-type-local":                        "1.30.0",
	"--scaleup-simulation-for-skipped-node-groups-enabled": "1.36.0",

	"DISABLE_CONTROLLER_WARMUP":              "1.9.0",
	"PREFERENCE_POLICY":                      "1.4.0",
	featureGates + "=NodeOverlay=true":       "1.7.0",
	featureGates + "=NodeRepair=true":        "1.1.0",
	featureGates + "=ReservedCapacity=false": "1.4.0",

	"consolidationPolicy=Balanced": "1.14.0",
}

// Karpenter's settings are variables of its environment, and fields of all its NodePools.
var karpenterSettings = map[string][]string{
	"BATCH_IDLE_DURATION":       {"15s"},
	"BATCH_MAX_DURATION":        {"30s", "3m"},
	"DISABLE_CONTROLLER_WARMUP": {"true"},
	"PREFERENCE_POLICY":         {"Ignore"},
	featureGates:                {"NodeRepair=true", "SpotToSpotConsolidation=true", "NodeOverlay=true", "ReservedCapacity=false"},

	"budget":                 {"0", "1", "100%"},
	"consolidateAfter":       {"30s", "5m", "Never"},
	"consolidationPolicy":    {"WhenEmpty", "Balanced"},
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
var bootTimes = []strict.Duration{strict.Duration(5 * time.Second), strict.Duration(5 * time.Second), strict.Duration(time.Minute),
	strict.Duration(150 * time.Second)}

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
			return fmt.Errorf("settings: unknown setting %q of %s%s; want one of %s", name, s.name, strict.Meant(name, all), strings.Join(all, ", "))
		}
		if value == "" || strings.ContainsAny(value, "|\n\r\\\"{}") {
			return fmt.Errorf("settings: %s: %q is no value", name, value)
		}
	}
	if !s.hasNodePools && of.Ready != 0 {
		return fmt.Errorf("ready: it cannot be said on %s", s.name)
	}
	if of.Ready < 0 || of.Ready > mostTime {
		return fmt.Errorf("ready: %s: want zero or more, and at most %s", of.Ready.Short(), mostTime.Short())
	}
	return nil
}

// valuesOf are those of a setting's values that the release has.
func (d Drawing) valuesOf(name string, all []string) (values []string) {
	if !d.reaches(settingsSince[name]) {
		return nil
	}
	for _, value := range all {
		if d.reaches(settingsSince[name+"="+value]) {
			values = append(values, value)
		}
	}
	return values
}

// settings draws how things are set up: mostly as they are by default.
func (p *pen) settings(from uint64) {
	random := seed.Stream(from, "settings", p.drawing.Site, p.drawing.Profile)
	for _, name := range slices.Sorted(maps.Keys(p.at.settings)) {
		values := p.drawing.valuesOf(name, p.at.settings[name])
		if len(values) == 0 {
			continue
		}
		if value := values[random.IntN(len(values))]; random.IntN(oftenSet) == 0 {
			if p.s.Settings == nil {
				p.s.Settings = map[string]string{}
			}
			p.s.Settings[name] = value
		}
	}
	if ready := bootTimes[random.IntN(len(bootTimes))]; p.at.hasNodePools {
		p.s.Ready = ready
	}
	p.s.Intolerant = random.IntN(4) == 0
	if p.at.groupsHaveBounds && random.IntN(4) == 0 {
		p.s.Groups[random.IntN(len(p.s.Groups))].Min = 1
	}
}
