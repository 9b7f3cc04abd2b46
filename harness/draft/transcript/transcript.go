// Package transcript writes what a user does in a world that stays as a feature that
// does it again: the calls of one identity, from the API server's audit log, and the
// faults that they arm, at their times. It judges nothing, and knows no world.
package transcript

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// What a feature may have, for catalogues to take it.
const (
	mostActions = 4000
	mostBytes   = 900 << 10
)

// together is how far apart objects may be created that one step creates, in virtual
// time: one command creates them one after the other.
const together = time.Second

// Transcript is one that grows. Its methods are safe for concurrent use.
type Transcript struct {
	mu      sync.Mutex
	head    string // the feature with its Givens
	began   time.Time
	actions []action
	size    int
	full    bool
	objects objects
	nodes   []nodeState
}

// nodeState is a node that is called the same in every world, and whether it is Ready.
type nodeState struct {
	name  string
	ready bool
}

// action is something that a user did, or a comment in its place.
type action struct {
	at     time.Time
	step   string
	quoted string
	join   bool // with the one before, if that says the same a moment before
	note   string
}

// New begins a transcript with a feature whose only scenario has Givens and no more.
func New(feature string) *Transcript {
	return &Transcript{head: strings.TrimRight(feature, "\n") + "\n", size: len(feature), objects: newObjects()}
}

// Begin says that the Givens are done, and when.
func (t *Transcript) Begin(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = at
}

// Begun reports whether there is anything to write.
func (t *Transcript) Begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.began.IsZero()
}

// Len is how many things the user has done so far.
func (t *Transcript) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.actions)
}

// AddStep adds a step that is not a call, and what it quotes.
func (t *Transcript) AddStep(at time.Time, step, quoted string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(action{at: at, step: step, quoted: quoted})
}

// Fault adds a fault that was armed: a sentence, or what "these faults:" quotes. Of the
// node that it names, a controller may have made up the name.
func (t *Transcript) Fault(at time.Time, sentence, quoted string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := action{at: at, step: sentence, quoted: quoted}
	for node, by := range t.objects.made {
		switch named := fmt.Sprintf("%q", node.Name); {
		case node.Resource != "nodes":
		case strings.Contains(a.step, "the simulated node "+named):
			a.step = strings.Replace(a.step, named, `"$name"`, 1) + by.waitForCreation()
		case strings.Contains(quoted, node.Name):
			a.note = fmt.Sprintf("%s has made up the name %s: it will be another one, and the fault finds no node.", by.actor, node.Name)
		}
	}
	t.add(a)
}

// Call takes a call to the API server: its line of the audit log, and the event of it.
// Calls of others say what they have made up names for.
func (t *Transcript) Call(line []byte, event history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	call, is := userCall(line)
	t.objects.see(event, is)
	if !is {
		return
	}
	if a := t.objects.action(call, event); a != (action{}) {
		a.at = event.At
		t.add(a)
	}
}

func (t *Transcript) add(a action) {
	if t.full {
		return
	}
	t.size += len(a.step) + len(a.note) + len(indented(a.quoted)) + 100
	if len(t.actions) == mostActions || t.size > mostBytes {
		t.full = true
		a = action{at: a.at, note: "What came after this is left out: it was too much for one feature."}
	}
	t.actions = append(t.actions, a)
}

// Nodes takes the events so far, for what is so at the end.
func (t *Transcript) Nodes(events []history.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes = nil
	for _, r := range events {
		if r.Object.Resource != "nodes" || r.Code >= 400 {
			continue
		}
		i := slices.IndexFunc(t.nodes, func(n nodeState) bool { return n.name == r.Object.Name })
		switch {
		case i < 0 && r.Source == history.API && r.Verb == "create" && r.Actor == node.Actor:
			t.nodes = append(t.nodes, nodeState{name: r.Object.Name})
		case i >= 0 && r.Source == history.API && r.Verb == "delete":
			t.nodes = slices.Delete(t.nodes, i, i+1)
		case i >= 0 && r.Source == history.Node && (r.Verb == "ready" || r.Verb == "notready"):
			t.nodes[i].ready = r.Verb == "ready"
		}
	}
}

