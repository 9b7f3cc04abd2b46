package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mark is a line of code above which a comment of its own says `// mutant: NAME`, or
// `# mutant: NAME` within the text of a shell script.
type mark struct {
	file string // from the root of the checkout, with slashes
	line int    // the one that is broken, from 1
}

// checkout is what the Go files below a folder have of marks and of tests.
type checkout struct {
	root  string
	marks map[string][]mark   // by the mutant's name
	tests map[string][]string // the folders that have a test, by its name
}

var (
	isMark = regexp.MustCompile(`^\s*(?://|#) mutant: (.+)$`)
	isTest = regexp.MustCompile(`^func (Test\w*)\(`)
)

// scan reads all Go files of the checkout.
func scan(root string) (*checkout, error) {
	c := &checkout{root: root, marks: map[string][]mark{}, tests: map[string][]string{}}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base[0] == '.' || base == "testdata" || name == "bin" || name == "reports/out"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return c.read(name, string(text))
	})
	return c, err
}

func (c *checkout) read(file, text string) error {
	var above []string // mutants of the next line of code
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		if found := isMark.FindStringSubmatch(line); found != nil {
			above = append(above, found[1])
			continue
		}
		for _, name := range above {
			c.marks[name] = append(c.marks[name], mark{file, n})
		}
		above = nil
		if found := isTest.FindStringSubmatch(line); found != nil && strings.HasSuffix(file, "_test.go") {
			c.tests[found[1]] = append(c.tests[found[1]], path.Dir(file))
		}
	}
	if len(above) > 0 {
		return fmt.Errorf("%s: there is no line below the mark of mutant %q", file, above)
	}
	return nil
}

// of is where the mutant is marked.
func (c *checkout) of(m mutant) (mark, error) {
	places := c.marks[m.Name]
	if len(places) != 1 {
		return mark{}, fmt.Errorf("mutant %q is marked at %d places, want one: %v", m.Name, len(places), places)
	}
	return places[0], nil
}

// test is the name of the mutant's test, and the folder of its package.
func (c *checkout) test(m mutant) (folder, name string, err error) {
	at, err := c.of(m)
	if err != nil {
		return "", "", err
	}
	in, name, elsewhere := cutLast(m.Test, ".")
	var folders []string
	for _, folder := range c.tests[name] {
		if !elsewhere && folder == path.Dir(at.file) || elsewhere && (folder == in || strings.HasSuffix(folder, "/"+in)) {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	if folders = slices.Compact(folders); len(folders) != 1 {
		return "", "", fmt.Errorf("mutant %q in %s: test %s is in %d folders, want one: %q", m.Name, at.file, m.Test, len(folders), folders)
	}
	return folders[0], name, nil
}

// cutLast is strings.Cut at the last separator; without one, all is after it.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return "", text, false
}
