package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/tree"
	"nodestorm/harness/program/programs"
)

// Find is the target that ref names: an installer's release is an order that is known, which is always there, and all
// else a build of the store (see [buildstore.Store.Get]).
func Find(store *buildstore.Store, ref builds.Ref) (builds.Target, error) {
	orders := programs.Named(ref.Name).Orders
	if orders == nil {
		return store.Get(ref)
	}
	text, files, err := orders.Known(ref.Version)
	if err != nil {
		return builds.Target{}, fmt.Errorf("%w; --order names a file with yours", err)
	}
	return ordered(ref, ref.Name+"/"+ref.Version+".yaml", text, files)
}

// OwnOrder is the target of an order in a user's file, as ref calls it.
func OwnOrder(ref builds.Ref, file string) (builds.Target, error) {
	orders := programs.Named(ref.Name).Orders
	if orders == nil {
		return builds.Target{}, fmt.Errorf("%s is not an installer: leave it out, or give --target kubespray@VERSION", ref.Name)
	}
	text, files, err := orders.Load(file)
	if err != nil {
		return builds.Target{}, err
	}
	return ordered(ref, file, text, files)
}

func ordered(ref builds.Ref, file string, text []byte, files map[string][]byte) (builds.Target, error) {
	sum := sha256.Sum256(text)
	assets, err := tree.DigestOf(files)
	return builds.Target{Manifest: builds.Manifest{
		Ref:    builds.Ref{Name: ref.Name, Version: ref.Version},
		Source: builds.Source{Kind: builds.FromOrder, File: file},
		SHA256: hex.EncodeToString(sum[:]), Assets: assets, Size: int64(len(text)),
	}}, err
}