// Feature is the feature so far, which ends at a time.
func (t *Transcript) Feature(until time.Time) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	actions := slices.Clone(t.actions)
	slices.SortStableFunc(actions, func(a, b action) int { return a.at.Compare(b.at) })
	w := writer{keyword: "When"}
	w.WriteString(t.head)
	now := t.began
	pass := func(to time.Time) {
		if d := to.Sub(now).Round(100 * time.Millisecond); d > 0 && !now.IsZero() {
			w.step("the scenario waits for "+d.String(), "")
			now = to
		}
	}
	for i := 0; i < len(actions); i++ {
		a := actions[i]
		if a.step == "" {
			w.addNote(a.note)
			continue
		}
		quoted, last := a.quoted, a.at
		for a.join && i+1 < len(actions) && actions[i+1].join && actions[i+1].step == a.step && actions[i+1].note == "" &&
			actions[i+1].at.Sub(last) < together {
			i++
			quoted, last = quoted+"---\n"+actions[i].quoted, actions[i].at
		}
		pass(a.at)
		if a.note != "" {
			w.addNote(a.note)
		}
		w.step(a.step, quoted)
		now = last
	}
	pass(until)
	w.WriteString(ending)
	w.keyword = "Then"
	for _, n := range t.nodes {
		if n.ready {
			w.addNote("What was so at the end, for this feature to have a Then:")
			w.step(fmt.Sprintf("the Node %q is Ready within 5m", n.name), "")
			break
		}
	}
	return []byte(w.String())
}

// ending is where the reader goes on.
const ending = `    # What ought to hold, for the failure to be a failed Then; "nodestorm sentences" prints
    # all that a step can say. To start from:
    # Then the pod "web" is Running within 5m
    # And 5m from now, exactly 1 NodeClaim has been created since the start
`

// writer writes steps.
type writer struct {
	strings.Builder
	keyword string // of the next
}

func (w *writer) addNote(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "    # %s\n", line)
	}
}

func (w *writer) step(text, quoted string) {
	fmt.Fprintf(w, "    %s %s\n%s", w.keyword, text, indented(quoted))
	w.keyword = "And"
}

// indented is text as a step quotes it; nothing for none.
func indented(text string) string {
	if text == "" {
		return ""
	}
	const indent = "      "
	var b strings.Builder
	b.WriteString(indent + "\"\"\"\n")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line != "" {
			line = indent + strings.ReplaceAll(line, `"""`, `\"\"\"`)
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(indent + "\"\"\"\n")
	return b.String()
}

// Givens is a scenario's steps up to the first When, as a feature has them.
func Givens(steps []*messages.PickleStep) string {
	w := writer{keyword: "Given"}
	for _, step := range steps {
		if step.Type != messages.PickleStepType_CONTEXT {
			break
		}
		quoted := ""
		if step.Argument != nil && step.Argument.DocString != nil {
			quoted = step.Argument.DocString.Content
		}
		w.step(step.Text, quoted)
		if step.Argument == nil || step.Argument.DataTable == nil {
			continue
		}
		for _, row := range step.Argument.DataTable.Rows {
			w.WriteString("      |")
			for _, cell := range row.Cells {
				w.WriteString(" " + strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", `\n`).Replace(cell.Value) + " |")
			}
			w.WriteString("\n")
		}
	}
	return w.String()
}

// GivenStep is a step that is one of them, with what it quotes below.
func GivenStep(text, quoted string) *messages.PickleStep {
	step := &messages.PickleStep{Type: messages.PickleStepType_CONTEXT, Text: text}
	if quoted != "" {
		step.Argument = &messages.PickleStepArgument{DocString: &messages.PickleDocString{Content: quoted}}
	}
	return step
}
