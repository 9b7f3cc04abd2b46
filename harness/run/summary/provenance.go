package summary

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// KubernetesVersion is the release of the API server that the run had.
func KubernetesVersion(r run.Run) string {
	if r.OnKind() {
		return r.Kubernetes.Version + " (kind)"
	}
	if r.Provenance == nil || r.Provenance.ControlPlane == nil {
		return r.Kubernetes.Version
	}
	c := r.Provenance.ControlPlane
	if c.Name == "" {
		return c.Version
	}
	return strings.TrimSpace(c.Version + " (of the folder " + c.Name + ")")
}

// Departures say in which ways the run was something else than its names say, a line
// each, without a path. A run with any proves nothing of a release.
func Departures(r run.Run) (list []string) {
	var p run.Provenance
	if r.Provenance != nil {
		p = *r.Provenance
	}
	for _, m := range slices.Concat([]builds.Manifest{r.Target}, p.With, p.Parts) {
		if m.Source.Dirty {
			list = append(list, fmt.Sprintf("%s was built from %s", m.Ref, sourceOf(m)))
		}
	}
	for _, m := range append([]builds.Manifest{r.Target, r.Kubernetes}, p.Parts...) {
		if own := NamedSo(m); own != "" {
			list = append(list, fmt.Sprintf("%s is called so and is no build of that release: %s", m.Ref, own))
		}
	}
	if onOtherCloud(r) {
		list = append(list, fmt.Sprintf("the cloud was %s, and not %s", r.Target.Provider, builds.Kwok))
	}
	if record := builtin()[r.ID]; r.Target.Race && !record.Race {
		list = append(list, fmt.Sprintf("%s was built with Go's race detector", r.Target.Ref))
	}
	for _, ref := range p.Stale {
		list = append(list, fmt.Sprintf("the source of %s had changed since it was built, and what ran is the old build", ref))
	}
	list = append(list, replaced(r, p)...)
	if r.Provenance == nil {
		return list // of before
	}
	if p.Nodestorm.Dirty || p.Nodestorm.Commit == "" {
		list = append(list, fmt.Sprintf("nodestorm itself is of %s (program sha256 %s)", p.Nodestorm, run.Short(p.SHA256)))
	}
	if _, known := builtin()[r.ID]; p.Feature != nil && known {
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

// NamedSo says what a program is that has the name of a release and is no build of it; empty of all others, and where
// uncommitted changes say it already.
func NamedSo(m builds.Manifest) string {
	if m.Name == "" || m.OfRelease() || m.Source.Dirty {
		return ""
	}
	return fmt.Sprintf("%s (sha256 %s)", sourceOf(m), run.Short(m.SHA256))
}

// replaced are those of what the user put in place of parts of the world.
func replaced(r run.Run, p run.Provenance) (list []string) {
	if r.OnKind() {
		list = append(list,
			fmt.Sprintf("the cluster was one of kind, with the control plane of %s in containers, in real time", r.Kubernetes.Ref))
	}
	if p.Machines != "" {
		list = append(list, "the instances of the cloud were containers, which have joined by their user data")
	}
	if c := p.ControlPlane; c != nil && c.Name != "" {
		folder := strings.TrimSpace(fmt.Sprintf("the control plane was that of the folder %s, %s", c.Name, c.Version))
		list = append(list, folder+": "+listed(c.Programs))
	}
	if p.Manifest != nil {
		list = append(list, fmt.Sprintf("%s ran as %s has it", r.Target.Ref, p.Manifest))
	}
	for _, m := range p.With {
		list = append(list, fmt.Sprintf("%s (sha256 %s) was in the place of nodestorm's own", m.Ref, run.Short(m.SHA256)))
	}
	if len(p.Order) > 0 {
		list = append(list, "the installer's order was that of "+listed(p.Order))
	}
	return list
}

func listed(files []run.Input) string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.String()
	}
	return strings.Join(all, ", ")
}

// builtin are the records that are nodestorm's own: a user's own scenario may have taken the ID of one.
var builtin = sync.OnceValue(func() map[string]scenarios.Record {
	known := map[string]scenarios.Record{}
	if catalogue, err := features.Catalogue(); err == nil {
		for _, record := range catalogue.Records() {
			known[record.ID] = record
		}
	}
	return known
})

