// Package hcloud serves a fakecloud.Cloud on the wire API of the Hetzner Cloud: paths, bodies, error codes,
// pagination, label selectors, rate limit headers and action polling as its documentation and hcloud-go v2
// have them (docs.hetzner.cloud, reference "cloud", as of October 2026). Clients of other times are
// content too: fields that the API has dropped since are still there (a server's datacenter, for
// example), and so are the data centres themselves.
//
// It serves what hcloud-go calls for servers and all that belongs to them; not DNS zones and
// storage boxes. It decides nothing about the cloud: that is fakecloud's.
//
// Every call goes to the history, with source "cloud" and the operation as verb ("POST /servers").
package hcloud

import (
	"context"
	"slices"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/hcloud/offers"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/sim/fault"
)

// Config says what a Server works with. Its operations are the API's.
type Config = rest.Config

// Server is an API that is being served.
type Server = rest.Server

// NewHandler returns a Handler, which serves the API without a listener of its own.
func NewHandler(cfg Config) (*rest.Handler, error) {
	cfg.Operations = operations()
	return rest.NewHandler(cfg)
}

// Serve serves the API until Close or the end of ctx.
func Serve(ctx context.Context, cfg Config) (*Server, error) {
	cfg.Operations = operations()
	return rest.Serve(ctx, cfg)
}

// Calls are the names of all calls, as the history has them.
func Calls() (names []string) {
	for _, op := range operations() {
		names = append(names, op.Name)
	}
	return names
}

// Operations are what faults match: all calls, and the commands of actions.
func Operations() []string { return append(Calls(), commands...) }

// CheckFault finds what is wrong with a fault of this API.
func CheckFault(f fault.Fault) error { return cloudfault.Check(f, Operations()) }

// Call is the name of the call (see Operations) that is meant by words such as "create
// servers", "delete servers", "list servers", "get servers", "update servers", "poweron
// servers" or "list actions of servers". Known are the words of all calls, for those
// that mean none.
func Call(words string) (name string, known []string) {
	for _, op := range operations() {
		said := rest.WordsOf(op.Name)
		if said == words {
			return op.Name, nil
		}
		known = append(known, said)
	}
	slices.Sort(known)
	return "", slices.Compact(known)
}

// operations are all calls.
func operations() []rest.Operation {
	return slices.Concat(serverOperations(), rest.ActionOperations(), offers.Operations(), imageOperations(), networkOperations(),
		loadBalancerOperations(), volumeOperations(), primaryIPOperations(), floatingIPOperations(), firewallOperations(), projectOperations())
}
