// Package shell follows the shell scripts of a machine's first boot, as far as
// they write files, set the host's name and call the programs that join a
// cluster. It executes nothing, opens no file of this machine and uses no
// network: files are values in a Machine, and programs that it does not know are
// noted as calls.
//
// What it cannot know it does not guess. The output of an unknown program stands in
// files and arguments as a mark (see Machine.Unknown), and where a script asks a
// question without an answer, such as whether a service is active, both answers are
// followed: what they agree on holds, the rest becomes a mark.
//
// Two assumptions make scripts readable at all. A program that is called for what it
// does succeeds, so "apt-get update && ..." goes on and "... || fallback" does not
// fall back. And the image is fresh: below the folders of those who join a cluster
// (see fresh) there is nothing but what user data put there.
package shell

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on what a Machine does for the scripts of one boot. They are far beyond any
// real user data, of which clouds take 16 to 64 KiB.
const (
	maxSteps  = 20_000  // commands
	maxBytes  = 8 << 20 // of text produced
	maxScript = 256 << 10
	maxDepth  = 100 // of calls and nested commands
)

// ErrLimit is what a session returns when a script is beyond a limit: it does not end, or
// wants more memory than any boot needs.
var ErrLimit = errors.New("the script does more than any boot needs")

// File is a file as a script left it. Content may hold marks.
type File struct {
	Content string
	Mode    uint32 // permission bits
	From    string // who wrote it last, as "runcmd[2] line 7"
}

// Call is a program that was called and is not one of those that only handle files.
type Call struct {
	Where string            // as in File.From
	Args  []string          // the program first; marks are possible
	Env   map[string]string // what the call or the script sets
	// Stdin is the script or text that it reads.
	Stdin string
	// If is set when an unanswered question decides whether the call happens.
	If string
}

// Machine is what scripts act on.
type Machine struct {
	Files    map[string]File
	Hostname string
	Calls    []Call
	// Metadata answers a GET of the cloud's metadata service, by URL path. Nil, or
	// false, means that the answer is not known.
	Metadata func(path string) (string, bool)

	unknowns     []string
	steps, bytes int
}

// run is one script on its machine.
type run struct {
	m     *Machine
	name  string
	vars  map[string][]string // a plain variable has one value, an array any number
	args  []string            // $0 $1 ...
	funcs map[string]*syntax.Stmt
	cwd   string
	jump  jump
	why   string // the question that the last open status stands for
	depth int
	errs  bool // set -e
}

type jump int

const (
	onward jump = iota
	exits
	returns
	breaks
	continues
)

// status is how a command ended, as far as that is known.
type status int

const (
	yes     status = iota
	no             // it failed
	assumed        // a program was called, which is taken to succeed
	open           // a question without an answer
)

// Session is a shell that lives through several commands, as the entries of runcmd
// share one.
type Session struct{ run *run }

// Start opens a shell with an environment.
func (m *Machine) Start(env map[string]string) *Session {
	r := &run{m: m, vars: map[string][]string{}, funcs: map[string]*syntax.Stmt{}, args: []string{"sh"}, cwd: "/"}
	for k, v := range env {
		r.vars[k] = []string{v}
	}
	return &Session{r}
}

// Run follows a script, called name in records. After one that has ended the shell
// nothing happens any more.
func (s *Session) Run(name, script string) error {
	return s.guarded(name, func() error {
		if !IsShell(script) {
			s.run.note(invocation{args: []string{name}, in: script})
			return nil
		}
		return s.run.script(script, "", nil)
	})
}

// Call follows the call of one program.
func (s *Session) Call(name string, args []string) error {
	return s.guarded(name, func() error {
		s.run.dispatch(invocation{args: args})
		return nil
	})
}

func (s *Session) guarded(name string, f func() error) (err error) {
	defer func() {
		if e := recover(); e != nil {
			if e != ErrLimit {
				panic(e)
			}
			err = fmt.Errorf("%s: %w", name, ErrLimit)
		}
	}()
	if s.run.jump == exits {
		return nil
	}
	s.run.name, s.run.jump = name, onward
	return f()
}

var shebang = regexp.MustCompile(`^#!\s*(\S*/)?(env\s+(-\S+\s+)*)?(\S*/)?(sh|bash|dash|ash|ksh)(\s|$)`)

// IsShell reports whether a script is one for a shell: it says so, or says nothing.
func IsShell(script string) bool {
	return !strings.HasPrefix(script, "#!") || shebang.MatchString(script)
}

// SyntaxError says where a script cannot be parsed.
type SyntaxError struct {
	Script string
	Line   uint
	Text   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s line %d is no shell: %s", e.Script, e.Line, e.Text)
}

func (r *run) script(text, in string, out *strings.Builder) error {
	if len(text) > maxScript || tooDeep(text) {
		panic(ErrLimit)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		e := &SyntaxError{Script: r.name, Text: err.Error()}
		var parse syntax.ParseError
		if errors.As(err, &parse) {
			e.Line, e.Text = parse.Pos.Line(), parse.Text
		}
		return e
	}
	r.stmts(file.Stmts, in, out)
	return nil
}

// tooDeep bounds what a recursive parser is given: nothing nests without one of
// these.
func tooDeep(text string) bool {
	n := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "`") + strings.Count(text, "[")
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "!", "time", "coproc"} {
		n += strings.Count(text, word)
	}
	return n > 10_000
}

// step counts what is done; produce counts what is written.
func (r *run) step() {
	if r.m.steps++; r.m.steps > maxSteps {
		panic(ErrLimit)
	}
}

func (m *Machine) produce(s string) string {
	if m.bytes += len(s); m.bytes > maxBytes {
		panic(ErrLimit)
	}
	return s
}

