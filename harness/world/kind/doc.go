// Package kind makes clusters with kind (sigs.k8s.io/kind), whose nodes are containers,
// and the image of their nodes, without an image registry; and machines beside a cluster,
// whose user data may make nodes of them. It knows no worlds.
//
// The clusters have no kube-proxy and no CoreDNS yet, so their Services reach nothing
// but the API server.
package kind
