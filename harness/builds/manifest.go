package builds

import (
	"path/filepath"
	"slices"
	"time"
)

// Manifest says what an entry of the store is. It is manifest.json in the entry.
type Manifest struct {
	Ref
	Source Source `json:"source"`
	// GoVersion is the toolchain that built the binary, "go1.26.8"; empty for
	// an added binary that is not Go's.
	GoVersion string `json:"goVersion,omitempty"`
	// GOROOT is where that toolchain was, empty for an added binary.
	GOROOT string `json:"goroot,omitempty"`
	// OverlayHash is that of the clock overlay the binary was built with. Empty
	// means none: such a binary lives in virtual time as a guest, see clock.Driver.Start.
	OverlayHash string `json:"overlayHash,omitempty"`
	// Clock is [overlay.Digest] of what OverlayHash is, in a build from a registry: the
	// toolchain that made it need not be here.
	Clock string `json:"clock,omitempty"`
	// Programs are those of an entry that has several, and none of its own name.
	Programs []Program `json:"programs,omitempty"`
	// SHA256 is that of the binary, in hex; Size is in bytes. Of several programs it is that of
	// their names and sums, and they together.
	SHA256 string `json:"sha256"`
	// Assets is that of all that stands beside the program, or programs, in the entry, or of the files that an order
	// applies: charts, CRDs, further names. It is in go.sum's notation, and empty if there is nothing; an entry of before
	// there was one may have something.
	Assets  string    `json:"assets,omitempty"`
	Size    int64     `json:"size"`
	BuiltAt time.Time `json:"builtAt"`
}

// Digests are those of all that a build brings into a world, in words.
func (m Manifest) Digests() string {
	if m.Assets == "" {
		return "sha256 " + m.SHA256
	}
	return "sha256 " + m.SHA256 + ", with assets " + m.Assets
}

// Program is one of several of an entry, out of an image of its own.
type Program struct {
	Name      string `json:"name"`
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size"`
	Image     string `json:"image"`
	Digest    string `json:"digest"` // of the reference: of an index, if it has one
	File      string `json:"file"`   // in the image
	GoVersion string `json:"goVersion,omitempty"`
}

// Source is where a build came from.
type Source struct {
	Kind    Kind     `json:"kind"`
	Module  string   `json:"module,omitempty"`  // module path
	Version string   `json:"version,omitempty"` // module version
	Sum     string   `json:"sum,omitempty"`     // hash of all source in go.sum's notation, where one is known; of a folder see state
	Dir     string   `json:"dir,omitempty"`     // source folder; of a Ref its repository
	Ref     string   `json:"ref,omitempty"`     // tag, branch or commit of the repository, if not the folder as it was
	Commit  string   `json:"commit,omitempty"`  // its git commit, empty without git
	Dirty   bool     `json:"dirty,omitempty"`   // it held changes that are in no commit
	Package string   `json:"package,omitempty"` // main package below the module's root
	Tags    []string `json:"tags,omitempty"`    // build tags
	File    string   `json:"file,omitempty"`    // the binary that was added; of an image, its path in there
	// Graft is the hash of a main package of ours that is compiled within the source, in go.sum's notation.
	Graft string `json:"graft,omitempty"`
	// Workspace is the go.work that had a say in what the build consists of.
	Workspace string `json:"workspace,omitempty"`
	// Image is where the image was; of another kind, the repository that the build was
	// pulled from.
	Image  string `json:"image,omitempty"`
	Digest string `json:"digest,omitempty"` // its digest, "sha256:…"
	// Container says that the whole image runs, as a container, and not the one program out of
	// it; ImageID is then what Docker knows the image by, "sha256:…".
	Container bool   `json:"container,omitempty"`
	ImageID   string `json:"imageID,omitempty"`
	// Published says that the image is the one that its project publishes, see Published.
	Published bool `json:"published,omitempty"`
}

// Kind is the way a target came in.
type Kind string

// A target is a module version, a source folder, a binary as given, or one out of
// an image; or no program at all and not in the store, but the order in which a
// release of an installer brings up a cluster.
const (
	FromModule Kind = "module"
	FromFolder Kind = "source"
	FromBinary Kind = "binary"
	FromImage  Kind = "image"
	FromOrder  Kind = "order"
)

// Target is an intact entry of the store.
type Target struct {
	Manifest
	Dir string // the entry's folder
}

// Binary is the path of the program.
func (t Target) Binary() string { return filepath.Join(t.Bin(), t.Name) }

// Bin is the folder that holds the program and, for kubernetes, a link for each
// of its faces: envtest's BinaryAssetsDirectory.
func (t Target) Bin() string { return filepath.Join(t.Dir, "bin") }

// Asset is where the entry keeps what the source has at path, for example
// "pkg/apis/crds". Only what the recipe lists under Assets is there.
func (t Target) Asset(path string) string { return filepath.Join(t.Dir, "assets", path) }

// Virtual reports whether the program was built with the clock. An order has no time of its
// own.
func (t Target) Virtual() bool { return t.OverlayHash != "" || t.Source.Kind == FromOrder }

// RealTimeOnly reports whether the program cannot live in virtual time anywhere: it runs in a
// container, or was not built with the clock and is no Go program, of which alone it is known
// how they wait.
func (t Target) RealTimeOnly() bool {
	return t.Source.Container || !t.Virtual() && t.GoVersion == ""
}

// Lacks reports whether a build of several programs is without one: official images have no kubelet.
func (t Target) Lacks(program string) bool {
	return len(t.Programs) > 0 && !slices.ContainsFunc(t.Programs, func(p Program) bool { return p.Name == program })
}
