package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"nodestorm/harness/order"
	"nodestorm/harness/target"
)

// Find is the target that ref names: an installer's release is the order that package
// order knows, which is always there, and all else a build of the store (see
// [target.Store.Get]).
func Find(store *target.Store, ref target.Ref) (target.Target, error) {
	if !isInstaller(ref) {
		return store.Get(ref)
	}
	_, text, err := order.Known(ref.Name, ref.Version)
	if err != nil {
		return target.Target{}, fmt.Errorf("%w; --order names a file with yours", err)
	}
	return ordered(ref, ref.Name+"/"+ref.Version+".yaml", text), nil
}

// OwnOrder is the target of an order in a user's file, as ref calls it.
func OwnOrder(ref target.Ref, file string) (target.Target, error) {
	if !isInstaller(ref) {
		return target.Target{}, fmt.Errorf("%s is no installer, and an order is one's (kubespray's)", ref.Name)
	}
	_, text, err := order.Load(file)
	if err != nil {
		return target.Target{}, err
	}
	return ordered(ref, file, text), nil
}

func isInstaller(ref target.Ref) bool { return len(order.Versions(ref.Name)) > 0 }

func ordered(ref target.Ref, file string, text []byte) target.Target {
	sum := sha256.Sum256(text)
	return target.Target{Manifest: target.Manifest{
		Ref:    target.Ref{Name: ref.Name, Version: ref.Version},
		Source: target.Source{Kind: target.FromOrder, File: file},
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text)),
	}}
}
