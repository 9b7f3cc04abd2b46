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
//
// Statements and words are followed here and not by mvdan.cc/sh's interp and expand
// (v3.12.0). With all of interp's handlers plain scripts come out the same, but:
//   - An ExecHandlers or StatHandler function gives one answer, and no Runner can be copied
//     amid a script. Both answers take whole runs: 1024 of them for ten questions in a row,
//     and what both agree on after each fi or done (TestAgreement) is not seen. Length, slice
//     and replacement of a mark (TestUnknown) pass for known texts.
//   - x=$x$x, a=("${a[@]}" "${a[@]}"), ${x//a/$x} (TestHostile) and {1..999999999} take all
//     memory and call no handler, CallHandler neither; a context ends a Runner between
//     statements only. Loops of [[ ]] and (( )) have no CallHandler to count them.
//   - 3>&1, coproc and ${x@P} panic, in a pipe on a goroutine of Runner's own, where
//     nothing can recover: user data would end the simulation.
//   - [ -r F ] is access(2) here, <(x) makes a FIFO in os.TempDir, ~x reads /etc/passwd,
//     command -v looks into this machine's folders, each | and << is an os.Pipe. None asks
//     a handler. A pipe's sides run at once, so that Calls would have no order.
package shell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrLimit is what a session returns when a script is beyond a limit: it does not end, or
// wants more memory than any boot needs.
var ErrLimit = errors.New("the script does more than any boot needs")

// Limits on what a Machine does for the scripts of one boot. They are far beyond any
// real user data, of which clouds take 16 to 64 KiB.
const (
	maxSteps   = 20_000  // commands
	maxBytes   = 8 << 20 // of text produced
	maxScript  = 256 << 10
	maxDepth   = 100 // of calls and nested commands
	maxNesting = 10_000
)

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
	// Problems are scripts that are no shell, and those that set -e has stopped.
	Problems []string
	// Metadata answers a GET of the cloud's metadata service, by URL path. Nil, or
	// false, means that the answer is not known.
	Metadata func(path string) (string, bool)

	unknowns     []string
	steps, bytes int
}

func (m *Machine) produce(s string) string {
	m.bytes += len(s)
	checkDepth(m.bytes, maxBytes)
	return s
}

// copied counts a copy of so many entries, which is work too.
func (m *Machine) copied(entries int) {
	m.steps += entries / 8
	checkDepth(m.steps, maxSteps)
}

// Put writes a file that no script writes, or appends to it. It returns ErrLimit.
func (m *Machine) Put(name string, f File, appends bool) error {
	if appends {
		f.Content = m.Files[name].Content + f.Content
		if m.bytes += len(f.Content); m.bytes > maxBytes {
			return ErrLimit
		}
	}
	m.Files[name] = f
	return nil
}

// problem notes one of a few.
func (m *Machine) problem(text string) {
	if len(m.Problems) < 10 {
		m.Problems = append(m.Problems, text)
	}
}

// Marks are made of private-use characters, which Strip keeps out of input.
const markStart, markEnd = Mark, "\uE001"

// Mark begins each mark.
const Mark = "\uE000"

var marks = strings.NewReplacer(markStart, "", markEnd, "")

// Strip removes from text what could be taken for a mark. Text without such is not
// copied.
func Strip(text string) string {
	if !strings.Contains(text, markStart) && !strings.Contains(text, markEnd) {
		return text // a Replacer would copy it
	}
	return marks.Replace(text)
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
	if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(m.unknowns) {
		return m.unknowns[i], true
	}
	return "something", true
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
