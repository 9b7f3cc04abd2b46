package scenarios

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
)

// Scenario is one of a feature of a user's own.
type Scenario struct {
	// Record is its own, or stands for one.
	Record Record
	Name   string
	Tags   []string // with their @
	File   string   // as the user calls it
	Line   int
	Steps  []Step
	// RecordFile has the record, if there is one.
	RecordFile File

	// Files are what it is made of, a catalogue of its own.
	Files map[string][]byte
}

// Step is a step and where it is.
type Step struct {
	*messages.PickleStep
	Line int
}

// Pickle are the steps as godog has them.
func (s Scenario) Pickle() (list []*messages.PickleStep) {
	for _, step := range s.Steps {
		list = append(list, step.PickleStep)
	}
	return list
}

// Own is what a folder of a user's own has, for a catalogue.
type Own struct {
	Scenarios []Scenario
	Problems  Problems
	// Features are the features, ordered by their paths, and the files that their steps name.
	Features []File
	// Kin are what the records name as their kin.
	Kin []Kin
}

// File is a file of a folder, by the path that scenarios have for it. Shown is what the user
// calls a feature or a record, and empty of other files.
type File struct {
	Path, Shown string
	Text        []byte
}

// Kin is a record that another one names as its kin, and where it does.
type Kin struct {
	ID string
	At Problem
}

// Files are the features, and the files that their steps name, by the paths that the
// scenarios have.
func (o *Own) Files() fs.FS {
	files := map[string][]byte{}
	for _, f := range o.Features {
		files[f.Path] = f.Text
	}
	return inMemory(files)
}

// FilesOf are the files that a user's own scenario is made of, which are a catalogue of its
// own; nil if it is none.
func (c *Catalogue) FilesOf(id string) fs.FS {
	for _, s := range c.own {
		if s.Record.ID == id && len(s.Files) > 0 {
			return inMemory(s.Files)
		}
	}
	return nil
}

// InFile are the scenarios of a user's own feature, in its order; none if it is in no
// folder that was added.
func (c *Catalogue) InFile(name string) (found []Scenario) {
	is, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, s := range c.own {
		if info, err := os.Stat(s.File); err == nil && os.SameFile(info, is) {
			found = append(found, s)
		}
	}
	return found
}

// Add puts what is in a folder beside what the catalogue has, apart from scenarios with the ID of another one. The error
// is what is wrong with the folder: see IsWrong.
func (c *Catalogue) Add(own Own) error {
	problems := slices.Clone(own.Problems)
	if c.places == nil {
		c.places = map[string]string{}
	}
	for _, s := range own.Scenarios {
		id := s.Record.ID
		if _, err := c.Lookup(id); err == nil {
			other := c.places[id]
			if other == "" {
				other = "a record that is built in, see --no-builtin,"
			}
			problem := Problem{File: s.File, Line: s.Line, Text: fmt.Sprintf("%s is the ID of %s too; give one of them another", id, other)}
			if !slices.Contains(problems, problem) { // in one folder that is reported already
				problems = append(problems, problem)
			}
			continue
		}
		c.places[id] = fmt.Sprintf("%s:%d", s.File, s.Line)
		c.own = append(c.own, s)
		if s.Record.Bare() {
			c.bare = append(c.bare, s)
		} else {
			c.records = append(c.records, s.Record)
		}
	}
	for _, kin := range own.Kin {
		if _, err := c.Lookup(kin.ID); err != nil {
			kin.At.Text = fmt.Sprintf("%s: %v", kin.At.Field, err)
			problems = append(problems, kin.At)
		}
	}
	for _, file := range own.Features {
		// The same file is that of a checkout which the catalogue was built of.
		if other, taken := c.features[file.Path]; taken && file.Shown != "" && !bytes.Equal(other, file.Text) {
			problems = append(problems, Problem{File: file.Shown, Text: "another catalogue has a folder of this name; rename one of the folders"})
		}
		c.addFeature(file.Path, file.Text)
	}
	slices.SortFunc(c.records, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.bare, func(a, b Scenario) int { return strings.Compare(a.Record.ID, b.Record.ID) })
	if len(problems) > 0 {
		return problems
	}
	return nil
}
