package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed */*.yaml
var files embed.FS

// Catalogue holds the records, ordered by ID.
type Catalogue struct {
	records []Record
}

// Load reads the catalogue that is built in.
func Load() (*Catalogue, error) { return LoadFrom(files) }

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
	c := &Catalogue{}
	var errs []error
	where := map[string]string{} // ID → file
	for _, name := range names {
		fail := func(err error) { errs = append(errs, fmt.Errorf("scenarios/%s: %w", name, err)) }
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			fail(err)
			continue
		}
		r, err := parse(text)
		if err != nil {
			fail(err)
			continue
		}
		if other, taken := where[r.ID]; taken {
			fail(fmt.Errorf("id: %q is taken by scenarios/%s", r.ID, other))
			continue
		}
		if folder := path.Dir(name); folder != r.System {
			fail(fmt.Errorf("system: %q, but the folder is %q", r.System, folder))
			continue
		}
		where[r.ID] = name
		c.records = append(c.records, r)
	}
	for _, r := range c.records {
		for i, id := range r.Kin {
			if _, err := c.Lookup(id); err != nil {
				errs = append(errs, fmt.Errorf("scenarios/%s: kin[%d]: %w", where[r.ID], i, err))
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(c.records, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	return c, nil
}

// Records returns all records, ordered by ID.
func (c *Catalogue) Records() []Record { return slices.Clone(c.records) }

// Lookup returns the record called id. The error names those that begin as it does.
func (c *Catalogue) Lookup(id string) (Record, error) {
	for _, r := range c.records {
		if r.ID == id {
			return r, nil
		}
	}
	like := ""
	if near := c.near(id); len(near) > 0 {
		like = ", like " + strings.Join(near, ", ")
	}
	return Record{}, fmt.Errorf("unknown scenario %q%s; nodestorm list shows all %d", id, like, len(c.records))
}

// near are the IDs that share most words with the beginning of id, if they are few.
func (c *Catalogue) near(id string) (ids []string) {
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

// Entry is what `nodestorm list --json` tells of a record.
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
}

// Entries returns all records as entries, ordered by ID.
func (c *Catalogue) Entries() []Entry {
	entries := make([]Entry, 0, len(c.records))
	for _, r := range c.records {
		entries = append(entries, Entry{
			ID: r.ID, Title: r.Title, System: r.System, Autoscaler: r.Autoscaler, Issue: r.Issue, Fix: r.Fix,
			Affected: r.Affected, Fixed: r.Fixed, Targets: r.Targets, Feature: r.Feature,
			Summary: r.Summary, Symptom: r.Symptom.Statement,
		})
	}
	return entries
}
