package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// How long the world may take, in virtual time: the longest that programs wait for a
// machine that never comes, twice.
const (
	steady   = "20m"
	converge = "40m"
)

// Feature is the schedule as it is played, its scenario with these tags. Its last act before
// the faults are cleared is as far from the end as the program needs.
func (s Schedule) Feature(tags ...string) (string, error) {
	if err := s.Check(); err != nil {
		return "", err
	}
	site, err := siteOf(s.Site)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	from := "written by hand"
	if s.Profile != "" {
		from = fmt.Sprintf("drawn from the seed %d and the profile %s", s.Seed, s.Profile)
	}
	fmt.Fprintf(&b, "@%s\nFeature: A schedule for %s, %s\n\n", site.program, s.Site, from)
	for _, tag := range tags {
		fmt.Fprintf(&b, "  @%s\n", tag)
	}
	b.WriteString("  Scenario: What is done, then nothing is wrong any more, and every pod runs\n")
	keyword := ""
	for _, l := range s.lines(site) {
		word := l.role
		if l.role == keyword {
			word = "And"
		}
		keyword = l.role
		fmt.Fprintf(&b, "    %s %s\n", word, l.text)
		if l.quote == "" {
			continue
		}
		if strings.HasPrefix(l.quote, "|") {
			for text := range strings.Lines(l.quote) {
				b.WriteString("      " + text)
			}
			continue
		}
		b.WriteString("      \"\"\"\n")
		for text := range strings.Lines(l.quote) {
			b.WriteString("      " + text)
		}
		b.WriteString("      \"\"\"\n")
	}
	return b.String(), nil
}

// olderRelease are the steps by which an older release runs first, by how many releases before the target it is.
var olderRelease = [MostBefore + 1]string{
	1: "the release before the target runs in its place until it is upgraded",
	2: "the second release before the target runs in its place until it is upgraded",
}

// line is a step of the scenario in its role.
type line struct {
	role string
	step
	begun int // acts, with the one that it is a part of
}

// lines are the steps of the scenario, in order.
func (s Schedule) lines(at site) (all []line) {
	begun := 0
	write := func(role string, steps ...step) {
		for _, st := range steps {
			all = append(all, line{role, st, begun})
		}
	}
	given := at.given(at, s) // a cluster is the first
	if s.Before > 0 {
		given = slices.Insert(given, 1, step{text: olderRelease[s.Before]})
	}
	write("Given", given...)
	everyPodRuns := func(within string) {
		write("Then", plain("every pod is Running within %s", within)...)
	}
	busy, demand := false, false // with something other than demand; there is a pod
	for i, a := range s.Acts {
		if !busy && a.Do != "deploy" && demand {
			everyPodRuns(steady) // the steady state
			busy = true
		}
		demand = demand || a.demands(s)
		if a.After > 0 {
			write("When", plain("the scenario waits for %s", a.After.Short())...)
		}
		begun = i + 1
		write("When", kinds[a.Do].says(at, s, a)...)
	}
	for _, a := range s.Acts {
		if a.Do == "pause" {
			write("When", groupSteps(at.Resume, s.group(a.Name), 0)...)
		}
	}
	if slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == "fault" }) {
		write("When", plain("all faults are cleared")...)
	}
	everyPodRuns(converge)
	if s.Rest > 0 {
		write("When", plain("the scenario waits for %s", s.Rest.Short())...)
		everyPodRuns(steady)
	}
	return all
}

// Begun is how many of the acts have begun when so many steps of the feature have ended.
func (s Schedule) Begun(ended int) (acts int) {
	at, err := siteOf(s.Site)
	if err != nil {
		return 0 // nothing plays there
	}
	for i, l := range s.lines(at) {
		if i > ended {
			break
		}
		acts = l.begun
	}
	return acts
}
