package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) Variant {
	t.Helper()
	v, err := ParseVariant(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A variant says what it has, in any order, and prints as it is read.
func TestParseVariant(t *testing.T) {
	v := parsed(t, "cluster-autoscaler@1.33.0 --scan-interval=20s given=a/world.feature B=2 --expander=price A=x=y kubernetes=v1.33.1 manifest=/tmp/m.yaml")
	want := "cluster-autoscaler@1.33.0 --expander=price --scan-interval=20s A=x=y B=2 kubernetes=v1.33.1 manifest=m.yaml given=world.feature"
	if v.String() != want || v.Given != "a/world.feature" {
		t.Errorf("got %s, want %s", v, want)
	}
	for text, want := range map[string]string{
		"":                                 "want NAME@VERSION",
		"karpenter":                        "has no version",
		"karpenter@v1.7.0 scan=1":          `unknown setting "scan"; want one of given, kubernetes, manifest`,
		"karpenter@v1.7.0 manifst=x":       `did you mean "manifest"?`,
		"karpenter@v1.7.0 --fast":          `"--fast": want a flag as in --scan-interval=20s`,
		"karpenter@v1.7.0 A=1 A=2":         "A is there twice",
		"karpenter@v1.7.0 given=a given=b": "given is there twice",
	} {
		if _, err := ParseVariant(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Sweeps of two settings make every combination, and each variant has what was swept.
func TestSweepTwo(t *testing.T) {
	all, err := Options{Variants: []string{"karpenter@v1.7.0 C=3"}, Sweeps: []string{"B=1,2", "a=x,y"}}.read()
	var got []string
	for _, v := range all {
		got = append(got, fmt.Sprint(v.Swept))
	}
	want := []string{"[{B 1} {--a x}]", "[{B 1} {--a y}]", "[{B 2} {--a x}]", "[{B 2} {--a y}]"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// A flag with values makes a variant of each.
func TestSweep(t *testing.T) {
	v := parsed(t, "karpenter@v1.7.0 A=1")
	for text, want := range map[string][]string{
		"scale-down-unneeded-time=1m,10m": {"karpenter@v1.7.0 --scale-down-unneeded-time=1m A=1", "karpenter@v1.7.0 --scale-down-unneeded-time=10m A=1"},
		"--x=1":                           {"karpenter@v1.7.0 --x=1 A=1"},
		"BATCH=1s,2s":                     {"karpenter@v1.7.0 A=1 BATCH=1s", "karpenter@v1.7.0 A=1 BATCH=2s"},
	} {
		all, err := v.Sweep(text)
		var got []string
		for _, one := range all {
			got = append(got, one.String())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "=1", "x=", "A=2", "x=1,,2"} {
		if all, err := v.Sweep(text); err == nil {
			t.Errorf("%s: %v", text, all)
		}
	}
}

func TestCheck(t *testing.T) {
	one, other := parsed(t, "karpenter@v1.7.0 A=1 B=2"), parsed(t, "karpenter@v1.7.0 B=2 A=1")
	another := parsed(t, "cluster-autoscaler@1.33.0")
	for _, of := range []struct {
		variants []Variant
		same     bool
		want     string
	}{
		{[]Variant{one}, false, "1 variants are named, and a comparison needs two"},
		{[]Variant{one, other}, false, `the variant "karpenter@v1.7.0 A=1 B=2" is there twice`},
		{[]Variant{one, other}, true, ""},
		{[]Variant{one, another}, false, "are two programs, of which each has a world of its own"},
		{[]Variant{one, parsed(t, "cluster-autoscaler@1.33.0 given=a.feature")}, false, ""},
		{[]Variant{one, parsed(t, "karpenter@v1.14.1")}, false, ""},
	} {
		if err := Check(of.variants, of.same); (err == nil) != (of.want == "") || err != nil && !strings.Contains(err.Error(), of.want) {
			t.Errorf("%v: %v, want %q", of.variants, err, of.want)
		}
	}
}

// Each plays each seed once, and every other seed in the other direction.
func TestPlay(t *testing.T) {
	p := Plan{Seeds: 2, Variants: make([]Side, 3)}
	var got []string
	err := p.Play(t.Context(), 5, func(_ context.Context, nth int, seed uint64, label string) error {
		if want := fmt.Sprintf("[%d/6] seed %d, ", len(got)+1, seed); !strings.HasPrefix(label, want) {
			t.Errorf("%q, want %q", label, want)
		}
		got = append(got, fmt.Sprintf("%d with %d", nth, seed))
		return nil
	})
	if want := []string{"0 with 5", "1 with 5", "2 with 5", "2 with 6", "1 with 6", "0 with 6"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
