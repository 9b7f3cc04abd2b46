package events

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Said is what a source is, in a sentence.
var Said = map[history.Source]string{
	history.API: "A call that kube-apiserver answered, from its audit log. `code` is the HTTP status; reads are not in a history.\n" +
		"A patch has what it changes: a message or a reason that stays as it was is not in it.",
	history.Cloud:   "What happens in the simulated cloud: states of its machines, and calls, by the cloud's own names.",
	history.Node:    "A node, simulated or with a real kubelet, its pods and its agents.",
	history.Fault:   "The life of a fault: it is armed, it acts, it is over.",
	history.Logged:  "A line of a program's log that means something. Details are of other forms, too: a program logs what it likes.",
	history.Step:    "A step of the feature has ended.",
	history.Harness: "Processes, installers and limits of the run itself.",
	history.Clock:   "How fast virtual time passes, and how late timers were.",
}

// Print writes the events as a list in YAML whose items are patterns, with comments.
func Print(w io.Writer, events []Event) {
	for _, e := range events {
		fmt.Fprintf(w, "# %s %s %s\n", e.Source, e.Verb, e.Subject())
		if names := e.detailNames(); names != "" && len(e.Worlds) > 0 {
			fmt.Fprintf(w, "#   details: %s\n", names)
		}
		if len(e.Worlds) == 0 {
			fmt.Fprintf(w, "#   no stored run has it; details: any of the source %s\n", e.Source)
		} else {
			fmt.Fprintf(w, "#   in: %s\n", strings.Join(e.Worlds, ", "))
		}
		if len(e.Actors) > 0 {
			fmt.Fprintf(w, "#   by: %s\n", strings.Join(e.Actors, ", "))
		}
		fmt.Fprintf(w, "- %s\n", e.Pattern)
	}
}

func (e Event) detailNames() string {
	var names []string
	for _, d := range e.Details {
		names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.Form))
	}
	return strings.Join(names, ", ")
}

const head = `# Events of a history

<!-- written by make reference -->

What patterns in triggers, symptoms, work and statements can ask for. ` + "`nodestorm events WORD`" + ` prints the same.

Each event has a source, a verb, mostly a resource with a name, an actor, and details. Below each source are its details
and its events. An item is a pattern that an event of a stored run matches: copy it and take out what does not matter.
A pattern that no event can match is refused by ` + "`nodestorm lint`" + `.

| form | is | is compared as |
|---|---|---|
| text | any text | as a whole; a part with contains |
| number | a number | by its digits, or with above and below |
| truth | true or false | as true or false |
| mark | true, or missing | true, or {exists: false} |
| list | several texts | with contains and lacks, by whole items |
| mapping | several keys with texts | with a key behind a dot, as in conditions.Ready |
| condition | True, False or Unknown, and mostly a reason | as in "False: KubeletNotReady", or a part with contains |
`

// Page is all events in Markdown.
func Page() []byte {
	var text strings.Builder
	text.WriteString(head)
	for _, source := range history.Sources() {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n| detail | form | of |\n|---|---|---|\n", source, Said[source])
		for _, name := range vocabulary.Details(source) {
			only := "all"
			if source == history.API && vocabulary.OnlyOf(name) != nil {
				only = strings.Join(vocabulary.OnlyOf(name), ", ")
			}
			fmt.Fprintf(&text, "| `%s` | %s | %s |\n", name, vocabulary.FormOf(source, name), only)
		}
		text.WriteString("\n```yaml\n")
		var unseen []string
		for _, e := range All() {
			switch {
			case e.Source != source:
			case len(e.Worlds) == 0:
				unseen = append(unseen, "`"+e.Verb+"`")
			default:
				Print(&text, []Event{e})
			}
		}
		text.WriteString("```\n")
		if unseen = slices.Compact(unseen); len(unseen) > 0 {
			fmt.Fprintf(&text, "\nVerbs that no stored run has:\n\n- %s\n", strings.Join(unseen, "\n- "))
		}
	}
	return []byte(text.String())
}
