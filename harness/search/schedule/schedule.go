// Package schedule has schedules of what is done to a world: demand that comes and goes,
// faults, restarts, people who act. A schedule is a file, is drawn from a seed, and prints
// as a feature, which is what is played. What must hold during it is said elsewhere: by the
// invariants of every run, and at the end by what every schedule ends with: all faults
// cleared, every pod runs.
package schedule

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"nodestorm/sim/strict"
)

// Schedule is what is done to one world.
type Schedule struct {
	// Site is the program and its cloud. Required.
	Site string `json:"site"`
	// Seed is what the schedule was drawn from, if it was drawn.
	Seed uint64 `json:"seed"`
	// Profile is the way of life that it was drawn from, see nodestorm explore --help.
	Profile string `json:"profile,omitempty"`
	// Groups are the node groups or NodePools, in the order of their names. Required.
	Groups []Group `json:"groups"`
	// Settings are how the program and its groups are set up where that is not as its build has
	// it: those of the site, by their names, such as --expander.
	Settings map[string]string `json:"settings,omitempty"`
	// Ready is how long a machine of Karpenter's takes to be Ready once it has registered.
	Ready strict.Duration `json:"ready,omitempty"`
	// Intolerant has pods tolerate no Node that is not ready, for no time.
	Intolerant bool `json:"intolerant,omitempty"`
	// Before is how many releases before the target the one is that runs in its place until an act upgrades it, 1 or 2; zero: it is
	// the target that runs.
	Before int `json:"before,omitempty"`
	// Acts come one after the other. Required.
	Acts []Act `json:"acts"`
	// Rest is how long nothing is done at the end, after all faults were cleared and every pod ran: the time that invariants
	// need to see what is left behind. Required.
	Rest strict.Duration `json:"rest"`
}

// Group is a node group, or a NodePool that launches machines of one type.
type Group struct {
	Name string `json:"name"`          // Name is that of the group. Required.
	Type string `json:"type"`          // Type is that of its machines. Required.
	Min  int    `json:"min,omitempty"` // Min is the least number of machines of a node group.
	Max  int    `json:"max,omitempty"` // Max is the most machines of a node group.
}

// Act is one thing that is done.
type Act struct {
	// After is how long nothing is done before it.
	After strict.Duration `json:"after,omitempty"`
	// Do says what is done. Required.
	Do string `json:"do"`
	// Name is of what is brought or changed: an object, a group or a program.
	Name string `json:"name,omitempty"`
	Pods int    `json:"pods,omitempty"` // Pods is how many pods there are to be.
	CPU  int    `json:"cpu,omitempty"`  // CPU is what each pod requests, in millicores.
	// Spread keeps pods apart: over zones or over nodes.
	Spread string `json:"spread,omitempty"`
	// Priority is of a Deployment's pods; those of a higher one may take the place of others.
	Priority int `json:"priority,omitempty"`
	// Held says that the program may not evict a Deployment's pods.
	Held bool `json:"held,omitempty"`
	// Which is the newest or the oldest, of Nodes and pods.
	Which string `json:"which,omitempty"`
	// Fault is a fault in the words of a feature.
	Fault string `json:"fault,omitempty"`
	// For is how long a fault acts, zero: until all are cleared; how long a Job's pods run; and
	// how long a Deployment's take to stop.
	For strict.Duration `json:"for,omitempty"`
}

// What a file may have at most: it can come from anybody.
const (
	mostActs = 1000
	mostPods = 1000
	// mostPriority is far below that of the system's own.
	mostPriority = 1_000_000
	mostBytes    = 1 << 20
	mostTime     = strict.Duration(24 * time.Hour)
)

// Read reads a schedule.
func Read(text []byte) (s Schedule, err error) {
	if len(text) > mostBytes {
		return s, fmt.Errorf("it has %d bytes, and at most %d are read", len(text), mostBytes)
	}
	if err := strict.Unmarshal(text, &s); err != nil {
		return s, err
	}
	return s, s.Check()
}

// Load reads a schedule's file.
func Load(path string) (Schedule, error) {
	text, err := strict.ReadFile(path, mostBytes)
	if err != nil {
		return Schedule{}, strict.WithHint(err, "name a schedule, such as explore writes (nodestorm explain schedule)")
	}
	s, err := Read(text)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// YAML is the schedule as a file has it.
func (s Schedule) YAML() []byte {
	text, err := yaml.Marshal(s)
	if err != nil {
		panic(err) // it has nothing that YAML could not have
	}
	return text
}

// Check finds what is wrong with a schedule, in one line.
func (s Schedule) Check() error {
	site, err := siteOf(s.Site)
	if err != nil {
		return err
	}
	if len(s.Groups) == 0 {
		return errors.New("groups: there is none")
	}
	var names []string
	for _, g := range s.Groups {
		if err := site.checkGroup(g); err != nil {
			return fmt.Errorf("group %q: %w", g.Name, err)
		}
		if slices.Contains(names, g.Name) {
			return fmt.Errorf("group %q is there twice", g.Name)
		}
		names = append(names, g.Name)
	}
	if err := site.checkSettings(s); err != nil {
		return err
	}
	if len(s.Acts) == 0 || len(s.Acts) > mostActs {
		return fmt.Errorf("acts: there are %d: want 1 to %d", len(s.Acts), mostActs)
	}
	if s.Rest < 0 || s.Rest > mostTime {
		return fmt.Errorf("rest: %s: want zero or more, and at most %s", s.Rest.Short(), mostTime.Short())
	}
	if s.Before < 0 || s.Before > MostBefore || s.Before > 0 && !site.upgrades {
		return fmt.Errorf("before: %d: want 0 to %d, and 0 on a site whose program cannot be upgraded", s.Before, MostBefore)
	}
	known := state{older: s.Before > 0, groups: s.Groups, parts: site.programs(), removed: map[string]bool{}, paused: map[string]bool{},
		faults: map[string]bool{}, there: map[string]string{}}
	for i, a := range s.Acts {
		if err := a.check(site, &known); err != nil {
			return fmt.Errorf("act %d, %s: %w", i+1, a.Do, err)
		}
	}
	if !slices.ContainsFunc(s.Acts, func(a Act) bool { return a.demands(s) }) {
		return errors.New("acts: none brings a pod, and nothing would be put to the test")
	}
	return nil
}

// demands reports whether there is a pod because of it.
func (a Act) demands(s Schedule) bool {
	switch a.Do {
	case "deploy", "job":
		return a.Pods > 0
	case "scale":
		return a.Pods > 0 && s.kindOf(a.Name) == "Deployment"
	}
	return false
}

// kindOf is the kind of object that an act has brought under that name.
func (s Schedule) kindOf(name string) string {
	for _, a := range s.Acts {
		if kind := brings[a.Do]; kind != "" && a.Name == name {
			return kind
		}
	}
	return ""
}

// group is the one of that name; the schedule was checked, so that there is one.
func (s Schedule) group(name string) Group {
	return s.Groups[slices.IndexFunc(s.Groups, func(g Group) bool { return g.Name == name })]
}

// Length is how long the acts take at least, and the rest.
func (s Schedule) Length() (d time.Duration) {
	for _, a := range s.Acts {
		d += time.Duration(a.After)
	}
	return d + time.Duration(s.Rest)
}

// clone shares nothing with the schedule.
func (s Schedule) clone() Schedule {
	s.Groups, s.Acts, s.Settings = slices.Clone(s.Groups), slices.Clone(s.Acts), maps.Clone(s.Settings)
	return s
}
