package buildstore

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/sim/strict"
)

// karpenters are Karpenter with the cloud provider that comes with it, which needs no cloud, and with AWS's own. The
// charts hold the documented RBAC and environment; the CRDs for AWS have those of its core.
var karpenters = map[string]struct {
	provider, main, example string
	assets                  []string
}{
	"karpenter":         {builds.Kwok, "./" + builds.Kwok, "v1.7.0", []string{"pkg/apis/crds", "kwok/apis/crds", "kwok/charts"}},
	builds.KarpenterAWS: {builds.AWS, "./cmd/controller", "v1.14.0", []string{"pkg/apis/crds", "charts/karpenter"}},
}

func karpenter(ref builds.Ref) Recipe {
	of := karpenters[ref.Name]
	ref.Provider = of.provider
	return Recipe{
		Ref:     ref,
		Module:  builds.Modules[ref.Name],
		Package: of.main,
		LDFlags: "-X sigs.k8s.io/karpenter/pkg/operator.Version=" + strings.TrimPrefix(ref.Version, "v"),
		Assets:  of.assets,
	}
}

// releasedKarpenter is the recipe of a release.
func releasedKarpenter(ref builds.Ref) (Recipe, error) {
	if v := ref.Version; semver.Canonical(v) != v {
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref, releaseHint(ref, fmt.Sprintf(
			"want a version of three numbers with a v, as in %s@%s", ref.Name, karpenters[ref.Name].example)))
	}
	if ref.Provider == builds.Instances && ref.Name == "karpenter" {
		return OnInstances(karpenter(ref))
	}
	return karpenter(ref), nil
}

// OnInstances is a recipe of Karpenter with the cloud provider of ours in place of its own.
func OnInstances(r Recipe) (Recipe, error) {
	source, err := adapterSource()
	if err != nil {
		return Recipe{}, fmt.Errorf("the provider of the cloud of instances is nodestorm's own source: %w", err)
	}
	r.Provider, r.Package = builds.Instances, "./"+graftPackage
	r.graft = &graft{name: "karpenter adapter", source: source, tags: karpenterSpan, knows: "v1.0 to v1.14"}
	return r, nil
}

// carried has what `make build` gives a nodestorm that runs outside of a checkout.
//
//go:embed carried
var carried embed.FS

// adapterSource is the source of our cloud provider: of the checkout, or else the one that this program carries. The
// error is of a program without one.
func adapterSource() (fs.FS, error) {
	root, err := Root()
	if err == nil {
		return os.DirFS(filepath.Join(root, "fakecloud", "adapters", "karpenter")), nil
	}
	return carriedIn(carried, err)
}

// carriedIn is the source that is packed in there; missing is the error if there is none.
func carriedIn(files fs.FS, missing error) (fs.FS, error) {
	packed, err := fs.ReadFile(files, "carried/karpenter.zip")
	if err != nil {
		return nil, missing
	}
	return zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
}

// karpenterSpan is the tag of the span of releases that a source of Karpenter belongs to, by how its own
// program is put together, since branches and commits have no version. That of v1.7 has none.
func karpenterSpan(root string) ([]string, error) {
	main, err := strict.ReadFile(filepath.Join(root, "kwok", "main.go"), maxText)
	if err != nil {
		return nil, fmt.Errorf("looking for how Karpenter is put together: %w", err)
	}
	class, err := strict.ReadFile(filepath.Join(root, "kwok", "apis", "v1alpha1", "kwoknodeclass_status.go"), maxText)
	if err != nil {
		return nil, fmt.Errorf("looking for what a node class of Karpenter's is: %w", err)
	}
	types, err := strict.ReadFile(filepath.Join(root, "pkg", "cloudprovider", "types.go"), maxText)
	if err != nil {
		return nil, fmt.Errorf("looking for Karpenter's interface: %w", err)
	}
	has := func(text []byte, words string) bool { return strings.Contains(string(text), words) }
	switch {
	case has(class, "status.ForOption"):
		return []string{"karpenter_v1_14"}, nil
	case has(main, "overlay.Decorate("):
		return nil, nil
	case has(main, "state.NewCluster(") && has(types, "type Offerings []*Offering"):
		return []string{"karpenter_v1_3"}, nil
	case has(main, "state.NewCluster("):
		return []string{"karpenter_v1_2"}, nil
	case has(main, ".Start(ctx, cloudProvider)"):
		return []string{"karpenter_v1_0"}, nil
	}
	return []string{"karpenter_v1_1"}, nil
}
