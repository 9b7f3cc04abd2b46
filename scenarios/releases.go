package scenarios

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/strict"
)

// ReleasesFile is where the releases are, beside the systems' folders.
const ReleasesFile = "releases.yaml"

//go:embed releases.yaml
var builtinReleases []byte

// Releases are those that there are of each autoscaler.
type Releases map[string]struct {
	Releases []string `json:"releases"` // oldest first
	// Verified are those that a record of a system is verified on if it names none.
	Verified map[string][]string `json:"verified"`
}

// ReadReleases reads and checks a text like releases.yaml. The error is all that is wrong.
func ReadReleases(text []byte) (Releases, error) {
	var of Releases
	var wrong []error
	err := strict.Unmarshal(text, &of)
	if all := (strict.Problems)(nil); errors.As(err, &all) {
		for _, problem := range all {
			wrong = append(wrong, errors.New(problem))
		}
	} else if err != nil {
		return nil, fmt.Errorf("scenarios/%s: %w", ReleasesFile, err)
	} else {
		wrong = of.problems()
	}
	if len(wrong) == 0 {
		return of, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var all Problems
	for _, problem := range wrong {
		field, line := Locate(&document, problem.Error())
		all = append(all, Problem{"scenarios/" + ReleasesFile, line, field, problem.Error()})
	}
	return nil, all
}

func (of Releases) problems() (wrong []error) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !slices.Contains(Autoscalers, name) {
			add("%s: unknown autoscaler (allowed: %s)%s", name, strings.Join(Autoscalers, ", "), strict.Meant(name, Autoscalers))
			continue
		}
		var last *semver.Version
		for i, release := range of[name].Releases {
			v, err := semver.NewVersion(release)
			switch {
			case err != nil:
				add("%s.releases[%d]: %q is no version (want for example v1.6.4)", name, i, release)
				continue
			case last != nil && !v.GreaterThan(last):
				add("%s.releases[%d]: %s is not newer than the one before", name, i, release)
			}
			last = v
		}
		for _, system := range slices.Sorted(maps.Keys(of[name].Verified)) {
			if !slices.Contains(Systems, system) {
				add("%s.verified.%s: unknown system (allowed: %s)%s", name, system, strings.Join(Systems, ", "), strict.Meant(system, Systems))
			}
			for i, release := range of[name].Verified[system] {
				if err := of.checkRelease(name, release); err != nil {
					add("%s.verified.%s[%d]: %w", name, system, i, err)
				}
			}
		}
	}
	return wrong
}

func (of Releases) checkRelease(autoscaler, release string) error {
	there := of[autoscaler].Releases
	if slices.Contains(there, release) {
		return nil
	}
	return fmt.Errorf("there is no release %q of %s (there are: %s)%s", release, autoscaler, strings.Join(there, ", "),
		strict.Meant(release, there))
}

// targets are what the ranges of a record say of the releases that it names or that it is
// verified on by default: the affected ones first.
func (of Releases) targets(r *Record) ([]Target, error) {
	for _, of := range []struct {
		field string
		Range
	}{{"affected", r.Affected}, {"fixed", r.Fixed}} {
		if of.Range == "" {
			return nil, fmt.Errorf(`%s is missing, and so are targets: want a range of releases, like ">=v1.0.0, <v1.7.0", or none`, of.field)
		}
		if _, err := of.Has("0.0.0"); err != nil {
			return nil, fmt.Errorf("%s: %w", of.field, err)
		}
	}
	there := of[r.Autoscaler].Releases
	says := make([]Expectation, len(there))
	chosen := slices.Clone(of[r.Autoscaler].Verified[r.System])
	for i, release := range there {
		says[i] = r.Expected(r.Autoscaler + "@" + release)
		if i > 0 && says[i] != "" && says[i-1] != "" && says[i] != says[i-1] {
			chosen = append(chosen, there[i-1], release)
		}
	}
	if r.Affected != None && !slices.Contains(says, Reproduced) {
		return nil, fmt.Errorf("affected: %q has none of the releases that there are of %s: %s", r.Affected, r.Autoscaler,
			strings.Join(there, ", "))
	}
	if r.Affected == None && !slices.Contains(says, Healthy) {
		return nil, fmt.Errorf("fixed: %q has none of the releases that there are of %s: %s", r.Fixed, r.Autoscaler, strings.Join(there, ", "))
	}
	for i, release := range r.Releases {
		if err := of.checkRelease(r.Autoscaler, release); err != nil {
			return nil, fmt.Errorf("releases[%d]: %w", i, err)
		}
		if says[slices.Index(there, release)] == "" {
			return nil, fmt.Errorf("releases[%d]: neither affected nor fixed has %s", i, release)
		}
	}
	if len(r.Releases) > 0 {
		chosen = r.Releases
	}
	var affected, fixed []Target
	for i, release := range there {
		switch t := (Target{Name: r.Autoscaler + "@" + release, Expected: says[i]}); {
		case !slices.Contains(chosen, release):
		case t.Expected == Reproduced:
			affected = append(affected, t)
		case t.Expected == Healthy:
			fixed = append(fixed, t)
		}
	}
	if len(affected)+len(fixed) == 0 {
		return nil, fmt.Errorf("releases is missing: no release is verified by default for records of the system %s about %s",
			r.System, r.Autoscaler)
	}
	return append(affected, fixed...), nil
}

// releasesIn are those of a catalogue, or else those that are built in.
func releasesIn(fsys fs.FS) (Releases, error) {
	text, err := fs.ReadFile(fsys, ReleasesFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = builtinReleases, nil
	}
	if err != nil {
		return nil, err
	}
	return ReadReleases(text)
}

// ReleasesOf are those of an autoscaler that the built-in catalogue knows, oldest first.
func ReleasesOf(autoscaler string) ([]string, error) {
	all, err := ReadReleases(builtinReleases)
	return all[autoscaler].Releases, err
}

// ReleaseBefore is the n-th release before a version, counted from 1, of those that the built-in catalogue knows. Before what
// has no release's name, such as a build of one's own, the last release of all comes first.
func ReleaseBefore(autoscaler, version string, n int) (string, error) {
	releases, err := ReleasesOf(autoscaler)
	if err != nil {
		return "", err
	}
	if v, err := semver.NewVersion(version); err == nil {
		releases = slices.DeleteFunc(releases, func(release string) bool { return !semver.MustParse(release).LessThan(v) })
	}
	if n > len(releases) {
		return "", fmt.Errorf("nodestorm knows %d releases of %s before %s, and wants the one that is %d before it", len(releases), autoscaler,
			version, n)
	}
	return releases[len(releases)-n], nil
}
