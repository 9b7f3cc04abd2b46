package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/programs"
)

// Find is the target that ref names: an installer's release is an order that is known, which is always there, and all
// else a build of the store (see [buildstore.Store.Get]).
func Find(store *buildstore.Store, ref builds.Ref) (builds.Target, error) {
	orders := programs.Named(ref.Name).Orders
	if orders == nil {
		return store.Get(ref)
	}
	text, err := orders.Known(ref.Version)
	if err != nil {
		return builds.Target{}, fmt.Errorf("%w; --order names a file with yours", err)
	}
	return ordered(ref, ref.Name+"/"+ref.Version+".yaml", text), nil
}

// OwnOrder is the target of an order in a user's file, as ref calls it.
func OwnOrder(ref builds.Ref, file string) (builds.Target, error) {
	orders := programs.Named(ref.Name).Orders
	if orders == nil {
		return builds.Target{}, fmt.Errorf("%s is no installer, and an order is one's (kubespray's)", ref.Name)
	}
	text, _, err := orders.Load(file)
	if err != nil {
		return builds.Target{}, err
	}
	return ordered(ref, file, text), nil
}

func ordered(ref builds.Ref, file string, text []byte) builds.Target {
	sum := sha256.Sum256(text)
	return builds.Target{Manifest: builds.Manifest{
		Ref:    builds.Ref{Name: ref.Name, Version: ref.Version},
		Source: builds.Source{Kind: builds.FromOrder, File: file},
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text)),
	}}
}
