package schedule

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/program"
	"nodestorm/sim/strict"
)

// state is what there is when an act comes.
type state struct {
	groups  []Group
	parts   []string        // programs that can be killed, other than the target
	removed map[string]bool // groups
	paused  map[string]bool
	there   map[string]string // kinds of objects that acts have brought, by their names; empty: it was
	faults  map[string]bool
	// older says that the release before runs, and upgraded that another took its place.
	older, upgraded bool
}

// brings are the kinds of the objects that acts bring.
var brings = map[string]string{"deploy": "Deployment", "job": "Job", "daemons": "DaemonSet", "static": "NodePool",
	"buffer": "CapacityBuffer"}

// kind is one of the things that can be done.
type kind struct {
	means string
	// of says of which sites; nil: of all.
	of func(site) bool
	// since is the first release of the program of which it is; empty: of all.
	since string
	// upgrades says that it needs an older release that runs first.
	upgrades bool
	// check finds what is wrong with an act, and does it to the state.
	check func(a Act, s *state) error
	// says is the act as steps of a feature.
	says func(at site, s Schedule, a Act) []step
}

// step is one of a feature, with what it quotes.
type step struct{ text, quote string }

func plain(format string, args ...any) []step { return []step{{text: fmt.Sprintf(format, args...)}} }

var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// requireKind makes sure that an object of one of the kinds is there.
func requireKind(a Act, s *state, kinds ...string) error {
	if kind := s.there[a.Name]; !slices.Contains(kinds, kind) {
		return fmt.Errorf("there is no %s %q then", strings.Join(kinds, " or "), a.Name)
	}
	return nil
}

// newObject makes sure that its name is free.
func newObject(a Act, s *state) error {
	taken := slices.ContainsFunc(s.groups, func(g Group) bool { return g.Name == a.Name })
	if _, was := s.there[a.Name]; was || taken || !name.MatchString(a.Name) {
		return fmt.Errorf("name: %q: want one that no other has had, of small letters, digits and dashes", a.Name)
	}
	s.there[a.Name] = brings[a.Do]
	return podsAndCPU(a)
}

// newWorkload makes sure that its name is free, and that its pods request something.
func newWorkload(a Act, s *state) error {
	if a.CPU < 1 || a.CPU > 1_000_000 {
		return fmt.Errorf("cpu: %d: want millicores", a.CPU)
	}
	return newObject(a, s)
}

// mostStop is below the grace that pods are given which take long to stop.
const mostStop = strict.Duration(5 * time.Minute)

// onGroup makes sure that it is there.
func onGroup(a Act, s *state) error {
	if !slices.ContainsFunc(s.groups, func(g Group) bool { return g.Name == a.Name }) {
		return fmt.Errorf("there is no group %q", a.Name)
	}
	// mutant: a group that is gone is still acted on
	if s.removed[a.Name] {
		return fmt.Errorf("the group %q is gone then", a.Name)
	}
	return podsAndCPU(a)
}

func whichOne(a Act, _ *state) error {
	if a.Which != "newest" && a.Which != "oldest" {
		return fmt.Errorf("which: %q: want newest or oldest", a.Which)
	}
	return nil
}

func podsAndCPU(a Act) error {
	if a.Pods < 0 || a.Pods > mostPods {
		return fmt.Errorf("pods: %d: want 0 to %d", a.Pods, mostPods)
	}
	return nil
}

