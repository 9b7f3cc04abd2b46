package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nodestorm/harness/target"
	"nodestorm/scenarios"
)

// Provenance says what was run as far as the names and the manifests of the target
// and of Kubernetes do not: nodestorm itself, and what the user put in place of what
// the names say.
type Provenance struct {
	// Nodestorm is what the program was built from, SHA256 the program; Features is
	// what the features are of, which are part of the program if no checkout was named.
	Nodestorm Code   `json:"nodestorm"`
	SHA256    string `json:"sha256,omitempty"`
	Features  Code   `json:"features"`
	// Feature is that of the scenario, if it is a user's own, and Beside the files that
	// its steps name.
	Feature *Input  `json:"feature,omitempty"`
	Beside  []Input `json:"beside,omitempty"`
	// ControlPlane is that of KUBEBUILDER_ASSETS; nil is Kubernetes' own.
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// Manifest is --manifest's file, Order --order's and those that it applies.
	Manifest *Input  `json:"manifest,omitempty"`
	Order    []Input `json:"order,omitempty"`
	// With are the builds of --with, Parts the releases that the scenario names.
	With  []target.Manifest `json:"with,omitempty"`
	Parts []target.Manifest `json:"parts,omitempty"`
	// Stale are the builds whose source had changed since they were made.
	Stale []target.Ref `json:"stale,omitempty"`
}

// Code is a state of nodestorm's source: its commit, and whether it held changes that
// are in none. Without git there is no commit.
type Code struct {
	Commit string `json:"commit,omitempty"`
	Dirty  bool   `json:"dirty,omitempty"`
}

func (c Code) String() string {
	if c.Commit == "" {
		return "no known commit"
	}
	if c.Dirty {
		return short(c.Commit) + " with uncommitted changes"
	}
	return short(c.Commit)
}

// Input is a file that a flag named, by its base name, or one below that's folder.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func (f Input) String() string { return fmt.Sprintf("%s (sha256 %s)", f.Name, short(f.SHA256)) }

// ControlPlane is a folder with another release's programs, by its base name.
type ControlPlane struct {
	Name string `json:"name"`
	// Version is what kube-apiserver says of itself, empty if it says nothing.
	Version  string  `json:"version,omitempty"`
	Programs []Input `json:"programs"`
}

// short is what a text for people has of a commit or of a digest in hex.
func short(hash string) string { return hash[:min(12, len(hash))] }

// built is the commit that this program was built from, with "+dirty" behind it if
// there were changes besides. The Makefile has the linker set it.
var built string

// Self is what this program was built from, and what the features are of: the checkout,
// or the program where that is empty. The program of a test, which does not know its
// commit, is of the checkout around it; of any other the checkout may hold another.
func Self(ctx context.Context, around, checkout string) (program, features Code) {
	state := func(dir string) (c Code) {
		if dir != "" {
			c.Commit, c.Dirty = target.GitState(ctx, dir)
		}
		return c
	}
	program.Commit, program.Dirty = strings.CutSuffix(built, "+dirty")
	if program.Commit == "" {
		program = stamped()
	}
	if program.Commit == "" && ofTest {
		program = state(around)
	}
	if checkout == "" {
		return program, program
	}
	return program, state(checkout)
}

// ofTest tells whether this is the program that go test has just built and runs.
var ofTest = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && strings.HasSuffix(info.Path, ".test")
}()

// stamped is what the go command notes in programs that it builds in a checkout.
func stamped() (c Code) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return c
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			c.Commit = s.Value
		case "vcs.modified":
			c.Dirty = s.Value == "true"
		}
	}
	return c
}

// Program is the SHA-256 of this program, in hex; empty if it cannot be read.
var Program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := Digest(path)
	if err != nil {
		return ""
	}
	return file.SHA256
})

