package nemesis

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"nodestorm/sim/checker/strict"
)

// state is what there is when an act comes.
type state struct {
	groups      []Group
	parts       []string        // programs that can be killed, besides the target
	removed     map[string]bool // groups
	paused      map[string]bool
	deployments map[string]bool // true: it is there, false: it was
	faults      map[string]bool
}

// kind is one of the things that can be done.
type kind struct {
	means string
	// of says of which sites; nil: of all.
	of func(site) bool
	// check finds what is wrong with an act, and does it to the state.
	check func(a Act, s *state) error
	// says is the act as steps of a feature.
	says func(at site, s Schedule, a Act) []step
}

// step is one of a feature, with what it quotes.
type step struct{ text, quote string }

func plain(format string, args ...any) []step { return []step{{text: fmt.Sprintf(format, args...)}} }

var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// onDeployment makes sure that it is there.
func onDeployment(a Act, s *state) error {
	if !s.deployments[a.Name] {
		return fmt.Errorf("there is no Deployment %q then", a.Name)
	}
	return nil
}

// newWorkload makes sure that its name is free, and that its pods request something.
func newWorkload(a Act, s *state) error {
	if _, was := s.deployments[a.Name]; was || !name.MatchString(a.Name) {
		return fmt.Errorf("name: %q: want one that no other has had, of small letters, digits and dashes", a.Name)
	}
	if a.CPU < 1 || a.CPU > 1_000_000 {
		return fmt.Errorf("cpu: %d: want millicores", a.CPU)
	}
	return nil
}

// onGroup makes sure that it is there.
func onGroup(a Act, s *state) error {
	if !slices.ContainsFunc(s.groups, func(g Group) bool { return g.Name == a.Name }) {
		return fmt.Errorf("there is no group %q", a.Name)
	}
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
		means: "create a Deployment of pods that request cpu, spread over zones or nodes or not at all",
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
			s.deployments[a.Name] = true
			return podsAndCPU(a)
		},
		says: func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", deployment(a)}} },
	},
	"scale": {
		means: "scale a Deployment to so many pods",
		check: func(a Act, s *state) error {
			if err := onDeployment(a, s); err != nil {
				return err
			}
			return podsAndCPU(a)
		},
		says: func(_ site, _ Schedule, a Act) []step {
			return plain(`"Deployment/%s" is scaled to %d`, a.Name, a.Pods)
		},
	},
	"delete": {
		means: "delete a Deployment",
		check: func(a Act, s *state) error {
			err := onDeployment(a, s)
			s.deployments[a.Name] = false
			return err
		},
		says: func(_ site, _ Schedule, a Act) []step { return plain(`"Deployment/%s" is deleted`, a.Name) },
	},
	"budget": {
		means: "create a PodDisruptionBudget that lets so many of a Deployment's pods be missing",
		check: func(a Act, s *state) error {
			if err := onDeployment(a, s); err != nil {
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
		check: func(a Act, s *state) error {
			err := newWorkload(a, s)
			s.deployments[a.Name] = false
			return err
		},
		says: func(_ site, _ Schedule, a Act) []step { return []step{{"these objects are created:", daemons(a)}} },
	},
	"target": {
		means: "set a group's target size by hand",
		of:    func(s site) bool { return s.setsTarget != nil },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return at.setsTarget(s.group(a.Name), a.Pods) },
	},
	"maximum": {
		means: "say how many machines a group may have from now on, whatever it has",
		of:    func(s site) bool { return s.setsMaximum != nil },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return at.setsMaximum(s.group(a.Name), a.Pods) },
	},
	"remove-group": {
		means: "take a group away; its machines stay, and are nobody's",
		of:    func(s site) bool { return s.removes != nil },
		check: func(a Act, s *state) error {
			err := onGroup(a, s)
			s.removed[a.Name] = true
			return err
		},
		says: func(at site, s Schedule, a Act) []step { return at.removes(s.group(a.Name)) },
	},
	"edit": {
		means: "change a group, so that its machines are to be others",
		of:    func(s site) bool { return s.edits != nil },
		check: onGroup,
		says:  func(at site, s Schedule, a Act) []step { return at.edits(s.group(a.Name), a.Pods) },
	},
	"pause": {
		means: "pause a group, until all faults are cleared",
		of:    func(s site) bool { return s.pauses != nil },
		check: func(a Act, s *state) error {
			if s.paused[a.Name] {
				return fmt.Errorf("%s is paused already", a.Name)
			}
			s.paused[a.Name] = true
			return onGroup(a, s)
		},
		says: func(at site, s Schedule, a Act) []step { return at.pauses(s.group(a.Name)) },
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
			return plain("%s, for %s", a.Fault, a.For)
		},
	},
}

// programs are those that can be killed, besides the target.
func (s site) programs() []string {
	return append([]string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}, s.more...)
}

func (a Act) check(at site, s *state) error {
	k, known := kinds[a.Do]
	if !known {
		all := slices.Sorted(maps.Keys(kinds))
		return fmt.Errorf("do: %q is no act%s (there are %s)", a.Do, strict.Meant(a.Do, all), strings.Join(all, ", "))
	}
	if k.of != nil && !k.of(at) {
		return fmt.Errorf("it cannot be done on %s", at.name)
	}
	if a.After > mostTime || a.For > mostTime {
		return fmt.Errorf("want at most %s before it, and for it", mostTime)
	}
	return k.check(a, s)
}
