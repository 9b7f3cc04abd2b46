package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamedCommands are the old names of commands, and what calls them now. CHANGELOG.md promises that an
// old name works for one minor version, and says the new one.
var renamedCommands = map[string]string{
	"setup": "target get --all --build",
	"pull":  "target get --pull",
	"image": "target image",
	"merge": "nightly merge",
	"fault": "up fault",
}

// Current returns the arguments with a renamed command as it is called now.
func (e *Console) Current(args []string) []string {
	at := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") && arg != "help" })
	if at < 0 || renamedCommands[args[at]] == "" {
		return args
	}
	now := renamedCommands[args[at]]
	e.noteRenamed(args[at], now)
	if slices.Contains(args[:at], "help") {
		now, _, _ = strings.Cut(now, " --")
	}
	return slices.Concat(args[:at], strings.Fields(now), args[at+1:])
}

// RenamedFlag has a flag of a command work under an old name too, see renamedCommands.
func (e *Console) RenamedFlag(c *cobra.Command, old, now string) {
	alias(c, old, now, func() { e.noteRenamed("--"+old, "--"+now) })
}

// alias has a flag of a command work under another name too; used is called when it does.
func alias(c *cobra.Command, other, name string, used func()) {
	before := c.Flags().GetNormalizeFunc()
	c.Flags().SetNormalizeFunc(func(f *pflag.FlagSet, called string) pflag.NormalizedName {
		if called == other {
			used()
			called = name
		}
		return before(f, called)
	})
}

func (e *Console) noteRenamed(old, now string) {
	text := fmt.Sprintf("%s is now %s; the old name works for one more minor version", old, now)
	if !slices.Contains(e.renamed, text) {
		e.renamed = append(e.renamed, text)
	}
}

// SayRenamed names the new names of what was called by an old one.
func (e *Console) SayRenamed() {
	for _, text := range e.renamed {
		e.Remark("%s", text)
	}
}

// Hide leaves flags out of help: they work, and few need them.
func Hide(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		c.Flags().Lookup(name).Hidden = true
	}
}
