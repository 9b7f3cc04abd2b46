package explore

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/program"
	"nodestorm/harness/search/schedule"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
)

// Draft is what is known of a failure that a schedule shows: enough to write a record of it.
type Draft struct {
	// ID is the record's, and the tag of its scenario.
	ID string
	// Key is what breaks: the name of an invariant, or Liveness.
	Key      string
	Schedule schedule.Schedule
	// Evidence are the records that show it in one run.
	Evidence []history.Entry
	// Faults says that a fault took effect in that run.
	Faults bool
	// On are the builds that it was played on.
	On []BuildResult
}

// BuildResult is what a build has shown.
type BuildResult struct {
	Target string `json:"target"`
	// Shown of Decided plays broke it; those that were inconclusive count in neither.
	Shown   int `json:"shown"`
	Decided int `json:"decided"`
}

// Expectation is what may be expected of the build: nothing if it was this way and that.
func (o BuildResult) Expectation() scenarios.Expectation {
	switch {
	case o.Decided == 0:
		return ""
	case o.Shown*10 >= o.Decided*8:
		return scenarios.Reproduced
	case o.Shown == 0:
		return scenarios.Healthy
	}
	return ""
}

// DraftID is the ID of a failure that a schedule's file shows.
func DraftID(site, key, name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(systemOf(site)+"-"+key+"-"+name))
}

// systemOf is the system of the records of a site: its cloud, unless that is one of a program's that is a system itself.
func systemOf(site string) string {
	of, cloud, _ := strings.Cut(site, "/")
	if slices.Contains(scenarios.Systems, cloud) {
		return cloud
	}
	return of
}

// Title says in a sentence what is wrong: of a program that died, how it did.
func (d Draft) Title() string {
	for _, r := range d.Evidence {
		if said, function := death(r); function != "" {
			return said + ", in " + function
		} else if said != "" {
			return said
		}
	}
	for _, i := range invariants.All() {
		if i.Name == d.Key {
			return "It does not hold that: " + i.Statement
		}
	}
	return "Nothing is wrong any more, and a pod does not run"
}

// running is the innermost function of the goroutine that a Go program died of.
var running = regexp.MustCompile(`goroutine \d+ \[[^\]]*\]:\s+(?:\S+/)?([\w.*()-]+)\(`)

// death is how the program of a record ended, in a line, and the function that it did so in; both
// are empty where it did not, or does not say.
func death(r history.Entry) (said, function string) {
	if r.Source != history.Harness || r.Verb != history.Died {
		return "", ""
	}
	text := r.Detail.Text("error")
	said, _, _ = strings.Cut(text, "\n")
	if found := running.FindStringSubmatch(text); found != nil {
		function = found[1]
	}
	return said, function
}

// Record is a record to go on from, in YAML with comments: what a program cannot know is left
// to be said. Its symptom is what has shown the failure, whatever things are called there.
func (d Draft) Record() string {
	name, cloud, _ := strings.Cut(d.Schedule.Site, "/")
	autoscaler, of := program.Named(name), ""
	if systemOf(d.Schedule.Site) != cloud {
		of = "cloud: " + cloud + "\n"
	}
	trigger := "  statement: A pod is created\n  sequence:\n    - match: {source: api, verb: create, resource: pods}"
	if d.Faults {
		trigger = "  statement: A fault takes effect\n  sequence:\n    - match: {source: fault, verb: effective}"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A draft, of a schedule that was found by a search. What it means is for people to say.\n\nid: %s\ntitle: %q\n"+
		"system: %s\nautoscaler: %s\n%sfeature: %s.feature\n# issue: owner/repository#123\n",
		d.ID, d.Title(), systemOf(d.Schedule.Site), name, of, d.ID)
	b.WriteString("targets:\n")
	for _, on := range d.On {
		if says := on.Expectation(); says != "" {
			fmt.Fprintf(&b, "  - {name: %s, expected: %s} # in %d of %d plays\n", on.Target, says, on.Shown, on.Decided)
			continue
		}
		fmt.Fprintf(&b, "  # %s: in %d of %d plays\n", on.Target, on.Shown, on.Decided)
	}
	fmt.Fprintf(&b, "\nsummary: What users see.\nmechanism: Why it happens, by the program's source.\n\n"+
		"# What made it possible.\ntrigger:\n%s\n\nwork: %s\n\n", trigger, autoscaler.Drawn.Work)
	if d.Key != Liveness {
		fmt.Fprintf(&b, "breaks: [%s]\n\n", d.Key)
	}
	b.WriteString("# The records that showed it, one after the other: leave out what it does not need.\n")
	fmt.Fprintf(&b, "symptom:\n  statement: %q\n  sequence:\n", d.Title())
	b.WriteString(d.symptom())
	return b.String()
}

