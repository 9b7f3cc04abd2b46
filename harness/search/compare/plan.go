package compare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/workload"
	"nodestorm/reports/comparison"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/strict"
)

// Options are what people say of a comparison that is to be played.
type Options struct {
	// Variants and Sweeps are as ParseVariant and Variant.Sweep read them.
	Variants, Sweeps []string
	// Given is the feature of the world, of variants that name none; Cloud is that of a usual one. Both may be empty.
	Given, Cloud string
	// Seeds is how often each variant plays.
	Seeds int
	// Same lets variants be the same.
	Same bool
}

// Plan is a comparison that can be played.
type Plan struct {
	// Name is that of the workload.
	Name     string
	Variants []Side
	Seeds    int
	text     []byte // the file
	work     workload.Workload
}

// Side is a variant with its world.
type Side struct {
	Variant
	world World
}

const mostBytes = 1 << 20

// NewPlan reads the file of a workload and all that is said of its comparison, with the seeds from the first on, and finds
// what is wrong with it before anything starts.
func NewPlan(file string, o Options, first uint64) (p Plan, err error) {
	p.Seeds = o.Seeds
	if o.Seeds < 1 {
		return p, fmt.Errorf("--seeds %d: want 1 or more", o.Seeds)
	}
	if p.text, err = strict.ReadFile(file, mostBytes); err != nil {
		return p, strict.WithHint(err, "name a workload (nodestorm help schedules), or folders of runs")
	}
	if p.work, err = workload.Read(p.text); err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	p.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	variants, err := o.read()
	if err != nil {
		return p, err
	}
	for _, v := range variants {
		s := Side{Variant: v}
		if s.world, err = o.worldOf(v); err != nil {
			return p, fmt.Errorf("%s: %w", v, err)
		}
		for n := range o.Seeds {
			acts, err := p.work.Expand(first + uint64(n))
			if err == nil {
				err = s.world.Fits(acts)
			}
			if err != nil {
				return p, fmt.Errorf("%s: %w", file, err)
			}
		}
		if _, err := p.Feature(s); err != nil {
			return p, err
		}
		p.Variants = append(p.Variants, s)
	}
	return p, nil
}

// read are the variants.
func (o Options) read() (all []Variant, err error) {
	for _, text := range o.Variants {
		v, err := ParseVariant(text)
		if err != nil {
			return nil, fmt.Errorf("--variant %q: %w", text, err)
		}
		v.Given = cmp.Or(v.Given, o.Given)
		all = append(all, v)
	}
	for _, sweep := range o.Sweeps {
		var more []Variant
		for _, v := range all {
			with, err := v.Sweep(sweep)
			if err != nil {
				return nil, fmt.Errorf("--flag %s: %w", sweep, err)
			}
			more = append(more, with...)
		}
		all = more
	}
	return all, Check(all, o.Same)
}

func (o Options) worldOf(v Variant) (w World, err error) {
	if v.Given == "" {
		return UsualWorld(v.Target.Name, o.Cloud)
	}
	text, err := strict.ReadFile(v.Given, mostBytes)
	if err != nil {
		return w, strict.WithHint(err, "name a feature whose Givens are the world")
	}
	if w, err = ReadWorld(text, v.Target.Name); err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(v.Given), err)
	}
	return w, err
}

// Feature is what a variant plays.
func (p Plan) Feature(s Side) (string, error) { return s.world.Feature(s.Variant, p.Name, p.text) }

// Named are the variants without runs, each with another name.
func (p Plan) Named() (all []comparison.Variant) {
	for i, s := range p.Variants {
		v := comparison.Variant{Name: s.String(), Swept: s.Swept}
		if slices.ContainsFunc(all, func(other comparison.Variant) bool { return other.Name == v.Name }) {
			v.Name = fmt.Sprintf("%s (variant %d)", s, i+1)
		}
		all = append(all, v)
	}
	return all
}

// Write writes what a variant plays into a folder, which it makes, and finds what is wrong with that.
func (p Plan) Write(s Side, folder string) (feature string, err error) {
	feature = filepath.Join(folder, p.Name+".feature")
	text, err := p.Feature(s)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(feature, []byte(text), 0o644)
	}
	if err != nil {
		return "", err
	}
	if wrong := replay.ReadFolder(feature).Problems; len(wrong) > 0 {
		return "", exit.UsageError(fmt.Errorf("%s: %s", s, wrong[0].Text))
	}
	return feature, nil
}

// NewFolder makes a folder for the runs of a comparison below another: compare-1, or the next that is not there.
func NewFolder(below string) (string, error) {
	if err := os.MkdirAll(below, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		folder := filepath.Join(below, fmt.Sprintf("compare-%d", n))
		if err := os.Mkdir(folder, 0o755); err == nil || !os.IsExist(err) {
			return folder, err
		}
	}
}

// IsFolder reports whether there is a folder of that name.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Play has all variants played with one seed after the other, so that what changes on this machine meets all of them, and
// with every other seed in the other direction: of each two, each is as often before the other, since what is played first
// finds another machine. play is given the place of a variant, a seed, and what progress begins with.
func (p Plan) Play(ctx context.Context, first uint64, play func(context.Context, int, uint64, string) error) error {
	for n := range p.Seeds {
		seed := first + uint64(n)
		for i := range p.Variants {
			nth := i
			if n%2 == 1 {
				nth = len(p.Variants) - 1 - i
			}
			label := fmt.Sprintf("[%d/%d] seed %d, %s: ", n*len(p.Variants)+i+1, p.Seeds*len(p.Variants), seed, p.Variants[nth])
			if err := play(ctx, nth, seed, label); err != nil {
				return err
			}
		}
	}
	return nil
}

// Print prints what would be played, with the first seed.
func (p Plan) Print(w io.Writer, first uint64) error {
	for _, s := range p.Variants {
		text, err := p.Feature(s)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, text)
	}
	acts, err := p.work.Expand(first)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "With the seed %d it does this:\n\n", first)
	for _, a := range acts {
		fmt.Fprintf(w, "  %s\n", a)
	}
	_, err = fmt.Fprintf(w, "\n%s of %s in virtual time each\n", wording.Counted(p.Seeds*len(p.Variants), "run"), p.work.Lasts.Short())
	return err
}

// CheckMeasures finds names that no measure has.
func CheckMeasures(asked []string) error {
	var names []string
	for _, m := range measure.All() {
		names = append(names, m.Name)
	}
	for _, name := range asked {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no measure %q%s; want some of %s", name, strict.Meant(name, names), strings.Join(names, ", "))
		}
	}
	return nil
}

// StoredVariants are those with the runs in the folders, in this order, which have all played one workload. Without any that
// are named they have the names of their targets. It returns the workload's name as well.
func StoredVariants(ctx context.Context, folders []string, named []comparison.Variant) (all []comparison.Variant, of string, err error) {
	for i, folder := range folders {
		var as comparison.Variant
		if len(named) > 0 {
			as = named[i]
		}
		v, scenario, err := Stored(ctx, folder, as.Name)
		if err != nil {
			return nil, "", err
		}
		v.Swept = as.Swept
		if of = cmp.Or(of, scenario); scenario != of {
			return nil, "", fmt.Errorf("%s has runs of %s, and %s of %s: want one workload", folders[0], of, folder, scenario)
		}
		all = append(all, v)
	}
	return all, of, nil
}