// in runs f one level deeper.
func (r *run) in(f func() status) status {
	if r.depth++; r.depth > maxDepth {
		panic(ErrLimit)
	}
	defer func() { r.depth-- }()
	return f()
}

func (r *run) where(pos syntax.Pos) string {
	if !pos.IsValid() {
		return r.name // a program that was called without a shell
	}
	return fmt.Sprintf("%s line %d", r.name, pos.Line())
}

// Marks are made of private-use characters, which Strip keeps out of input.
const markStart, markEnd = Mark, "\uE001"

// Mark begins each mark.
const Mark = "\uE000"

// Strip removes from text what could be taken for a mark.
func Strip(text string) string {
	return strings.NewReplacer(markStart, "", markEnd, "").Replace(text)
}

// mark stands for a text that is not known: what says why, in a few words.
func (m *Machine) mark(what string) string {
	m.unknowns = append(m.unknowns, m.produce(what))
	return fmt.Sprintf("%s%d%s", markStart, len(m.unknowns)-1, markEnd)
}

func marked(s string) bool { return strings.Contains(s, markStart) }

// Unknown says why a part of text is not known, if so.
func (m *Machine) Unknown(text string) (why string, found bool) {
	_, rest, found := strings.Cut(text, markStart)
	if !found {
		return "", false
	}
	number, _, _ := strings.Cut(rest, markEnd)
	var i int
	if _, err := fmt.Sscanf(number, "%d", &i); err != nil || i < 0 || i >= len(m.unknowns) {
		return "something", true
	}
	return m.unknowns[i], true
}

// Reveal puts in place of each mark what it stands for, for people to read.
func (m *Machine) Reveal(text string) string {
	for range 1000 {
		before, rest, found := strings.Cut(text, markStart)
		if !found {
			return text
		}
		why, _ := m.Unknown(markStart + rest)
		_, after, _ := strings.Cut(rest, markEnd)
		text = before + "<" + why + ">" + after
	}
	return Strip(text)
}

// state is what the two answers of a question may change.
type state struct {
	files    map[string]File
	hostname string
	calls    []Call
	vars     map[string][]string
	cwd      string
}

func (r *run) save() state {
	if r.m.steps += len(r.m.Files) / 8; r.m.steps > maxSteps { // a copy is work too
		panic(ErrLimit)
	}
	return state{maps.Clone(r.m.Files), r.m.Hostname, slices.Clip(r.m.Calls), maps.Clone(r.vars), r.cwd}
}

func (r *run) restore(s state) {
	r.m.Files, r.m.Hostname, r.m.Calls, r.vars, r.cwd = maps.Clone(s.files), s.hostname, s.calls, maps.Clone(s.vars), s.cwd
}

// either follows the alternatives of an open question and leaves what they agree on.
// One that ends the script early is the failing one, and not followed further.
func (r *run) either(why string, alternatives ...func() status) status {
	before := r.save()
	var merged *state
	for _, alternative := range alternatives {
		r.restore(before)
		r.in(alternative)
		left := r.jump == exits || r.jump == returns
		r.jump = onward
		if left {
			continue
		}
		after := r.save()
		for i := len(before.calls); i < len(after.calls); i++ {
			after.calls = slices.Clone(after.calls)
			after.calls[i].If = why
		}
		if merged == nil {
			merged = &after
			continue
		}
		*merged = r.merge(*merged, after, len(before.calls), why)
	}
	if merged == nil {
		r.restore(before)
	} else {
		r.restore(*merged)
	}
	r.why = why
	return assumed
}

func (r *run) merge(a, b state, calls int, why string) state {
	for name := range b.files {
		if _, found := a.files[name]; !found {
			a.files[name] = File{Content: r.m.mark(why), From: b.files[name].From}
		}
	}
	for name, f := range a.files {
		other, found := b.files[name]
		if !found || other.Content != f.Content {
			f.Content = r.m.mark(why)
			a.files[name] = f
		}
	}
	for name := range b.vars {
		if _, found := a.vars[name]; !found {
			a.vars[name] = []string{r.m.mark(why)}
		}
	}
	for name, v := range a.vars {
		if !slices.Equal(v, b.vars[name]) {
			a.vars[name] = []string{r.m.mark(why)}
		}
	}
	if a.hostname != b.hostname {
		a.hostname = r.m.mark(why)
	}
	a.calls = append(a.calls, b.calls[calls:]...)
	return a
}

// abs is p as an absolute path without dots.
func (r *run) abs(p string) string {
	if !path.IsAbs(p) {
		p = path.Join(r.cwd, p)
	}
	return path.Clean(p)
}

// fresh are the folders in which there is nothing but what user data has put there:
// they belong to Kubernetes distributions, or are empty after each boot.
var fresh = []string{"/etc/rancher", "/var/lib/rancher", "/etc/kubernetes", "/var/lib/kubelet", "/var/lib/cloud", "/tmp", "/run", "/var/run", "/var/tmp"}

// exists answers whether there is a file or folder p.
func (r *run) exists(p string) status {
	if marked(p) {
		return open
	}
	p = r.abs(p)
	if _, found := r.m.Files[p]; found {
		return yes
	}
	for name := range r.m.Files {
		if strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/") {
			return yes
		}
	}
	for _, dir := range fresh {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return no
		}
	}
	return open
}

// write is a program's writing of a file.
func (r *run) write(p, content string, appends bool, pos syntax.Pos) {
	if marked(p) || p == "/dev/null" || strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/sys/") {
		return
	}
	p = r.abs(p)
	f, found := r.m.Files[p]
	if !found {
		f.Mode = 0o644
	}
	if appends {
		content = f.Content + content
	}
	f.Content, f.From = r.m.produce(content), r.where(pos)
	r.m.Files[p] = f
}