// kinds are all of them.
var kinds = map[string]kind{
	"deploy": {
		means: "create a Deployment of pods that request cpu, spread over zones or nodes or not at all, which may be held, and take their " +
			"time to stop",
		check: func(a Act, s *state) error {
			if err := newWorkload(a, s); err != nil {
				return err
			}
			if !slices.Contains([]string{"", "zones", "nodes"}, a.Spread) {
				return fmt.Errorf("spread: %q: want zones, nodes or nothing", a.Spread)
			}
			if a.Priority < -mostPriority || a.Priority > mostPriority {
				return fmt.Errorf("priority: %d: want one from %d to %d", a.Priority, -mostPriority, mostPriority)
			}
			if a.For > mostStop {
				return fmt.Errorf("for: %s: want at most %s for pods to stop", a.For.Short(), mostStop.Short())
			}
			return nil
		},
		says: func(at site, _ Schedule, a Act) []step {
			return []step{{"these objects are created:", deployment(a, program.Named(at.program).Drawn.Pod)}}
		},
	},
	"job": {
		means: "create a Job of pods that request cpu and run for a time, each once",
		check: func(a Act, s *state) error {
			if a.For == 0 {
				return errors.New("for: how long its pods run is missing")
			}
			return newWorkload(a, s)
		},
		says: func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", job(a)}} },
	},
	"buffer": {
		means: "create a CapacityBuffer: room for so many pods that request cpu",
		of:    func(s site) bool { return s.hasNodePools },
		since: "1.14.0",
		check: newWorkload,
		says:  func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", buffer(a)}} },
	},
	"static": {
		means: "create a NodePool of so many machines of the first group's type, whatever the demand",
		of:    func(s site) bool { return s.hasNodePools },
		since: "1.8.0",
		check: newObject,
		says: func(at site, s Schedule, a Act) []step {
			return []step{{"these objects are created:", s.nodePool(at, Group{Name: a.Name, Type: s.Groups[0].Type},
				fmt.Sprintf("  replicas: %d\n", a.Pods))}}
		},
	},
	"scale": {
		means: "scale a Deployment to so many pods, a CapacityBuffer to room for them, or a NodePool of a fixed size to machines",
		check: func(a Act, s *state) error {
			if err := requireKind(a, s, "Deployment", "CapacityBuffer", "NodePool"); err != nil {
				return err
			}
			return podsAndCPU(a)
		},
		says: func(_ site, s Schedule, a Act) []step {
			kind := s.kindOf(a.Name)
			if kind == "CapacityBuffer" { // it cannot be scaled
				return []step{{fmt.Sprintf(`"%s/%s" is patched with:`, kind, a.Name), fmt.Sprintf("spec: {replicas: %d}\n", a.Pods)}}
			}
			return plain(`"%s/%s" is scaled to %d`, kind, a.Name, a.Pods)
		},
	},
	"delete": {
		means: "delete what an act has brought, but DaemonSets",
		check: func(a Act, s *state) error {
			err := requireKind(a, s, "Deployment", "Job", "CapacityBuffer", "NodePool")
			s.there[a.Name] = ""
			return err
		},
		says: func(_ site, s Schedule, a Act) []step { return plain(`"%s/%s" is deleted`, s.kindOf(a.Name), a.Name) },
	},
	"budget": {
		means: "create a PodDisruptionBudget that lets so many of a Deployment's pods be missing",
		check: func(a Act, s *state) error {
			if err := requireKind(a, s, "Deployment"); err != nil {
				return err
			}
			if s.faults["budget "+a.Name] {
				return fmt.Errorf("%s has one already", a.Name)
			}
			s.faults["budget "+a.Name] = true
			return podsAndCPU(a)
		},
		says: func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", budget(a)}} },
	},
	"restart": {
		means: "kill the program, which is started again at once",
		check: func(Act, *state) error { return nil },
		says:  func(site, Schedule, Act) []step { return plain("the target is killed") },
	},
	"upgrade": {
		means:    "have the target take the place of the older release that runs",
		upgrades: true,
		check: func(_ Act, s *state) error {
			if !s.older {
				return errors.New("no older release runs then: before says how many releases before the target it is")
			}
			s.older, s.upgraded = false, true
			return nil
		},
		says: func(site, Schedule, Act) []step { return plain("the target is upgraded") },
	},
	"roll-back": {
		means:    "have the older release run again",
		upgrades: true,
		check: func(_ Act, s *state) error {
			if !s.upgraded {
				return errors.New("nothing is upgraded then")
			}
			s.older, s.upgraded = true, false
			return nil
		},
		says: func(site, Schedule, Act) []step { return plain("the target is rolled back") },
	},
	"restart-part": {
		means: "kill a program of the control plane, or Cluster API's, which is started again at once",
		check: func(a Act, s *state) error {
			if !slices.Contains(s.parts, a.Name) {
				return fmt.Errorf("name: %q: want one of %s", a.Name, strings.Join(s.parts, ", "))
			}
			return nil
		},
		says: func(_ site, _ Schedule, a Act) []step { return plain(`the program "%s" is killed`, a.Name) },
	},
	"drain": {
		means: "drain a Node that the program brought, for two minutes at most, and leave it cordoned",
		check: whichOne,
		says:  func(_ site, _ Schedule, a Act) []step { return plain(`"Node/$%s" is drained for at most 2m`, a.Which) },
	},
	"cordon": {
		means: "cordon a Node that the program brought",
		check: whichOne,
		says: func(_ site, _ Schedule, a Act) []step {
			return []step{{fmt.Sprintf(`"Node/$%s" is patched with:`, a.Which), "spec: {unschedulable: true}\n"}}
		},
	},
	"hold": {
		means: "mark a Node that the program brought as one to leave alone",
		check: whichOne,
		says: func(at site, _ Schedule, a Act) []step {
			return plain(`"Node/$%s" is annotated "%s"`, a.Which, program.Named(at.program).Drawn.Node)
		},
	},
	"delete-node": {
		means: "delete the Node object of a machine that the program brought",
		check: whichOne,
		says:  func(_ site, _ Schedule, a Act) []step { return plain(`"Node/$%s" is deleted`, a.Which) },
	},
	"delete-pod": {
		means: "delete a pod",
		check: whichOne,
		says:  func(_ site, _ Schedule, a Act) []step { return plain(`"Pod/$%s" is deleted`, a.Which) },
	},
	"daemons": {
		means: "create a DaemonSet, of a pod on each Node that requests cpu",
		check: newWorkload,
		says:  func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", daemons(a)}} },
	},
	"target": {
		means: "set a group's target size by hand",
		of:    func(s site) bool { return s.Target != "" },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return groupSteps(at.Target, s.group(a.Name), a.Pods) },
	},
	"maximum": {
		means: "say how many machines a group may have from now on, whatever it has",
		of:    func(s site) bool { return s.setsMaximum != nil },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return at.setsMaximum(s.group(a.Name), a.Pods) },
	},
	"remove-group": {
		means: "remove a group; its machines stay, and belong to no group",
		of:    func(s site) bool { return s.Remove != "" },
		check: func(a Act, s *state) error {
			err := onGroup(a, s)
			s.removed[a.Name] = true
			return err
		},
		says: func(at site, s Schedule, a Act) []step { return groupSteps(at.Remove, s.group(a.Name), 0) },
	},
	"edit": {
		means: "change a group, so that its machines are to be others",
		of:    func(s site) bool { return s.edits != nil },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return at.edits(s.group(a.Name), a.Pods) },
	},
	"pause": {
		means: "pause a group, until all faults are cleared",
		of:    func(s site) bool { return s.Pause != "" },
		check: func(a Act, s *state) error {
			if s.paused[a.Name] {
				return fmt.Errorf("%s is paused already", a.Name)
			}
			s.paused[a.Name] = true
			return onGroup(a, s)
		},
		says: func(at site, s Schedule, a Act) []step { return groupSteps(at.Pause, s.group(a.Name), 0) },
	},
	"wait": {
		means: "do nothing: for the time before it, such as that before all faults are cleared",
		check: func(a Act, _ *state) error {
			if a.After == 0 {
				return errors.New("after: for how long is missing")
			}
			return nil
		},
		says: func(site, Schedule, Act) []step { return nil },
	},
	"fault": {
		means: "have something fail",
		check: func(a Act, s *state) error {
			switch {
			case a.Fault == "" || strings.ContainsAny(a.Fault, "\n\r"):
				return fmt.Errorf("fault: %q: want a sentence of a feature about a fault", a.Fault)
			case s.faults[a.Fault+a.For.String()]:
				return fmt.Errorf("fault: %q is there twice: give it another time", a.Fault)
			}
			s.faults[a.Fault+a.For.String()] = true
			return nil
		},
		says: func(_ site, _ Schedule, a Act) []step {
			if a.For == 0 {
				return plain("%s", a.Fault)
			}
			return plain("%s, for %s", a.Fault, a.For.Short())
		},
	},
}

// programs are those that can be killed, other than the target.
func (s site) programs() []string {
	return append([]string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}, s.Parts...)
}

// Acts are the names of what can be done.
func Acts() []string { return slices.Sorted(maps.Keys(kinds)) }

func (a Act) check(at site, s *state) error {
	k, known := kinds[a.Do]
	if !known {
		return fmt.Errorf("do: unknown act %q%s; want one of %s", a.Do, strict.Meant(a.Do, Acts()), strings.Join(Acts(), ", "))
	}
	if k.of != nil && !k.of(at) {
		return fmt.Errorf("it cannot be done on %s", at.name)
	}
	if min(a.After, a.For) < 0 || max(a.After, a.For) > mostTime {
		return fmt.Errorf("want zero or more, and at most %s, before it and for it", mostTime.Short())
	}
	return k.check(a, s)
}
