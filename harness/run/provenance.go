package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"nodestorm/harness/builds"
	"nodestorm/sim/strict"
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
	// Cluster is what the clusters were made of: [Kind], or empty for programs on loopback.
	Cluster string `json:"cluster,omitempty"`
	// Machines is what the instances of the cloud were: [Containers], or empty for simulated.
	Machines string `json:"machines,omitempty"`
	// ControlPlane is that of --kubernetes; nil is that of nodestorm's own Kubernetes.
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// Manifest is --manifest's file, Order --order's and those that it applies.
	Manifest *Input  `json:"manifest,omitempty"`
	Order    []Input `json:"order,omitempty"`
	// With are the builds of --with, Parts the releases that the scenario names.
	With  []builds.Manifest `json:"with,omitempty"`
	Parts []builds.Manifest `json:"parts,omitempty"`
	// Stale are the builds whose source had changed since they were made.
	Stale []builds.Ref `json:"stale,omitempty"`
}

// Kind is the Provenance.Cluster of clusters that were made with kind.
const Kind = "kind"

// Containers is the Provenance.Machines of instances that were containers of Docker.
const Containers = "containers"

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
		return Short(c.Commit) + " with uncommitted changes"
	}
	return Short(c.Commit)
}

// Input is a file that a flag named, by its base name, or one below that's folder.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

func (f Input) String() string { return fmt.Sprintf("%s (sha256 %s)", f.Name, Short(f.SHA256)) }

// ControlPlane is another one than nodestorm's own: of a release, whose build is the run's
// Kubernetes, or of a folder with programs that someone else built.
type ControlPlane struct {
	// Name is the folder's base name, empty of a release.
	Name string `json:"name,omitempty"`
	// Version is what kube-apiserver says of itself.
	Version string `json:"version,omitempty"`
	// Programs are those of the folder; controllers that it lacks were nodestorm's own.
	Programs []Input `json:"programs,omitempty"`
}

// Short is what a text for people has of a commit or of a digest in hex.
func Short(hash string) string { return hash[:min(12, len(hash))] }

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
	f, err := strict.Open(context.Background(), path)
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

// OnKind reports whether the clusters were made with kind.
func (r Run) OnKind() bool { return r.Provenance != nil && r.Provenance.Cluster == Kind }