// mostElements are those of a symptom, the first and the last of the evidence: a sequence of
// many says less than one of few.
const mostElements = 6

func (d Draft) symptom() string {
	if d.Key == Liveness {
		return `    - as: a pod that is to run
      match: {source: api, verb: create, resource: pods}
      capture: {pod: name}
    - as: the end, and it has neither run nor gone
      match: {source: harness, verb: ended}
      absent:
        - {source: node, verb: running, resource: pods, name: $pod}
        - {source: api, verb: delete, resource: pods, name: $pod}
`
	}
	shown := slices.Clone(d.Evidence)
	slices.SortStableFunc(shown, func(a, b history.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(shown) > mostElements {
		shown = append(shown[:1], shown[len(shown)-mostElements+1:]...)
	}
	if len(shown) == 0 {
		return "    # Nothing in the history was named as showing it: say what does.\n    - match: {source: api, verb: create, resource: pods}\n"
	}
	var b strings.Builder
	names, called := map[history.Object]string{}, map[string]int{}
	for n, r := range shown {
		fields := []string{"source: " + string(r.Source), "verb: " + quote(r.Verb)}
		if r.Object.Resource != "" {
			fields = append(fields, "resource: "+quote(r.Object.Resource))
		}
		capture := ""
		switch object := r.Object; {
		case object.Name == "":
		case r.Source == history.Harness: // that names programs
			fields = append(fields, "name: "+quote(object.Name))
		case names[object] != "":
			// mutant: the symptom of a draft is about any objects
			fields = append(fields, "name: $"+names[object])
		case slices.ContainsFunc(shown[n+1:], func(later history.Entry) bool { return later.Object == object }): // else any will do
			names[object] = fmt.Sprintf("name%d", len(names)+1)
			capture = fmt.Sprintf("      capture: {%s: name}\n", names[object])
		}
		if name, _, _ := strings.Cut(d.Schedule.Site, "/"); r.Actor == name {
			fields = append(fields, "actor: "+name)
		}
		if _, function := death(r); function != "" { // any other death is another failure
			// mutant: any death is the failure that was found
			fields = append(fields, fmt.Sprintf("detail: {error: {contains: %s}}", quote(function+"(")))
		}
		if r.Code >= 400 {
			fields = append(fields, fmt.Sprintf("code: %d", r.Code))
		}
		as := strings.TrimSpace(r.Verb + " " + r.Object.Resource)
		if called[as]++; called[as] > 1 {
			as += fmt.Sprintf(" %d", called[as])
		}
		fmt.Fprintf(&b, "    - as: %s\n      match: {%s}\n%s", quote(as), strings.Join(fields, ", "), capture)
	}
	return b.String()
}

// quote makes one word of what a history says, which anybody may have written.
func quote(text string) string { return fmt.Sprintf("%q", text) }

// Versions is a table in Markdown of what builds have shown.
func (d Draft) Versions() string {
	var b strings.Builder
	b.WriteString("| build | shows it |\n|---|---|\n")
	for _, on := range d.On {
		fmt.Fprintf(&b, "| %s | in %d of %d plays |\n", on.Target, on.Shown, on.Decided)
	}
	return b.String()
}
