package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"nodestorm/sim/strict"
)

//go:embed releases.yaml */*.yaml
var files embed.FS

// Catalogue holds the records, ordered by ID, and their features.
type Catalogue struct {
	records  []Record
	own      []Scenario        // of a user, with and without a record
	bare     []Scenario        // without
	features map[string][]byte // with the files that their steps name
	places   map[string]string // of what is a user's own, by ID
	files    map[string]File   // of records that are built in, by ID; twins share one
	strays   Problems
	memory   atomic.Pointer[fs.FS] // what Features made of features; nil: they have changed since
}

// BuiltIn are nodestorm's own records, with the features that they are about.
func BuiltIn(features fs.FS) (*Catalogue, error) {
	c, err := LoadFrom(files)
	if err != nil {
		return nil, err
	}
	return c, c.addFeatures(features)
}

// Clone is the same catalogue, to which the caller may add.
func (c *Catalogue) Clone() *Catalogue {
	return &Catalogue{records: slices.Clone(c.records), features: maps.Clone(c.features), files: c.files}
}

// RecordFile is the file in which a record is written, and whether there is one: a scenario without a record has none.
func (c *Catalogue) RecordFile(id string) (File, bool) {
	if f, is := c.files[id]; is {
		return f, true
	}
	for _, s := range c.own {
		if s.Record.ID == id && !s.Record.Bare() {
			return s.RecordFile, true
		}
	}
	return File{}, false
}

