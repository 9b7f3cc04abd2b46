package redact

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
)

// Machine is what identifies a machine and its user.
type Machine struct {
	Home, Host, User string
	Environment      []string // of which secrets are removed
}

// ThisMachine is this machine.
func ThisMachine() (m Machine) {
	m.Home, _ = os.UserHomeDir() // what is not known is in no text
	m.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		m.User = u.Username
	}
	m.Environment = os.Environ()
	return m
}

// ForHere is a Redactor for this machine, see Machine.Redactor.
func ForHere(says ...HasWord) *Redactor { return ThisMachine().Redactor(says...) }

// HasWord reports whether a text that is nothing to hide, such as a scenario, has a word.
type HasWord func(word string) bool

// Redactor is one that knows the machine, its user, and the secrets in the environment. The machine's name and the
// user's stay where they are words of Kubernetes, of nodestorm or of what says has: such a name identifies no one in
// particular, and a run in which it is replaced is another.
func (m Machine) Redactor(says ...HasWord) *Redactor {
	r := &Redactor{Texts: map[string]string{}, about: map[string]string{}}
	for _, pair := range m.Environment {
		for _, secret := range Secrets([]string{pair}) {
			name, _, _ := strings.Cut(pair, "=")
			r.Texts[secret], r.about[secret] = Removed, "the value of the variable "+name
		}
	}
	if len(m.Home) > 4 {
		r.Texts[m.Home], r.about[m.Home] = "~", fmt.Sprintf("the home folder %q", m.Home)
	}
	if len(m.Host) > 5 && !known(m.Host, says) {
		r.Texts[m.Host], r.about[m.Host] = "host", fmt.Sprintf("the machine's name %q", m.Host)
	}
	if m.User != "" && !known(m.User, says) {
		r.User = m.User
		r.about[m.User] = fmt.Sprintf("the user's name %q", m.User)
	}
	return r
}

// words are those of Kubernetes' objects and of nodestorm's files, and users that are no one in particular. A test of
// harness/run/stored says which, and writes the file.
//
//go:embed words.txt
var words string

var isWord = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
})

// known reports whether a name is a word that stays.
func known(name string, says []HasWord) bool {
	// mutant: a user's name is no word
	return isWord()[name] || slices.ContainsFunc(says, func(has HasWord) bool { return has(name) })
}

// Replaced is what was replaced of the machine and its user, in the words of people.
func (r *Redactor) Replaced() []string { return slices.Sorted(maps.Keys(r.met)) }

// noteReplaced notes that a text was replaced.
func (r *Redactor) noteReplaced(text string) {
	what := r.about[text]
	if what == "" || r.met[what] {
		return
	}
	if r.met == nil {
		r.met = map[string]bool{}
	}
	r.met[what] = true
}
