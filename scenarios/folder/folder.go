// Package folder reads a catalogue of a user's own: a folder with features, and with records
// beside or below them, or one feature. Nothing in it is trusted: neither sizes nor numbers
// nor links. What is wrong with it is said with its place.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// What a folder may hold that anybody may have written.
const (
	maxFileSize = 1 << 20
	maxFiles    = 2000     // features and records
	maxEntries  = 50_000   // of any kind
	maxHead     = 64 << 10 // of a large file, to see whether it is a record
	maxSteps    = 10_000   // of a feature
)

// Folder is a catalogue of a user's own: records, and features beside or below them.
type Folder struct {
	scenarios.Own
	// Others is how many YAML files are neither records nor named by a step.
	Others int

	shown    string // what the user calls it
	mount    string // what its features are below
	features map[string][]byte
	beside   map[string][]byte // files that steps name
	byFile   map[string][]int  // of Scenarios, by the feature's path
	records  []placed
	texts    map[string][]byte // of records, by their paths
	made     []parts           // of Scenarios
	// invariants are those of all scenarios, and held is their file.
	invariants []checker.Statement
	held       *yaml.Node
}

// placed is a record and where it is.
type placed struct {
	scenarios.Record
	path string // in the folder
	node *yaml.Node
	at   string // what its fields begin with, of a twin
}

// parts is what a scenario is made of: files of the folder, which are the feature, what its steps
// name and its record.
type parts struct {
	isRow bool // of an outline
	files []string
}

// locate finds the field that the text about the record begins with, and its line.
func (r placed) locate(text string) (field string, line int) {
	return scenarios.Locate(r.node, r.at+text)
}

// Read reads what is in a folder, or one feature. Whatever is wrong is in its
// Problems. Nothing in it is trusted: neither sizes nor numbers nor links.
func Read(name string) *Folder {
	f := &Folder{shown: name, features: map[string][]byte{}, beside: map[string][]byte{}, byFile: map[string][]int{},
		texts: map[string][]byte{}}
	dir, only := name, ""
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.problem(".", 0, "", "it is not there; name a folder with features and records, or a feature")
		return f
	case err != nil:
		f.problem(".", 0, "", "%v", withoutPath(err))
		return f
	case !info.IsDir() && !info.Mode().IsRegular():
		f.problem(".", 0, "", "%v", withoutPath(strict.Regular(name)))
		return f
	case !info.IsDir():
		if !strings.HasSuffix(name, featureSuffix) {
			f.problem(".", 0, "", "it is neither a folder nor called NAME%s", featureSuffix)
			return f
		}
		dir, only = filepath.Dir(name), filepath.Base(name)
		f.shown = dir
	}
	f.mount = "own"
	if abs, err := filepath.Abs(dir); err == nil && fs.ValidPath(filepath.Base(abs)) && filepath.Base(abs) != "." {
		f.mount = filepath.Base(abs)
	}
	root, err := strict.Root(dir)
	if err != nil {
		f.problem(".", 0, "", "%v", withoutPath(err))
		return f
	}
	defer root.Close()
	fsys := strict.RootFS(root)
	names := []string{only}
	if only == "" {
		names = f.list(fsys)
	} else if _, err := fs.Stat(fsys, scenarios.InvariantsFile); err == nil {
		names = append(names, scenarios.InvariantsFile)
	}
	slices.SortStableFunc(names, func(a, b string) int { return kindOf(a) - kindOf(b) })
	for _, name := range names {
		if len(f.features)+len(f.records) >= maxFiles {
			f.problem(".", 0, "", "it has more than %d features and records", maxFiles)
			break
		}
		f.read(fsys, name)
	}
	f.join()
	f.assignInvariants()
	f.assignFiles()
	return f
}

const featureSuffix = ".feature"

// problem notes what is wrong with a file of the folder.
func (f *Folder) problem(name string, line int, field, format string, args ...any) {
	f.Problems = append(f.Problems, scenarios.Problem{File: f.file(name), Line: line, Field: field, Text: fmt.Sprintf(format, args...)})
}

// file is what the user calls a path of the folder.
func (f *Folder) file(name string) string { return filepath.Join(f.shown, filepath.FromSlash(name)) }

// withoutPath is an error of a system call without the path, which is said elsewhere.
func withoutPath(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("permission denied; let it be read, or name another folder")
	}
	return strict.WithoutPath(err)
}

// list finds the features and the files that may be records.
func (f *Folder) list(fsys fs.FS) (names []string) {
	entries := 0
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			f.problem(name, 0, "", "%v", withoutPath(err))
			return nil
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("it has more than %d files; name a folder that has features and records only", maxEntries)
		}
		if name != "." && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() || !slices.Contains([]string{featureSuffix, ".yaml", ".yml"}, path.Ext(name)) {
			return nil
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		f.problem(".", 0, "", "%v", withoutPath(err))
	}
	if err == nil && len(names) == 0 && len(f.Problems) == 0 {
		f.problem(".", 0, "", "it has no feature; make one with %s",
			oneline.Command("nodestorm", "new", "ID", "--dir", f.shown))
	}
	return names
}

// kindOf has features before what may be records: they name files that are none.
func kindOf(name string) int {
	if strings.HasSuffix(name, featureSuffix) {
		return 0
	}
	return 1
}

// read reads a feature or a record.
func (f *Folder) read(fsys fs.FS, name string) {
	if _, named := f.beside[name]; named {
		return
	}
	text, err := readSmall(fsys, name)
	isFeature := strings.HasSuffix(name, featureSuffix)
	switch {
	case !isFeature && name != scenarios.InvariantsFile && (err == nil || errors.Is(err, errLarge)) && !f.isRecord(name, text):
		f.Others++
	case err != nil:
		f.problem(name, 0, "", "%v", err)
	case isFeature:
		f.readFeature(fsys, name, text)
	case name == scenarios.InvariantsFile:
		f.readInvariants(name, text)
	default:
		f.readRecord(name, text)
	}
}

// isRecord reports whether YAML is a record, or is meant as one, unlike other YAML of a folder: it
// has two of the fields that nothing else has together, or the name of a feature.
func (f *Folder) isRecord(name string, text []byte) bool {
	if isObject.Match(text) {
		return false
	}
	fields := map[string]bool{}
	for _, m := range recordField.FindAllSubmatch(text, -1) {
		fields[string(m[1])] = true
	}
	_, beside := f.features[strings.TrimSuffix(name, path.Ext(name))+featureSuffix]
	return beside || len(fields) > 1
}

var (
	// isObject finds what is meant for Kubernetes, such as a manifest beside a feature.
	isObject    = regexp.MustCompile(`(?m)^apiVersion:`)
	recordField = regexp.MustCompile(`(?m)^(feature|autoscaler|affected|fixed|mechanism|trigger|work|symptom|kin|targets):`)
)

var errLarge = fmt.Errorf("it has more than %d MiB", maxFileSize>>20)

// readSmall reads a regular file that is not large, or the head of one that is.
func readSmall(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil && strings.Contains(err.Error(), "escapes"): // os.Root has no value for it
		return nil, errors.New("it is a link that leads out of the folder")
	case err != nil:
		return nil, withoutPath(err)
	case info.IsDir():
		return nil, errors.New("it is no file")
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	if info.Size() <= maxFileSize {
		return io.ReadAll(io.LimitReader(file, maxFileSize))
	}
	head, err := io.ReadAll(io.LimitReader(file, maxHead))
	return head, cmp.Or(err, errLarge)
}
