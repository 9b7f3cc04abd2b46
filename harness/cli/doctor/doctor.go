// Package doctor finds out what of the catalogue can be replayed on this machine, what is missing,
// and the commands that get it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/world/kind"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
)

// Check is one thing to look at.
type Check struct {
	What string
	// Try returns what was seen, or what is missing and the way out.
	Try func(context.Context) (seen string, err error)
	// Needs is a check that must have been passed; empty means none. Without it this one is not
	// tried.
	Needs string
}

// Machine is what every replay needs.
var Machine = []Check{
	{What: "Go toolchain, for building targets", Try: func(context.Context) (string, error) { return "", goFound() }},
	{What: "checkout of nodestorm, for building its own parts of worlds", Try: func(context.Context) (string, error) {
		_, err := buildstore.Root()
		return "", err
	}},
	{What: "virtual time", Try: func(ctx context.Context) (string, error) {
		took, err := tryClock(ctx)
		if took == 0 {
			return "the kernel allows it; without Go no program was tried", err
		}
		return fmt.Sprintf("an hour of waiting passed in %.1f s", took.Seconds()), err
	}},
}

const docker = "Docker, for real clusters (--cluster kind)"

// Optional is what some replays need.
var Optional = []Check{
	{What: "virtual time for programs that nodestorm did not build", Try: func(context.Context) (string, error) { return "", tryGuest() }},
	{What: docker, Try: func(ctx context.Context) (string, error) { return "", kind.CheckDocker(ctx) }},
	{What: "node image of real clusters", Needs: docker, Try: func(ctx context.Context) (string, error) {
		return "", kind.CheckImage(ctx, builds.Kubernetes.Version)
	}},
	{What: "inotify instances for real clusters", Needs: docker, Try: func(context.Context) (string, error) {
		return "", kind.CheckInotify()
	}},
}

// Finding is what came of a check.
type Finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says,omitempty"` // why not, and the way out; or what was seen
}

// Look makes the checks.
func Look(ctx context.Context, checks []Check) (found []Finding) {
	for _, c := range checks {
		if c.Needs != "" && !slices.ContainsFunc(found, func(f Finding) bool { return f.What == c.Needs && f.OK }) {
			continue
		}
		seen, err := c.Try(ctx)
		if err != nil {
			seen = err.Error()
		}
		found = append(found, Finding{What: c.What, OK: err == nil, Says: seen})
	}
	return found
}

func goFound() error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("no go in PATH; install Go 1.26 from your distribution or go.dev")
	}
	return nil
}

// Diagnosis is all that was found.
type Diagnosis struct {
	Machine  []Finding   `json:"machine"`
	Replays  []Readiness `json:"replays"`
	Optional []Finding   `json:"optional"`
}

// Well reports whether all that is needed is there.
func (d Diagnosis) Well() bool {
	return !slices.ContainsFunc(d.Machine, func(f Finding) bool { return !f.OK }) &&
		// mutant: doctor counts what is optional
		!slices.ContainsFunc(d.Replays, func(r Readiness) bool { return r.Needed && r.Ready < r.Replays })
}

// Print writes it for people, by what it makes possible.
func (d Diagnosis) Print(w io.Writer) error {
	var b strings.Builder
	printFindings(&b, "This machine", table.Wrong, d.Machine)
	fmt.Fprintln(&b, "\nReplays")
	for _, g := range d.Replays {
		g.print(&b)
	}
	fmt.Fprintln(&b)
	printFindings(&b, "Not needed for any of this", table.NotRun, d.Optional)
	_, err := io.WriteString(w, b.String())
	return err
}

func printFindings(b *strings.Builder, head, no string, findings []Finding) {
	fmt.Fprintf(b, "%s\n", head)
	for _, f := range findings {
		mark, says := table.Fine, f.Says
		if !f.OK {
			mark = no
		}
		if says != "" {
			says = ": " + says
		}
		indented(b, "  "+mark+" ", "    ", f.What+says)
	}
}

func (g Readiness) print(b *strings.Builder) {
	mark := table.Fine
	switch {
	case g.Ready == 0:
		mark = table.Wrong
	case g.Ready < g.Replays:
		mark = table.Unclear
	}
	need := "need"
	if g.Records == 1 {
		need = "needs"
	}
	indented(b, "  "+mark+" ", "    ", fmt.Sprintf("%d of %d replays: the %s that %s %s", g.Ready, g.Replays,
		wording.Counted(g.Records, "record"), need, g.Of))
	if len(g.Missing) > 0 {
		indented(b, "    missing: ", "      ", groupByProgram(g.Missing))
	}
	for n, way := range g.Ways {
		if n > 0 && strings.HasPrefix(g.Ways[n-1], "nodestorm target get ") {
			fmt.Fprintln(b, "    or without a registry:")
		}
		for line := range strings.SplitSeq(way, "\n") {
			if strings.HasPrefix(line, "nodestorm ") {
				b.WriteString("      " + shellLines(line) + "\n")
			} else {
				indented(b, "      ", "      ", line)
			}
		}
	}
}

// columns is how wide the lines are, but for a word that is longer.
const columns = 80

// indented writes a text with what begins its first line, after as many spaces as its other lines have.
func indented(b *strings.Builder, first, others, text string) {
	lines := wording.Wrap(strings.TrimLeft(first, " ")+text, columns-len(others))
	pad := first[:len(first)-len(strings.TrimLeft(first, " "))]
	b.WriteString(pad + strings.ReplaceAll(lines, "\n", "\n"+others) + "\n")
}

var flagValue = regexp.MustCompile(`(--[a-z-]+) ([^-\s]\S*)`)

// shellLines is a command on lines that a shell takes for one. A flag and its value stay together.
func shellLines(command string) string {
	const joined = "\x00" // no word of a command has it
	lines := wording.Wrap(flagValue.ReplaceAllString(command, "${1}"+joined+"${2}"), columns-len("        ")-len(` \`))
	return strings.NewReplacer("\n", " \\\n        ", joined, " ").Replace(lines)
}

// groupByProgram are builds in fewer words: the versions of a program behind its name.
func groupByProgram(refs []string) string {
	var text strings.Builder
	last := ""
	for _, build := range refs {
		name, version, _ := strings.Cut(build, "@")
		version, _, _ = strings.Cut(version, " for ")
		_, provider, _ := strings.Cut(build, " for ")
		switch program := strings.TrimSpace(name + " for " + provider); program {
		case last:
			fmt.Fprintf(&text, ", %s", version)
		default:
			if last = program; text.Len() > 0 {
				text.WriteString("; ")
			}
			if provider != "" {
				name += " (" + provider + ")"
			}
			fmt.Fprintf(&text, "%s %s", name, version)
		}
	}
	return text.String()
}
