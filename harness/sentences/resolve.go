package sentences

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var roles = map[messages.PickleStepType]scene.Role{
	messages.PickleStepType_CONTEXT: scene.Given, messages.PickleStepType_ACTION: scene.When, messages.PickleStepType_OUTCOME: scene.Then,
}

// spoken is a step of a feature: the row that it says, with its arguments.
type spoken struct {
	row  *row
	args words.Args
	once once
}

// once is the record that a step waits for before it acts: in words, or in YAML.
type once struct{ words, yaml string }

// Every When can wait for a record; the colon is the action's, of the text that it quotes.
const (
	onceWords    = " once "
	thisRecorded = acts.ThisRecorded
)

var onceAtEnd = regexp.MustCompile(`^(.*)` + onceWords + `(?:` + words.Record + `(:?)|` + thisRecorded + `:)$`)

// errUnknown is that no sentence matches a step.
var errUnknown = errors.New("matches nothing")

// resolve finds the row of a step, and reads what is below the step or in the file that it names.
func resolve(said *messages.PickleStep, beside fs.FS) (spoken, error) {
	all := matching(said)
	switch len(all) {
	case 0:
		return spoken{}, errUnknown
	case 1:
		return all[0], all[0].read(said, beside)
	}
	return spoken{}, fmt.Errorf("its step %q matches %d sentences, want one", roles[said.Type].String()+" "+said.Text, len(all))
}

// matching are all rows that a step says, with and without a record to wait for.
func matching(said *messages.PickleStep) []spoken {
	role := roles[said.Type]
	all := find(role, said.Text)
	m := onceAtEnd.FindStringSubmatch(said.Text)
	if role != scene.When || m == nil {
		return all
	}
	action, record, colon := m[1], m[2], m[3]
	for _, s := range find(role, action+colon) {
		if s.row.quotesText() == (colon != "") {
			if s.once.words = record; record == "" {
				s.once.words = thisRecorded
			}
			all = append(all, s)
		}
	}
	return all
}

// find are the rows that can be said so.
func find(role scene.Role, text string) (all []spoken) {
	of := rowsOf()[role]
	for i := range of {
		if args, is := of[i].Match(text); is {
			all = append(all, spoken{row: &of[i], args: args})
		}
	}
	return all
}

// quotesText reports whether a text stands below the steps of a sentence.
func (r *row) quotesText() bool { return strings.HasSuffix(r.Sentence.Words, ":") && !r.Table }

// read takes what is below the step, and the file that it names.
func (s *spoken) read(said *messages.PickleStep, beside fs.FS) error {
	s.args.Said = said.Text
	text, below := docString(said)
	if s.once.words == thisRecorded {
		// mutant: the file of an action is read as the record it waits for
		if s.once.yaml = text; !below {
			return errNoText
		}
	}
	switch file := s.args.Named("FILE"); {
	case s.row.quotesText() && !below && strings.HasSuffix(said.Text, userData):
		return errNoUserData
	case s.row.quotesText() && !below:
		return errNoText
	case s.row.quotesText():
		s.args.Quoted = text
	case file != "":
		text, err := scene.ReadBeside(beside, file)
		if err != nil {
			return err
		}
		s.args.Quoted = string(text)
	}
	if said.Argument != nil && said.Argument.DataTable != nil {
		for _, row := range said.Argument.DataTable.Rows {
			var cells []string
			for _, cell := range row.Cells {
				cells = append(cells, cell.Value)
			}
			s.args.Table = append(s.args.Table, cells)
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

// record is what a step waits for before it acts.
func (o once) record() (then.Awaited, error) {
	if o.words == thisRecorded {
		return then.InYAML(o.yaml)
	}
	return then.InWords(o.words)
}