// onOtherCloud reports whether the run's target was built for another cloud of Karpenter than its record is about.
func onOtherCloud(r run.Run) bool {
	record, known := builtin()[r.ID]
	return known && record.OnAnother(r.Target.Provider)
}

// sourceOf describes where a build came from, without a path.
func sourceOf(m builds.Manifest) string {
	var parts []string
	switch src := m.Source; src.Kind {
	case builds.FromFolder:
		code := run.Code{Commit: src.Commit, Dirty: src.Dirty}.String()
		if src.Commit == "" {
			code = "a folder without git"
		}
		parts = append(parts, code)
		if src.Sum != "" {
			parts = append(parts, "source "+src.Sum)
		}
	case builds.FromBinary:
		parts = append(parts, "a program as given", filepath.Base(src.File))
	case builds.FromImage:
		parts = append(parts, "an image", src.Digest)
	case builds.FromOrder:
		parts = append(parts, "an installer's order", filepath.Base(src.File))
	default:
		parts = append(parts, src.Module, src.Version)
	}
	if m.Race {
		parts = append(parts, "with Go's race detector")
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." }), ", ")
}

// buildsOf names all programs of the run that have a build, with their digests.
func buildsOf(r run.Run) (list []string) {
	manifests := []builds.Manifest{r.Target, r.Kubernetes}
	if r.Provenance != nil {
		manifests = slices.Concat(manifests, r.Provenance.With, r.Provenance.Parts)
	}
	for _, m := range manifests {
		if m.SHA256 != "" {
			list = append(list, fmt.Sprintf("%s %s", m.Ref, m.Digests()))
		}
	}
	if r.Provenance != nil && r.Provenance.SHA256 != "" {
		list = append(list, "nodestorm sha256 "+r.Provenance.SHA256)
	}
	if r.Provenance != nil && r.Provenance.Feature != nil {
		for _, f := range append([]run.Input{*r.Provenance.Feature}, r.Provenance.Beside...) {
			list = append(list, f.Name+" sha256 "+f.SHA256)
		}
	}
	return list
}

// repeat is the command that makes the run again, with what else it takes behind it
// as a comment, which is one word where a shell takes no comments. Files and folders are
// named as they were called, wherever they are. Of a run that nodestorm has not written there is
// none. Words are cleaned before they are quoted: what takes a quote away takes the words after it, too.
func repeat(r run.Run, departures []string, clean func(string) string) string {
	if len(r.Misshapen()) > 0 {
		return ""
	}
	words := []string{"nodestorm", "run", r.ID, "--target", r.Target.Ref.String(), "--seed", strconv.FormatUint(r.Seed, 10)}
	if r.OnKind() {
		words = append(words, "--cluster", run.Kind) // whose clock is real
	} else if r.Clock.Mode != "" && r.Clock.Mode != "auto" {
		words = append(words, "--clock", r.Clock.Mode)
	}
	if r.Target.Race {
		words = append(words, "--race")
	}
	if onOtherCloud(r) {
		words = append(words, "--cloud", r.Target.Provider)
	}
	if p := r.Provenance; p != nil {
		if p.Machines != "" {
			words = append(words, "--cloud-machines", p.Machines)
		}
		if p.Feature != nil && r.Unrecorded {
			words[2] = path.Base(p.Feature.Name)
		} else if p.Feature != nil {
			folder, _, _ := strings.Cut(p.Feature.Name, "/")
			words = append(words, "--catalogue", folder)
		}
		if c := p.ControlPlane; c != nil {
			words = append(words, "--kubernetes", cmp.Or(c.Name, c.Version))
		}
		if p.Manifest != nil {
			words = append(words, "--manifest", p.Manifest.Name)
		}
		if len(p.Order) > 0 {
			words = append(words, "--order", p.Order[0].Name)
		}
		for _, m := range p.With {
			words = append(words, "--component", m.Ref.String())
		}
	}
	for i, word := range words {
		words[i] = clean(word)
	}
	said := oneline.Command(words...)
	if len(departures) > 0 {
		said += " # " + oneline.Command(clean(strings.Join(departures, "; ")))
	}
	return said
}
