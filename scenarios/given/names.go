// Package given knows the names that a scenario gives, and finds those that its record and its Thens misspell.
package given

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// Names are the names that a scenario gives to what it makes, as far as its text says them. What is made by others, such as
// the NodeClaims of an autoscaler, has names of its own.
type Names struct {
	names []string        // of objects
	words map[string]bool // that the text has anywhere
}

var (
	quotedText   = regexp.MustCompile(`"([^"\n]*)"`)
	namedObject  = regexp.MustCompile(`\b(?:name|generateName|namespace): *["']?([-.a-z0-9]+)`)
	objectOfThen = regexp.MustCompile(`\b(?:pod|Node|Deployment|DaemonSet|StatefulSet|NodePool|MachineDeployment|MachinePool|` +
		`group|server) "([-.a-z0-9/]+)"`)
	wordOfText = regexp.MustCompile(`[a-z0-9]+(?:[-.][a-z0-9]+)*`)
)

// AddStep adds what a step says that makes something, and what it quotes or has from a file.
func (n *Names) AddStep(step, quoted string) {
	if n.words == nil {
		n.words = map[string]bool{}
	}
	for _, found := range quotedText.FindAllStringSubmatch(step, -1) {
		n.names = append(n.names, strings.Split(found[1], "/")...)
	}
	for _, found := range namedObject.FindAllStringSubmatch(quoted, -1) {
		n.names = append(n.names, found[1])
	}
	for _, text := range []string{step, quoted} {
		for _, word := range wordOfText.FindAllString(text, -1) {
			n.words[word] = true
		}
	}
}

// CheckOutcome finds names in the text of a Then that the scenario says nowhere else: of what another program makes, such as a
// Node, a Then knows no name.
func (n *Names) CheckOutcome(step string) error {
	for _, found := range objectOfThen.FindAllStringSubmatch(step, -1) {
		for name := range strings.SplitSeq(found[1], "/") {
			// mutant: a Then may name what no step makes
			if !n.words[name] {
				return fmt.Errorf("no Given and no When names %q%s", name, strict.Meant(name, n.names))
			}
		}
	}
	return nil
}

// Check finds names in a statement that a slip of the pen has made another than what the scenario makes, and namespaces
// that nothing creates. n may be nil, of a scenario of which nothing is known.
func (n *Names) Check(s *checker.Statement) error {
	if n == nil {
		return nil
	}
	return s.EachPattern(n.check)
}

func (n *Names) check(p *checker.Pattern) error {
	for _, name := range p.Namespace.WholeValues() {
		// mutant: any namespace is there
		if known := vocabulary.Namespaces(); !n.words[name] && !slices.Contains(known, name) {
			return fmt.Errorf("namespace: %q is none that the scenario makes or each world has (%s); say {matches: %q} if it comes otherwise%s",
				name, strings.Join(known, ", "), name, strict.Meant(name, slices.Concat(known, n.names)))
		}
	}
	for _, name := range p.Name.WholeValues() {
		// mutant: any name is that of something
		if near := strict.Nearest(name, slices.Concat(vocabulary.Words(), n.names)); near != "" && !n.words[name] {
			return fmt.Errorf("name: the scenario makes no %q, did you mean %q? Say {matches: %q} if it comes otherwise", name, near, name)
		}
	}
	return nil
}
