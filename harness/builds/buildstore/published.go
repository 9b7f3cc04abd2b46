package buildstore

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/sim/strict"
)

//go:embed published.yaml
var publishedText []byte

// publication is how a project publishes its releases.
type publication struct {
	Programs []PublishedProgram `json:"programs"`
	Etcd     map[string]string  `json:"etcd"` // by minor release
	// Built says why there are no images.
	Built string `json:"built"`
}

// PublishedProgram is one that is to be had in an image, under the reference that its project
// has published it.
type PublishedProgram struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	Path  string `json:"path"` // in the image; empty: what the image runs
}

var publications = func() (all map[string]publication) {
	if err := strict.Unmarshal(publishedText, &all); err != nil {
		panic(err) // it is part of the program
	}
	return all
}()

// UnpublishedError says that there are no images of a release that could run here.
type UnpublishedError struct {
	Ref builds.Ref
	why string
}

func (e *UnpublishedError) Error() string { return fmt.Sprintf("%s has to be built: %s", e.Ref, e.why) }

// Published are the programs that make up a release, as its project publishes them. The error
// is an *UnpublishedError.
func Published(ref builds.Ref) ([]PublishedProgram, error) {
	of, known := publications[ref.Name]
	switch {
	case !known:
		return nil, &UnpublishedError{ref, "no images of " + ref.Name + " are known"}
	case of.Built != "":
		return nil, &UnpublishedError{ref, of.Built}
	case ref.Race:
		return nil, &UnpublishedError{ref, "no project publishes programs with Go's race detector"}
	}
	version := "v" + strings.TrimPrefix(ref.Version, "v")
	if semver.Canonical(version) != version {
		return nil, &UnpublishedError{ref, "images are those of releases, which this is none of"}
	}
	var programs []PublishedProgram
	for _, p := range of.Programs {
		p.Image = strings.ReplaceAll(p.Image, "{version}", ref.Version)
		if strings.Contains(p.Image, "{etcd}") {
			etcd, known := of.Etcd[semver.MajorMinor(version)]
			if !known {
				return nil, &UnpublishedError{ref, "which etcd belongs to it is not known"}
			}
			p.Image = strings.ReplaceAll(p.Image, "{etcd}", etcd)
		}
		programs = append(programs, p)
	}
	return programs, nil
}