// LoadCheckout reads the records and features of a checkout, which must agree.
func LoadCheckout(dir string) (*Catalogue, error) {
	root, err := strict.Root(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := strict.RootFS(root)
	in := func(folder string) fs.FS {
		below, _ := fs.Sub(files, folder) // only an invalid path is an error
		return below
	}
	c, err := LoadFrom(in("scenarios"))
	if err != nil {
		return nil, err
	}
	if c.strays, err = c.checkFeatures(in("features")); err != nil {
		return nil, err
	}
	if err := c.addFeatures(in("features")); err != nil {
		return nil, err
	}
	for i, p := range c.strays {
		delete(c.features, strings.TrimPrefix(p.File, "features/"))
		c.memory.Store(nil)
		c.strays[i].File = filepath.Join(dir, filepath.FromSlash(p.File))
	}
	return c, nil
}

// Strays are what is wrong with the features of a checkout that no record is about. They
// are no part of the catalogue.
func (c *Catalogue) Strays() Problems { return c.strays }

// IsWrong reports whether a problem is one of what a scenario of a user's own is made of: its feature, its record, or
// invariants, which can be for all records of a folder. Any wrong record may be that of a scenario without one.
func (c *Catalogue) IsWrong(id string, p Problem) bool {
	return slices.ContainsFunc(c.own, func(s Scenario) bool {
		switch {
		case s.Record.ID != id:
			return false
		case p.File == s.File, p.File == s.RecordFile.Shown, filepath.Base(p.File) == InvariantsFile:
			return true
		}
		return s.Record.Bare() && filepath.Ext(p.File) != filepath.Ext(s.File)
	})
}

// CatalogueOf is the catalogue of one record only, without its feature.
func CatalogueOf(r Record) *Catalogue { return &Catalogue{records: []Record{r}} }

// Empty is a catalogue without a record.
func Empty() *Catalogue { return &Catalogue{} }

func (c *Catalogue) addFeatures(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*/*.feature")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		c.addFeature(name, text)
		for _, m := range fromFile.FindAllSubmatch(text, -1) {
			beside := path.Join(path.Dir(name), string(m[1]))
			text, err := fs.ReadFile(fsys, beside)
			if err != nil {
				return fmt.Errorf("features/%s: %w", name, err)
			}
			c.addFeature(beside, text)
		}
	}
	return nil
}

func (c *Catalogue) addFeature(name string, text []byte) {
	if c.features == nil {
		c.features = map[string][]byte{}
	}
	c.features[name] = text
	c.memory.Store(nil)
}

// Features are the features as they were when the catalogue was read, by the paths that
// the records have, and the files that their steps name.
func (c *Catalogue) Features() fs.FS {
	if made := c.memory.Load(); made != nil {
		return *made
	}
	made := inMemory(c.features)
	c.memory.Store(&made)
	return made
}

// LoadFrom reads the records SYSTEM/*.yaml below fsys. The error has a line for
// each record that is wrong: its file, the field, and what is allowed there.
func LoadFrom(fsys fs.FS) (*Catalogue, error) {
	names, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("scenarios: no record found")
	}
	releases, err := releasesIn(fsys)
	if err != nil {
		return nil, err
	}
	c := &Catalogue{files: map[string]File{}}
	var errs []error
	where := map[string]string{} // ID → file
	for _, name := range names {
		fail := func(err error) { errs = append(errs, fmt.Errorf("scenarios/%s: %w", name, err)) }
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			fail(err)
			continue
		}
		list, err := parse(text, releases)
		if err != nil {
			fail(err)
			continue
		}
		if folder := path.Dir(name); folder != list[0].System {
			fail(fmt.Errorf("system: %q, but the folder is %q", list[0].System, folder))
			continue
		}
		for i, r := range list {
			if other, taken := where[r.ID]; taken {
				fail(fmt.Errorf("%sid: %q is taken by scenarios/%s", Place(i), r.ID, other))
				continue
			}
			where[r.ID], c.files[r.ID] = name, File{Path: name, Shown: "scenarios/" + name, Text: text}
			c.records = append(c.records, r)
		}
	}
	reported := map[string]bool{} // twins have the same kin
	for i := range c.records {
		r := &c.records[i]
		for i, id := range r.Kin {
			if _, err := c.Lookup(id); err != nil {
				err = fmt.Errorf("scenarios/%s: kin[%d]: %w", where[r.ID], i, err)
				if !reported[err.Error()] {
					errs = append(errs, err)
				}
				reported[err.Error()] = true
			}
		}
		r.NameTwins()
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(c.records, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	return c, nil
}

// Records returns all records, ordered by ID.
func (c *Catalogue) Records() []Record { return slices.Clone(c.records) }

// Bare returns the scenarios of a user's own that have no record, ordered by ID.
func (c *Catalogue) Bare() []Scenario { return slices.Clone(c.bare) }

// Lookup returns the record called id, or what stands for that of a bare scenario. The error names those that begin as it does.
func (c *Catalogue) Lookup(id string) (Record, error) {
	for _, r := range c.records {
		if r.ID == id {
			return r, nil
		}
	}
	for _, s := range c.bare {
		if s.Record.ID == id {
			return s.Record, nil
		}
	}
	like := ""
	if near := c.similarIDs(id); len(near) > 0 {
		like = ", did you mean " + strings.Join(near, " or ")
	}
	way := fmt.Sprintf("nodestorm list shows all %d, and --catalogue FOLDER adds those of a folder of yours", len(c.records)+len(c.bare))
	if issue := aboutIssue.FindStringSubmatch(id); issue != nil {
		way = "nodestorm list " + issue[1] + " shows those that are about it"
	}
	return Record{}, fmt.Errorf("unknown scenario %q%s; %s", id, like, way)
}

// aboutIssue is what a user writes who knows the issue and not the ID.
var aboutIssue = regexp.MustCompile(`^(?:[\w.-]+/[\w.-]+)?#?(\d+)$`)

// similarIDs are the IDs that share most words with the beginning of id, if they are few.
func (c *Catalogue) similarIDs(id string) (ids []string) {
	const few = 10
	for cut := len(id); cut > 0 && len(ids) == 0; cut = strings.LastIndexByte(id[:cut], '-') {
		for _, r := range c.records {
			if strings.HasPrefix(r.ID, id[:cut]) {
				ids = append(ids, r.ID)
			}
		}
	}
	if len(ids) > few {
		return nil
	}
	return ids
}

// Entry is what `nodestorm list --json` shows of a record.
type Entry struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	System     string   `json:"system"`
	Autoscaler string   `json:"autoscaler"`
	Issue      string   `json:"issue"`
	Fix        string   `json:"fix,omitempty"`
	Affected   Range    `json:"affected"`
	Fixed      Range    `json:"fixed"`
	Targets    []Target `json:"targets"`
	Feature    string   `json:"feature"`
	Summary    string   `json:"summary"`
	Symptom    string   `json:"symptom"` // its statement
	Control    bool     `json:"control"` // no release shows it
}

// Entries returns all records as entries, ordered by ID, and then what has none.
func (c *Catalogue) Entries() []Entry {
	entries := make([]Entry, 0, len(c.records))
	for _, r := range c.records {
		entries = append(entries, Entry{
			ID: r.ID, Title: r.Title, System: r.System, Autoscaler: r.Autoscaler, Issue: r.Issue, Fix: r.Fix,
			Affected: r.Affected, Fixed: r.Fixed, Targets: r.Targets, Feature: r.Feature,
			Summary: r.Summary, Symptom: r.Symptom.Statement, Control: r.Control(),
		})
	}
	for _, s := range c.bare {
		entries = append(entries, Entry{ID: s.Record.ID, Title: s.Name, System: s.Record.System, Targets: []Target{}, Feature: s.Record.Feature})
	}
	return entries
}
