package stepdef

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/messages/go/v21"
	"k8s.io/utils/lru"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var roles = map[messages.PickleStepType]scene.Role{
	messages.PickleStepType_CONTEXT: scene.Given, messages.PickleStepType_ACTION: scene.When, messages.PickleStepType_OUTCOME: scene.Then,
}

// RoleOf is the role in which a step is said.
func RoleOf(said *messages.PickleStep) scene.Role { return roles[said.Type] }

// Said is a step with its role, as people read it.
func Said(said *messages.PickleStep) string { return RoleOf(said).String() + " " + said.Text }

// Match is a step of a feature with the definition that it matches, and its arguments.
type Match struct {
	Definition *Definition
	Args       words.Args
	once       once
}

// once is the record that a step waits for before it acts: in words, or in YAML.
type once struct{ words, yaml string }

// Once begins the record that a When waits for before it acts. Every When can have one. A colon behind it is the action's,
// of the text that it quotes.
const Once = " once "

const thisRecorded = acts.ThisRecorded

var onceAtEnd = regexp.MustCompile(`^(.*)` + Once + `(?:` + words.Record + `(:?)|` + thisRecorded + `:)$`)

// ErrUndefined is that no definition matches a step.
var ErrUndefined = errors.New("matches nothing")

// Find finds the definition of a step, and reads what is below the step or in the file that it names, which is beside the
// feature. It returns ErrUndefined if there is none, and other errors of a step that matches several, or lacks a text.
func Find(said *messages.PickleStep, beside fs.FS) (Match, error) {
	all := matching(said)
	switch len(all) {
	case 0:
		return Match{}, ErrUndefined
	case 1:
		return all[0], all[0].read(said, beside)
	}
	return Match{}, fmt.Errorf("its step %q matches %d sentences, want one", Said(said), len(all))
}

// matching are all definitions that a step matches, with and without a record to wait for.
func matching(said *messages.PickleStep) []Match {
	role := RoleOf(said)
	all := Matches(role, said.Text)
	parts := onceAtEnd.FindStringSubmatch(said.Text)
	if role != scene.When || parts == nil {
		return all
	}
	action, record, colon := parts[1], parts[2], parts[3]
	for _, m := range Matches(role, action+colon) {
		if m.Definition.quotesText() == (colon != "") {
			if m.once.words = record; record == "" {
				m.once.words = thisRecorded
			}
			all = append(all, m)
		}
	}
	return all
}

// saidIn is a text in a role.
type saidIn struct {
	role scene.Role
	text string
}

// matched has what was found last. All records together say some thousand different texts, each many times.
var matched = lru.New(8192)

// Matches are the definitions that match a text in a role, without a record to wait for.
func Matches(role scene.Role, text string) []Match {
	if found, is := matched.Get(saidIn{role, text}); is {
		return slices.Clone(found.([]Match))
	}
	found := match(role, text)
	matched.Add(saidIn{role, text}, found)
	return slices.Clone(found)
}

func match(role scene.Role, text string) (all []Match) {
	of := InRole(role)
	for i := range of {
		if args, is := of[i].Match(text); is {
			all = append(all, Match{Definition: &of[i], Args: args})
		}
	}
	return all
}

// quotesText reports whether a text stands below the steps of a sentence.
func (d *Definition) quotesText() bool { return strings.HasSuffix(d.Sentence.Words, ":") && !d.Table }

// read takes what is below the step, and the file that it names.
func (m *Match) read(said *messages.PickleStep, beside fs.FS) error {
	m.Args.Said = said.Text
	text, below := docString(said)
	if m.once.words == thisRecorded {
		// mutant: the file of an action is read as the event it waits for
		if m.once.yaml = text; !below {
			return errNoText
		}
	}
	switch file := m.Args.Named("FILE"); {
	case m.Definition.quotesText() && !below && strings.HasSuffix(said.Text, userData):
		return errNoUserData
	case m.Definition.quotesText() && !below:
		return errNoText
	case m.Definition.quotesText():
		m.Args.Quoted = text
	case file != "":
		text, err := scene.ReadBeside(beside, file)
		if err != nil {
			return err
		}
		m.Args.Quoted = string(text)
	}
	if said.Argument != nil && said.Argument.DataTable != nil {
		for _, row := range said.Argument.DataTable.Rows {
			var cells []string
			for _, cell := range row.Cells {
				cells = append(cells, cell.Value)
			}
			m.Args.Table = append(m.Args.Table, cells)
		}
	}
	return nil
}

// userData ends the sentences whose text is machines' user data.
const userData = "this user data:"

// What a step lacks that quotes something.
var (
	errNoText     = errors.New(`want the text below the step, between lines of """`)
	errNoUserData = errors.New("want the user data below the step, in quotes")
)

func docString(said *messages.PickleStep) (text string, below bool) {
	if said.Argument == nil || said.Argument.DocString == nil {
		return "", false
	}
	return said.Argument.DocString.Content, true
}

// Waits reports whether the step waits for a record before it acts.
func (m Match) Waits() bool { return m.once != (once{}) }

// Awaited is the record that the step waits for before it acts. An error says what is wrong with it.
func (m Match) Awaited() (then.Awaited, error) {
	if m.once.words == thisRecorded {
		return then.InYAML(m.once.yaml)
	}
	return then.InWords(m.once.words)
}

// Wants are what has to be known of the step before its world is there: nothing of one that matches no definition. An error
// says what is wrong with its arguments.
func (m Match) Wants() (scene.Wants, error) {
	if m.Definition == nil || m.Definition.Wants == nil {
		return scene.Wants{}, nil
	}
	return m.Definition.Wants(m.Args)
}
