// Package compare has one workload played by several variants, and reads what came of it: what a variant is, the feature
// that it plays, and the measures of its runs. Which variant is better is the business of reports/comparison.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/reports/comparison"
	"nodestorm/sim/strict"
)

// Variant is a way to run an autoscaler.
type Variant struct {
	Target builds.Ref
	// Flags and Environment are what the target is given beside what it has anyway.
	Flags, Environment []Setting
	// Kubernetes is the release of the control plane, Manifest the file with the target's Deployment, and Given the feature
	// with its world. Empty: as for all.
	Kubernetes, Manifest, Given string
	// Swept is what sweeps have set, in their order.
	Swept []Setting
}

// Setting is a flag or a variable, and its value.
type Setting = comparison.Setting

var (
	flagWord     = regexp.MustCompile(`^--([a-z0-9][a-z0-9-]*)=(\S+)$`)
	variableWord = regexp.MustCompile(`^([A-Z_][A-Z0-9_]*)=(\S+)$`)
	otherWord    = regexp.MustCompile(`^([a-z]+)=(\S+)$`)
	others       = []string{"given", "kubernetes", "manifest"}
)

// ParseVariant reads a variant: a target, then words that say what it has.
func ParseVariant(text string) (v Variant, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return v, errors.New("it is empty: want NAME@VERSION, such as karpenter@v1.14.1")
	}
	if v.Target, err = builds.ParseRef(words[0]); err != nil {
		return v, err
	}
	for _, word := range words[1:] {
		if err := v.take(word); err != nil {
			return v, err
		}
	}
	// The order in which settings are named means nothing.
	byName := func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortStableFunc(v.Flags, byName)
	slices.SortStableFunc(v.Environment, byName)
	return v, nil
}

func (v *Variant) take(word string) error {
	set := func(list *[]Setting, m []string) error {
		if slices.ContainsFunc(*list, func(s Setting) bool { return s.Name == m[1] }) {
			return fmt.Errorf("%s is there twice", m[1])
		}
		*list = append(*list, Setting{Name: m[1], Value: m[2]})
		return nil
	}
	if m := flagWord.FindStringSubmatch(word); m != nil {
		return set(&v.Flags, m)
	}
	if m := variableWord.FindStringSubmatch(word); m != nil {
		return set(&v.Environment, m)
	}
	if m := otherWord.FindStringSubmatch(word); m != nil {
		to := map[string]*string{"given": &v.Given, "kubernetes": &v.Kubernetes, "manifest": &v.Manifest}[m[1]]
		switch {
		case to == nil:
			return fmt.Errorf("%s: unknown setting %q%s; want one of %s", word, m[1], strict.Meant(m[1], others), strings.Join(others, ", "))
		case *to != "":
			return fmt.Errorf("%s is there twice", m[1])
		}
		*to = m[2]
		return nil
	}
	return fmt.Errorf("%q: want a flag as in --scan-interval=20s, a variable as in BATCH_IDLE_DURATION=5s, or one of %s with its value",
		word, strings.Join(others, ", "))
}

// String is the variant in the words that ParseVariant reads, with base names for paths.
func (v Variant) String() string {
	words := []string{v.Target.String()}
	for _, f := range v.Flags {
		words = append(words, "--"+f.Name+"="+f.Value)
	}
	for _, e := range v.Environment {
		words = append(words, e.Name+"="+e.Value)
	}
	for _, of := range []Setting{
		{Name: "kubernetes", Value: v.Kubernetes}, {Name: "manifest", Value: v.Manifest}, {Name: "given", Value: v.Given},
	} {
		if of.Value != "" {
			words = append(words, of.Name+"="+filepath.Base(of.Value))
		}
	}
	return strings.Join(words, " ")
}

// Sweep are the variant with each value of a flag or of a variable, NAME=VALUE,VALUE.
func (v Variant) Sweep(text string) (all []Variant, err error) {
	name, values, is := strings.Cut(text, "=")
	if !is || name == "" || values == "" {
		return nil, fmt.Errorf("%q: want NAME=VALUE,VALUE, as in scale-down-unneeded-time=1m,10m", text)
	}
	if !variableWord.MatchString(name + "=x") {
		name = "--" + strings.TrimLeft(name, "-")
	}
	for value := range strings.SplitSeq(values, ",") {
		one := v
		one.Flags, one.Environment = slices.Clone(v.Flags), slices.Clone(v.Environment)
		if err := one.take(name + "=" + value); err != nil {
			return nil, err
		}
		one.Swept = append(slices.Clone(v.Swept), Setting{Name: name, Value: value})
		all = append(all, one)
	}
	return all, nil
}

// Check finds out whether variants can be compared at all. Same allows for those that are the same, whose differences are
// chance.
func Check(variants []Variant, same bool) error {
	if len(variants) < 2 {
		return fmt.Errorf("%d variants are named, and a comparison needs two: add --variant 'NAME@VERSION [--flag=value]…'", len(variants))
	}
	seen := map[string]bool{}
	for _, v := range variants {
		key := fmt.Sprint(v)
		key += v.Manifest + v.Given
		// mutant: a variant is compared with itself and no word is said
		if seen[key] && !same {
			return fmt.Errorf("the variant %q is there twice, and would differ from itself by chance alone: leave one out, or add --same to see "+
				"that none is found", v)
		}
		seen[key] = true
		if v.Target.Name != variants[0].Target.Name && v.Given == "" {
			return fmt.Errorf("%s and %s are two programs, of which each has a world of its own: say which with given=FILE.feature",
				variants[0].Target, v.Target)
		}
	}
	return nil
}