// Digest is that of the file at path.
func Digest(path string) (Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return Input{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return Input{}, err
	}
	return Input{Name: filepath.Base(path), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// KubernetesVersion is the release of the API server that the run had.
func (r Run) KubernetesVersion() string {
	if r.Provenance == nil || r.Provenance.ControlPlane == nil {
		return r.Kubernetes.Version
	}
	if v := r.Provenance.ControlPlane.Version; v != "" {
		return v + " (KUBEBUILDER_ASSETS)"
	}
	return "of KUBEBUILDER_ASSETS"
}

// Departures say in which ways the run was something else than its names say, a line
// each, without a path. A run with any proves nothing of a release.
func (r Run) Departures() (list []string) {
	var p Provenance
	if r.Provenance != nil {
		p = *r.Provenance
	}
	for _, m := range slices.Concat([]target.Manifest{r.Target}, p.With, p.Parts) {
		if m.Source.Dirty {
			list = append(list, fmt.Sprintf("%s was built from %s", m.Ref, sourceOf(m)))
		}
	}
	for _, ref := range p.Stale {
		list = append(list, fmt.Sprintf("the source of %s had changed since it was built, and what ran is the old build", ref))
	}
	if c := p.ControlPlane; c != nil {
		programs := make([]string, len(c.Programs))
		for i, f := range c.Programs {
			programs[i] = f.String()
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("the control plane was that of KUBEBUILDER_ASSETS=%s %s", c.Name, c.Version))+": "+strings.Join(programs, ", "))
	}
	if p.Manifest != nil {
		list = append(list, fmt.Sprintf("%s ran as %s has it", r.Target.Ref, p.Manifest))
	}
	for _, m := range p.With {
		list = append(list, fmt.Sprintf("%s (sha256 %s) was in the place of nodestorm's own", m.Ref, short(m.SHA256)))
	}
	if len(p.Order) > 0 {
		files := make([]string, len(p.Order))
		for i, f := range p.Order {
			files[i] = f.String()
		}
		list = append(list, "the installer's order was that of "+strings.Join(files, ", "))
	}
	if r.Provenance == nil {
		return list // of before
	}
	if p.Nodestorm.Dirty || p.Nodestorm.Commit == "" {
		list = append(list, fmt.Sprintf("nodestorm itself is of %s (program sha256 %s)", p.Nodestorm, short(p.SHA256)))
	}
	if p.Feature != nil && builtin()[r.ID] {
		said := fmt.Sprintf("the scenario is that of %s", p.Feature)
		for _, f := range p.Beside {
			said += fmt.Sprintf(", with %s", f)
		}
		list = append(list, said)
	}
	if p.Features != p.Nodestorm {
		list = append(list, fmt.Sprintf("the features are of %s, and nodestorm of %s", p.Features, p.Nodestorm))
	}
	return list
}

// builtin are the IDs that are nodestorm's own: a user's own scenario may have taken one.
var builtin = sync.OnceValue(func() map[string]bool {
	ids := map[string]bool{}
	if catalogue, err := scenarios.Load(); err == nil {
		for _, record := range catalogue.Records() {
			ids[record.ID] = true
		}
	}
	return ids
})

// sourceOf tells people where a build came from, without a path.
func sourceOf(m target.Manifest) string {
	var parts []string
	switch src := m.Source; src.Kind {
	case target.FromFolder:
		code := Code{src.Commit, src.Dirty}.String()
		if src.Commit == "" {
			code = "a folder without git"
		}
		parts = append(parts, code)
		if src.Sum != "" {
			parts = append(parts, "source "+src.Sum)
		}
	case target.FromBinary:
		parts = append(parts, "a program as given", filepath.Base(src.File))
	case target.FromImage:
		parts = append(parts, "an image", src.Digest)
	case target.FromOrder:
		parts = append(parts, "an installer's order", filepath.Base(src.File))
	default:
		parts = append(parts, src.Module, src.Version)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." }), ", ")
}

// builds name all programs of the run that somebody built, with their digests.
func (r Run) builds() (list []string) {
	manifests := []target.Manifest{r.Target, r.Kubernetes}
	if r.Provenance != nil {
		manifests = slices.Concat(manifests, r.Provenance.With, r.Provenance.Parts)
	}
	for _, m := range manifests {
		if m.SHA256 != "" {
			list = append(list, fmt.Sprintf("%s sha256 %s", m.Ref, m.SHA256))
		}
	}
	if r.Provenance != nil && r.Provenance.SHA256 != "" {
		list = append(list, "nodestorm sha256 "+r.Provenance.SHA256)
	}
	if r.Provenance != nil && r.Provenance.Feature != nil {
		for _, f := range append([]Input{*r.Provenance.Feature}, r.Provenance.Beside...) {
			list = append(list, f.Name+" sha256 "+f.SHA256)
		}
	}
	return list
}

// repeat is the command that makes the run again, with what else it takes behind it
// as a comment. Files and folders are named as they were called, wherever they are.
func (r Run) repeat(departures []string) string {
	words := []string{"nodestorm", "run", r.ID, "--target", r.Target.Ref.String(), "--seed", strconv.FormatUint(r.Seed, 10)}
	if r.Clock.Mode != "" && r.Clock.Mode != "auto" {
		words = append(words, "--clock", r.Clock.Mode)
	}
	if p := r.Provenance; p != nil {
		if p.Feature != nil && r.Unrecorded {
			words[2] = quoted(path.Base(p.Feature.Name))
		} else if p.Feature != nil {
			folder, _, _ := strings.Cut(p.Feature.Name, "/")
			words = append(words, "--catalogue", quoted(folder))
		}
		if p.ControlPlane != nil {
			words = append([]string{"KUBEBUILDER_ASSETS=" + quoted(p.ControlPlane.Name)}, words...)
		}
		if p.Manifest != nil {
			words = append(words, "--manifest", quoted(p.Manifest.Name))
		}
		if len(p.Order) > 0 {
			words = append(words, "--order", quoted(p.Order[0].Name))
		}
		for _, m := range p.With {
			words = append(words, "--with", quoted(m.Ref.String()))
		}
	}
	if len(departures) > 0 {
		words = append(words, "#", strings.Join(departures, "; "))
	}
	return strings.Join(words, " ")
}

// quoted is a word that a shell takes as it is.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./@:+-]+$`)
