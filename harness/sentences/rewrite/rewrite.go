// Package rewrite brings the steps of features, and the faults of schedules and records, to what they are called now.
// It changes the words of a step and nothing else: comments, indentation, tables and quotes stay.
package rewrite

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Change is some lines of a file, counted from 1, and what they become.
type Change struct {
	Line     int      `json:"line"`
	Was, Now []string `json:"-"`
}

// File is one with its changes, the first line first.
type File struct {
	Name    string
	Changes []Change

	text []byte
	mode fs.FileMode
}

// largest is how many bytes a file may have: as much as a feature.
const largest = 1 << 20

// Files are those with steps or faults that are called otherwise now, in files and folders. Those that cannot be read,
// or are no features and no YAML, are left to lint. What begins with a dot is left out.
func Files(names []string) (files []File, err error) {
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != name && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			case !entry.Type().IsRegular():
				return nil
			}
			f, err := read(path, entry)
			if err == nil && len(f.Changes) > 0 {
				files = append(files, f)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w; name a folder with features and records", name, err)
		}
	}
	return files, nil
}

func read(path string, entry fs.DirEntry) (f File, err error) {
	of := map[string]func([]byte) []Change{".feature": Feature, ".yaml": YAML, ".yml": YAML}[filepath.Ext(path)]
	info, err := entry.Info()
	if of == nil || err != nil || info.Size() > largest {
		return f, err
	}
	f = File{Name: path, mode: info.Mode().Perm()}
	if f.text, err = os.ReadFile(path); err == nil {
		f.Changes = of(f.text)
	}
	return f, err
}

// Apply is the text with the changes made.
func Apply(text []byte, changes []Change) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	for _, c := range slices.Backward(changes) {
		end := ""
		if last := lines[c.Line+len(c.Was)-2]; strings.HasSuffix(last, "\n") {
			end = "\n"
		}
		lines = slices.Replace(lines, c.Line-1, c.Line-1+len(c.Was), strings.Join(c.Now, "\n")+end)
	}
	return []byte(strings.Join(lines, ""))
}

// Write makes the changes in the file.
func (f File) Write() error { return os.WriteFile(f.Name, Apply(f.text, f.Changes), f.mode) }

// Diff are the changes as diff -U0 prints them.
func (f File) Diff() string {
	var text bytes.Buffer
	fmt.Fprintf(&text, "--- %s\n+++ %[1]s\n", f.Name)
	moved := 0
	for _, c := range f.Changes {
		fmt.Fprintf(&text, "@@ -%d,%d +%d,%d @@\n", c.Line, len(c.Was), c.Line+moved, len(c.Now))
		moved += len(c.Now) - len(c.Was)
		for _, line := range c.Was {
			fmt.Fprintf(&text, "-%s\n", line)
		}
		for _, line := range c.Now {
			fmt.Fprintf(&text, "+%s\n", line)
		}
	}
	return text.String()
}
