// Package nodegroups puts a generic cloud into a world: it keeps node groups at their target
// sizes, as large clouds do, and Cluster Autoscaler speaks to it through its provider externalgrpc.
package nodegroups

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/cloud/machines"
	"nodestorm/sim/pki"
)

// Provider is what Cluster Autoscaler calls it.
const Provider = "externalgrpc"

// GroupLabel is the label of the cloud's instances that has their group.
const GroupLabel = "group"

// config is that of a cloud, wherever it is served.
func config() fakecloud.Config {
	return fakecloud.Config{Catalogue: fakecloud.Plain(), GroupLabel: GroupLabel, CheckFault: externalgrpc.CheckFault}
}

// Cloud is one that is being served.
type Cloud struct {
	*fakecloud.Cloud
	server *externalgrpc.Server
	dir    string
	pair   struct{ authority, cert, key string } // files
	// callTimeout is that of Cluster Autoscaler's calls, as in "30s"; empty leaves the release's: 5s, which releases up to
	// 1.28 know only.
	callTimeout string
	// kind and zone are those of instances of which no more is said.
	kind, zone string
}

// Start makes a cloud without groups. It ends with the world.
func Start(ctx context.Context, s machines.Setting) (*Cloud, error) {
	return start(ctx, s, config(), "medium", "zone-a")
}

// StartAlike is a cloud with the types, prices and launches of a cloud of instances, so that Cluster Autoscaler can be
// compared with Karpenter.
func StartAlike(ctx context.Context, s machines.Setting) (*Cloud, error) {
	cfg := config()
	cfg.Catalogue, cfg.Durations = instanceapi.Catalogue(), instanceapi.Durations()
	return start(ctx, s, cfg, "c-4x-amd64-linux", "test-zone-a")
}

func start(ctx context.Context, s machines.Setting, cfg fakecloud.Config, kind, zone string) (*Cloud, error) {
	cloud, err := machines.Start(s, cfg, metadata)
	if err != nil {
		return nil, err
	}
	c := &Cloud{Cloud: cloud, dir: filepath.Join(s.World.Dir(), Provider), kind: kind, zone: zone}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, err
	}
	settings, err := c.certify()
	if err != nil {
		return nil, fmt.Errorf("making the cloud's certificates: %w", err)
	}
	if c.server, err = externalgrpc.Serve(context.WithoutCancel(ctx), externalgrpc.Config{Cloud: cloud, TLS: settings}); err != nil {
		return nil, fmt.Errorf("serving the cloud: %w", err)
	}
	s.World.OnStop(c.server.Close)
	return c, nil
}

// certify makes the server's certificate and its client's, of an authority that is for nothing else.
func (c *Cloud) certify() (*tls.Config, error) {
	authority, err := pki.NewAuthority(Provider, c.Clock().Now())
	if err != nil {
		return nil, err
	}
	server, err := authority.Issue("cloud", nil, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	pair, err := server.TLS()
	if err != nil {
		return nil, err
	}
	client, err := authority.Issue("cluster-autoscaler", nil)
	if err != nil {
		return nil, err
	}
	if c.pair.cert, c.pair.key, err = client.Write(c.dir, "client"); err != nil {
		return nil, err
	}
	c.pair.authority = filepath.Join(c.dir, "authority.crt")
	if err := os.WriteFile(c.pair.authority, authority.Cert, 0o600); err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority.Cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		Time: c.Clock().Now, MinVersion: tls.VersionTLS12}, nil
}

// cloudConfig writes the file that --cloud-config names.
func (c *Cloud) cloudConfig() (file string, err error) {
	settings := map[string]string{"address": c.server.Addr(), "cacert": c.pair.authority, "cert": c.pair.cert, "key": c.pair.key}
	if c.callTimeout != "" {
		settings["grpc_timeout"] = c.callTimeout
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return "", err
	}
	file = filepath.Join(c.dir, "cloud-config.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// metadata is where the metadata service begins, as in many clouds.
const metadata = "/latest/meta-data/"

// UserData makes an instance join the cluster: its kubelet knows its provider ID by itself.
func UserData(flags string) string {
	return machines.UserData(externalgrpc.Scheme, metadata+"hostname", flags)
}

// flags are those of a kubelet whose node comes with labels, as in "a=b,c=d", and taints. The node says of what
// type it is and where, as clouds have it.
func flags(g fakecloud.Group) string {
	marks := []string{"node.kubernetes.io/instance-type=" + g.Type, "topology.kubernetes.io/zone=" + g.Location}
	for _, name := range slices.Sorted(maps.Keys(g.NodeLabels)) {
		marks = append(marks, name+"="+g.NodeLabels[name])
	}
	text := " --node-labels=" + strings.Join(marks, ",")
	if len(g.Taints) > 0 {
		text += " --register-with-taints=" + strings.Join(g.Taints, ",")
	}
	return text
}

// Group is a node group whose instances join the cluster. It is of the type "medium" in zone-a if it does not
// say otherwise.
func Group(g fakecloud.Group) fakecloud.Group {
	g.Type, g.Location = cmp.Or(g.Type, "medium"), cmp.Or(g.Location, "zone-a")
	g.Image, g.UserData = fakecloud.PlainImage, UserData(flags(g))
	return g
}

// CreateGroup creates a node group, and its instances.
func (c *Cloud) CreateGroup(g fakecloud.Group) error {
	if err := externalgrpc.CheckOptions(g.Options); err != nil {
		return err
	}
	g.Type, g.Location = cmp.Or(g.Type, c.kind), cmp.Or(g.Location, c.zone)
	return c.Update(func(tx *fakecloud.Tx) error {
		_, err := tx.CreateGroup(Group(g))
		return err
	})
}

// CreateInstance creates one that joins the cluster and belongs to no group.
func (c *Cloud) CreateInstance(name, instanceType, zone, marks string) error {
	t := c.Catalogue().ServerType(instanceType)
	if t == nil {
		return fmt.Errorf("there is no instance type %q", instanceType)
	}
	return c.Update(func(tx *fakecloud.Tx) error {
		_, _, _, err := tx.Create(fakecloud.Spec{
			Name: name, Type: t, Image: tx.Images.Named(fakecloud.PlainImage), Location: zone, UserData: UserData(marks), Start: true, IPv4: true,
		})
		return err
	})
}

// SetTarget sets the target size of a group, as a user would by hand.
func (c *Cloud) SetTarget(_ context.Context, group string, target int) error {
	return c.withGroup(group, func(tx *fakecloud.Tx, g *fakecloud.Group) { tx.SetTarget(g.ID, target) })
}

// RemoveGroup takes a group away, and leaves its instances.
func (c *Cloud) RemoveGroup(_ context.Context, group string) error {
	return c.withGroup(group, func(tx *fakecloud.Tx, g *fakecloud.Group) { tx.RemoveGroup(g.ID) })
}

func (c *Cloud) withGroup(group string, do func(*fakecloud.Tx, *fakecloud.Group)) error {
	return c.Update(func(tx *fakecloud.Tx) error {
		g := tx.Groups.Named(group)
		if g == nil {
			return fmt.Errorf("the cloud has no node group %q", group)
		}
		do(tx, g)
		return nil
	})
}
