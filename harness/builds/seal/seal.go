// Package seal holds an entry of the store against its manifest: its programs, and all that stands beside them.
package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/tree"
)

// Names of files in an entry: the manifest, and another that takes its place.
const (
	Manifest    = "manifest.json"
	NewManifest = Manifest + ".new"
)

// ErrNone is of an entry of before manifests had a digest of what stands beside the programs, and something does.
var ErrNone = errors.New("what stands beside its program has no digest")

// Check makes sure that the programs of an entry, and all that stands beside them, are those that its manifest describes.
// A manifest that has no digest of the latter gets one where there is nothing but further names for the programs; the
// error is ErrNone else.
func Check(t *builds.Target) error {
	sum, _, err := Sum(t.Manifest, t.Dir)
	if err == nil && sum != t.SHA256 {
		err = fmt.Errorf("the binary's SHA-256 is %.12s…, not %.12s…", sum, t.SHA256)
	}
	if err != nil {
		return err
	}
	assets, err := AssetsDigest(t.Manifest, t.Dir)
	switch {
	case err != nil:
		return err
	case assets == t.Assets:
	case t.Assets != "":
		// mutant: charts and CRDs may be anybody's
		return fmt.Errorf("what stands beside its program has the digest %.15s…, not %.15s…", assets, t.Assets)
	case !onlyNames(*t):
		return ErrNone
	}
	t.Assets = assets
	return nil
}

// AssetsDigest is the digest of all that an entry in the folder dir holds beside its manifest and its programs.
func AssetsDigest(m builds.Manifest, dir string) (string, error) {
	except := []string{Manifest, NewManifest}
	for _, name := range Programs(m) {
		except = append(except, path.Join("bin", name))
	}
	return tree.Digest(dir, except...)
}

// onlyNames reports whether an entry has nothing but its manifest, its programs and further names for those.
func onlyNames(t builds.Target) bool {
	programs := Programs(t.Manifest)
	all, err := os.ReadDir(t.Dir)
	bin, other := os.ReadDir(t.Bin())
	return errors.Join(err, other) == nil && !slices.ContainsFunc(all, func(e os.DirEntry) bool {
		return !slices.Contains([]string{"bin", Manifest, NewManifest}, e.Name())
	}) && !slices.ContainsFunc(bin, func(e os.DirEntry) bool {
		to, _ := os.Readlink(filepath.Join(t.Bin(), e.Name())) // empty of what is no link
		return !slices.Contains(programs, e.Name()) && !slices.Contains(programs, to)
	})
}

// Programs are the names of an entry's programs.
func Programs(m builds.Manifest) (names []string) {
	for _, p := range m.Programs {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		names = []string{m.Name}
	}
	return names
}

// Sum is the SHA-256, and the size, of the manifest's program, or programs, in the folder dir of an entry.
func Sum(m builds.Manifest, dir string) (sum string, size int64, err error) {
	bin := filepath.Join(dir, "bin")
	if len(m.Programs) == 0 {
		return tree.SHA256(filepath.Join(bin, m.Name))
	}
	all := sha256.New()
	for _, p := range m.Programs {
		if filepath.Base(p.Name) != p.Name {
			return "", 0, fmt.Errorf("%.100q is no name of a program", p.Name)
		}
		of, bytes, err := tree.SHA256(filepath.Join(bin, p.Name))
		if err != nil {
			return "", 0, err
		}
		size += bytes
		fmt.Fprintln(all, p.Name, of)
	}
	return hex.EncodeToString(all.Sum(nil)), size, nil
}
