package target

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"nodestorm/harness/order"
)

// FromOrder is a target that is no program but the order in which a release of an
// installer brings up a cluster, as package order knows it. It needs no store, and
// has no time of its own.
const FromOrder Kind = "order"

// orderOf is the target of an installer's release; is says whether ref names an
// installer at all.
func orderOf(ref Ref) (t Target, is bool, err error) {
	if len(order.Versions(ref.Name)) == 0 {
		return Target{}, false, nil
	}
	_, text, err := order.Known(ref.Name, ref.Version)
	if err != nil {
		return Target{}, true, fmt.Errorf("%w; --order names a file with yours", err)
	}
	return ordered(ref, ref.Name+"/"+ref.Version+".yaml", text), true, nil
}

// OwnOrder is the target of an order in a user's file, as ref calls it.
func OwnOrder(ref Ref, file string) (Target, error) {
	if len(order.Versions(ref.Name)) == 0 {
		return Target{}, fmt.Errorf("%s is no installer, and an order is one's (kubespray's)", ref.Name)
	}
	_, text, err := order.Load(file)
	if err != nil {
		return Target{}, err
	}
	return ordered(ref, file, text), nil
}

func ordered(ref Ref, file string, text []byte) Target {
	sum := sha256.Sum256(text)
	return Target{Manifest: Manifest{
		Ref:    Ref{Name: ref.Name, Version: ref.Version},
		Source: Source{Kind: FromOrder, File: file},
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text)),
	}}
}
