package nemesis

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
	write := func(role string, steps ...step) {
		for _, st := range steps {
			word := role
			if role == keyword {
				word = "And"
			}
			keyword = role
			fmt.Fprintf(&b, "    %s %s\n", word, st.text)
			if st.quote == "" {
				continue
			}
			if strings.HasPrefix(st.quote, "|") {
				for line := range strings.Lines(st.quote) {
					b.WriteString("      " + line)
				}
				continue
			}
			b.WriteString("      \"\"\"\n")
			for line := range strings.Lines(st.quote) {
				b.WriteString("      " + line)
			}
			b.WriteString("      \"\"\"\n")
		}
	}
	write("Given", site.given(s)...)
	everyPodRuns := func(within string) {
		write("Then", plain("every pod is Running within %s", within)...)
	}
	began, demand := false, false // with something other than demand; there is a pod
	for _, a := range s.Acts {
		if !began && a.Do != "deploy" && demand {
			everyPodRuns(steady) // the steady state
			began = true
		}
		demand = demand || a.demands(s)
		if a.After > 0 {
			write("When", plain("%s pass", a.After)...)
		}
		write("When", kinds[a.Do].says(site, s, a)...)
	}
	for _, a := range s.Acts {
		if a.Do == "pause" {
			write("When", site.goesOn(s.group(a.Name))...)
		}
	}
	if slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == "fault" }) {
		write("When", plain("all faults are cleared")...)
	}
	everyPodRuns(converge)
	if s.Rest > 0 {
		write("When", plain("%s pass", s.Rest)...)
		everyPodRuns(steady)
	}
	return b.String(), nil
}
