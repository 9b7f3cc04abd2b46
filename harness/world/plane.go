package world

import (
	"context"
	"io"

	"k8s.io/client-go/rest"
)

// ControlPlane is the API server of a cluster with what it needs and its controllers:
// all that differs between kinds of clusters. Clock, history, programs, simulated nodes
// and the end are the world's, whatever its clusters are made of.
type ControlPlane interface {
	// Admin is the configuration of a client with all rights and no limit of its own.
	Admin() *rest.Config
	// User makes an identity with a client certificate.
	User(name string, groups ...string) (*rest.Config, error)
	// ClientCA is the CA that clients' certificates are of, PEM.
	ClientCA() ([]byte, error)
	// Reach lets kube-apiserver reach what serves on a port of our loopback until forget is
	// called: under 127.0.0.1, and with ClusterOptions.Kubelets under any address of a node.
	Reach(port int) (forget func())
}

// StartControlPlane starts one at a site and returns when it serves. It ends with the
// world, see [World.OnStop], to which it reports its death before that, see [World.Died].
type StartControlPlane func(context.Context, Site) (ControlPlane, error)

// Site is where a control plane starts.
type Site struct {
	World *World
	// Name is the cluster's and begins the names of its programs; empty for the world's own.
	Name string
	// Dir is for what ends with the world, readable by us only.
	Dir string
	// Calls turns kube-apiserver's audit log, with the policy of [audit.Policy], into
	// history. No call is older than the time at which its line is written here.
	Calls io.Writer
	// Wishes are the scenario's.
	Wishes ClusterOptions
}

// ClusterOptions are what a scenario wants of its cluster. One that a control plane cannot
// fulfil is an error of its start.
type ClusterOptions struct {
	// APIServer are flags for kube-apiserver, without dashes:
	// {"disable-admission-plugins": {"DefaultTolerationSeconds"}}.
	APIServer map[string][]string
	// Serves are versions of API groups that kube-apiserver serves in addition to its defaults:
	// "resource.k8s.io/v1beta1".
	Serves []string
	// ControllerManager are flags for kube-controller-manager:
	// "--cluster-signing-duration=20m".
	ControllerManager []string
	// Breakable are those of [Controllers] that reach kube-apiserver through a fault proxy, see [World.Way].
	Breakable []string
	// ClusterCIDR is what kube-controller-manager gives each Node a part of for its
	// pods ("10.244.0.0/16"). Empty means that Nodes have none.
	ClusterCIDR string
	// Kubelets makes the control plane one that real kubelets can join, as kubeadm
	// does: the Node authorizer and NodeRestriction, bootstrap tokens, a CA with which
	// kube-controller-manager signs requests, and a way from kube-apiserver to them.
	Kubelets bool
}
