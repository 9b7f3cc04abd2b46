package clusterautoscaler

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world/container"
)

// Known are the flags of one build, by name without dashes, as it lists them
// itself.
type Known struct {
	Build string            // for errors: cluster-autoscaler@1.33.0
	flags map[string]string // what is said of them
}

// helpWithin bounds, in real time, how long a build may take to list its flags.
const helpWithin = 30 * time.Second

// QueryFlags runs the build with --help, which starts nothing; as a container by the settings.
func QueryFlags(ctx context.Context, t builds.Target, settings container.Settings) (Known, error) {
	ctx, cancel := context.WithTimeout(ctx, helpWithin)
	defer cancel()
	out, err := container.Help(ctx, t, settings) // its status is 2 with some versions
	if ctx.Err() != nil {
		return Known{}, fmt.Errorf("asking %s for its flags: no answer within %s", t.Ref, helpWithin)
	}
	known := parseHelp(out)
	k := Known{Build: t.Ref.String(), flags: known}
	if !k.Has("cloud-provider") || !k.Has("nodes") {
		if err == nil {
			err = fmt.Errorf("it lists no --cloud-provider and --nodes: is it a Cluster Autoscaler?")
		}
		return Known{}, fmt.Errorf("asking %s for its flags: %w", t.Ref, err)
	}
	return k, nil
}

// helpLine begins the description of a flag, as package pflag prints it.
var helpLine = regexp.MustCompile(`^ {2,6}(?:-\w, )?--([a-z0-9][a-z0-9-]*)(?:[ \[]|$)`)

func parseHelp(text []byte) map[string]string {
	known := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := helpLine.FindSubmatch(lines.Bytes()); m != nil {
			known[string(m[1])] = string(lines.Bytes()[len(m[0]):])
		}
	}
	return known
}

// Has reports whether the build knows a flag.
func (k Known) Has(name string) bool {
	_, has := k.flags[name]
	return has
}

// locked reports whether the build says that the flag has one value only.
func (k Known) locked(name string) bool { return strings.Contains(k.flags[name], "locked to ") }

// check makes sure that the build knows all flags.
func (k Known) check(f flags, whose string) error {
	for _, name := range f.names() {
		if !k.Has(name) {
			return fmt.Errorf("%s: %s knows no flag --%s%s", whose, k.Build, name, k.similar(name))
		}
	}
	return nil
}

// similar is the flag of the build that one is almost called like, or names some that begin alike.
func (k Known) similar(name string) string {
	all := slices.Sorted(maps.Keys(k.flags))
	if near := deploy.MeantFlag(name, all); near != "" {
		return near
	}
	word, _, _ := strings.Cut(name, "-")
	var found []string
	for _, known := range all {
		if strings.HasPrefix(known, word+"-") || known == word {
			found = append(found, "--"+known)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it has %s)", strings.Join(found[:min(4, len(found))], ", "))
}

// flags are a command line's, in order; a flag can be there more than once.
type flags []flag

type flag struct{ name, value string }

func (f *flags) add(name, value string) { *f = append(*f, flag{name, value}) }

// replace removes the flags that others has, and appends those.
func (f flags) replace(others flags) flags {
	kept := slices.DeleteFunc(slices.Clone(f), func(mine flag) bool { return others.has(mine.name) })
	return append(kept, others...)
}

func (f flags) has(name string) bool {
	return slices.ContainsFunc(f, func(g flag) bool { return g.name == name })
}

func (f flags) names() []string {
	var names []string
	for _, g := range f {
		names = append(names, g.name)
	}
	return names
}

func (f flags) args() []string {
	var args []string
	for _, g := range f {
		args = append(args, "--"+g.name+"="+g.value)
	}
	return args
}

// parseFlags reads a command line without the program's name: --name=value,
// --name value, or --name for a flag that is on. One dash is as good as two.
func parseFlags(args []string) (flags, error) {
	var f flags
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || name == "" {
			return nil, fmt.Errorf("argument %d is no flag: want --name=value", i+1)
		}
		if !given {
			value = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				value = args[i]
			}
		}
		f.add(strings.ReplaceAll(name, "_", "-"), value)
	}
	return f, nil
}
