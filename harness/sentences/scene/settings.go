package scene

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/words"
)

var (
	flagName     = regexp.MustCompile(`^-{0,2}[a-z0-9][a-z0-9-]*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Flags reads rows of a flag, with or without its dashes, and its value. One that is there
// more than once is given more than once.
func Flags(table [][]string) (all []string, err error) {
	err = pairs(table, "flag", "--scan-interval | 20s", func(name, value string) error {
		if !flagName.MatchString(name) {
			return fmt.Errorf("%q is no flag, such as --scan-interval", name)
		}
		all = append(all, "--"+strings.TrimLeft(name, "-")+"="+value)
		return nil
	})
	return all, err
}

// Variables reads rows of a variable and its value.
func Variables(table [][]string) (all []manifest.Variable, err error) {
	err = pairs(table, "variable", "NAME | value", func(name, value string) error {
		if !variableName.MatchString(name) {
			return fmt.Errorf("%q is no environment variable, such as CAPI_GROUP", name)
		}
		if slices.ContainsFunc(all, func(v manifest.Variable) bool { return v.Name == name }) {
			return fmt.Errorf("%s is there twice", name)
		}
		all = append(all, manifest.Variable{Name: name, Value: value})
		return nil
	})
	return all, err
}

// pairs reads a table of names and values. The first row may say what they are.
func pairs(table [][]string, what, example string, take func(name, value string) error) error {
	if table == nil {
		return fmt.Errorf("want a table below the step: | %s |", example)
	}
	taken := 0
	for i, row := range table {
		if len(row) != 2 {
			return fmt.Errorf("row %d has %d cells: want a %s and its value", i+1, len(row), what)
		}
		name, value := row[0], row[1]
		if i == 0 && name == what && value == "value" {
			continue
		}
		if err := take(name, value); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		taken++
	}
	if taken == 0 {
		return fmt.Errorf("the table has no %s", what)
	}
	return nil
}

// WantsFlags are known to the target that a sentence starts with a table of flags, WantsUnlisted need not be.
func WantsFlags(a words.Args) (w Wants, err error) {
	w.Flags, err = Flags(a.Table)
	for _, flag := range w.Flags {
		if value, are := strings.CutPrefix(flag, "--feature-gates="); are {
			w.Gates = append(w.Gates, Gates(value)...)
		}
	}
	return w, err
}

// Gates are the names of those feature gates that are not off in a list such as StaticCapacity=true,NodeRepair=false.
func Gates(list string) (names []string) {
	for gate := range strings.SplitSeq(list, ",") {
		if name, value, is := strings.Cut(gate, "="); is && value != "false" {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// WantsUnlisted see WantsFlags.
func WantsUnlisted(a words.Args) (w Wants, err error) {
	w.Unlisted, err = Flags(a.Table)
	return w, err
}

// WithFlags checks a table of flags, and then the rest.
func WithFlags(check func(*Feature, words.Args) error) func(*Feature, words.Args) error {
	return func(f *Feature, a words.Args) error {
		if _, err := Flags(a.Table); err != nil {
			return err
		}
		return check(f, a)
	}
}

// Starts notes which program runs as the target: there is one.
func (f *Feature) Starts(program string) error {
	// mutant: a scenario may have two targets
	if f.Target != "" && f.Target != program {
		return fmt.Errorf("the scenario has %s already, and a run has one target: leave one of them out", f.Target)
	}
	f.Target = program
	return nil
}

// Brings notes that a program runs, with the kinds of objects that it has.
func (f *Feature) Brings(program string) {
	if f.Runs == nil {
		f.Runs = map[string]bool{}
	}
	f.Runs[program] = true
}
