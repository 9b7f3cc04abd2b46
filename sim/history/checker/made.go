package checker

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// GivenNames are the names that a scenario gives to what it makes, as far as its text says them. What is made by others, such as
// the NodeClaims of an autoscaler, has names of its own.
type GivenNames struct {
	names []string        // of objects
	words map[string]bool // that the text has anywhere
}

var (
	madeQuoted = regexp.MustCompile(`"([^"\n]*)"`)
	madeName   = regexp.MustCompile(`\b(?:name|generateName|namespace): *["']?([-.a-z0-9]+)`)
	madeObject = regexp.MustCompile(`\b(?:pod|Node|Deployment|DaemonSet|StatefulSet|NodePool|MachineDeployment|MachinePool|` +
		`group|server) "([-.a-z0-9/]+)"`)
	madeWord = regexp.MustCompile(`[a-z0-9]+(?:[-.][a-z0-9]+)*`)
)

// AddStep adds what a step says that makes something, and what it quotes or has from a file.
func (m *GivenNames) AddStep(step, quoted string) {
	if m.words == nil {
		m.words = map[string]bool{}
	}
	for _, found := range madeQuoted.FindAllStringSubmatch(step, -1) {
		m.names = append(m.names, strings.Split(found[1], "/")...)
	}
	for _, found := range madeName.FindAllStringSubmatch(quoted, -1) {
		m.names = append(m.names, found[1])
	}
	for _, text := range []string{step, quoted} {
		for _, word := range madeWord.FindAllString(text, -1) {
			m.words[word] = true
		}
	}
}

// CheckOutcome finds names in the text of a Then that the scenario says nowhere else: of what another program makes, such as a
// Node, a Then knows no name.
func (m *GivenNames) CheckOutcome(step string) error {
	for _, found := range madeObject.FindAllStringSubmatch(step, -1) {
		for name := range strings.SplitSeq(found[1], "/") {
			// mutant: a Then may name what no step makes
			if !m.words[name] {
				return fmt.Errorf("no Given and no When names %q%s", name, strict.Meant(name, m.names))
			}
		}
	}
	return nil
}

// CheckMade finds names in a statement that a slip of the pen has made another than what the scenario makes, and namespaces
// that nothing creates. m may be nil of a scenario of which nothing is known.
func (s *Statement) CheckMade(m *GivenNames) error {
	if m == nil {
		return nil
	}
	return s.eachPattern(m.check)
}

func (m *GivenNames) check(p *Pattern) error {
	for _, name := range p.Namespace.wholeValues() {
		// mutant: any namespace is there
		if known := vocabulary.Namespaces(); !m.words[name] && !slices.Contains(known, name) {
			return fmt.Errorf("namespace: %q is none that the scenario makes or each world has (%s); say {matches: %q} if it comes otherwise%s",
				name, strings.Join(known, ", "), name, strict.Meant(name, slices.Concat(known, m.names)))
		}
	}
	for _, name := range p.Name.wholeValues() {
		// mutant: any name is that of something
		if near := strict.Nearest(name, slices.Concat(vocabulary.Words(), m.names)); near != "" && !m.words[name] {
			return fmt.Errorf("name: the scenario makes no %q, did you mean %q? Say {matches: %q} if it comes otherwise", name, near, name)
		}
	}
	return nil
}

// wholeValues are the values that a field is compared with as a whole by a text, and not by an expression.
func (v *Values) wholeValues() []string {
	if v == nil || v.op == "matches" {
		return nil
	}
	return v.Plain()
}

// eachPattern calls check with each pattern, and says where the first is that is wrong.
func (s *Statement) eachPattern(check func(*Pattern) error) error {
	for _, p := range s.patterns() {
		if err := check(p.pattern); err != nil {
			return fmt.Errorf("%s: %w", p.field, err)
		}
	}
	for i := range s.elements() {
		if err := s.elements()[i].eachPattern(check); err != nil {
			return fmt.Errorf("%s[%d]: %w", s.about()[0], i, err)
		}
	}
	return nil
}

func (e *Element) eachPattern(check func(*Pattern) error) error {
	if e.Match != nil {
		if err := check(e.Match); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for i := range e.While {
		if err := check(&e.While[i]); err != nil {
			return fmt.Errorf("while[%d]: %w", i, err)
		}
	}
	for i := range e.Absent {
		if err := check(&e.Absent[i].Pattern); err != nil {
			return fmt.Errorf("absent[%d]: %w", i, err)
		}
	}
	return nil
}
