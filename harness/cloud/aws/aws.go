// Package aws puts an account of AWS into a world, in one region, with a cluster of EKS that is the world's: the cloud, its
// services under their own names, to which the world's way out leads, and the machines that its instances boot into. Programs
// are set up as they are in production: nothing says that AWS is not the one that they know.
//
// It knows Karpenter's node classes, the tags that Cluster Autoscaler goes by, and no program.
package aws

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
)

// Name is what builds and records call the cloud.
const Name = builds.AWS

const (
	// account is the number that AWS's documentation has in its examples.
	account = "123456789012"
	// cluster is the name of the cluster, and of its queue of interruptions, as Karpenter's guide has it.
	cluster = "nodestorm"
	// services are the addresses of Services that the world's API server gives.
	services = "10.0.0.0/24"
	metadata = "/latest/meta-data/"
)

// Region is the account in its region.
type Region struct {
	*fakecloud.Cloud
	world      *world.World
	server     *aws.Server
	id, secret string // of the key that programs have
	endpoint   string // that programs have in a variable; empty: they know AWS's own names
	relieve    func() // ends what stands in for the controller manager; nil: nothing does
}

// Start makes an account with a VPC and no instances, and nothing that looks after the Nodes of these: see StandIn. It ends with the
// world.
func Start(s machines.Setting) (*Region, error) {
	s.Answers = answers
	cloud, err := machines.Start(s, aws.Settings(), metadata)
	if err != nil {
		return nil, err
	}
	admin := s.World.Cluster.Admin()
	r := &Region{Cloud: cloud, world: s.World, id: "AKIA" + rand.Text()[:16], secret: rand.Text() + rand.Text()[:14]}
	r.server, err = aws.New(aws.Config{
		Cloud: cloud, Account: account, Keys: map[string]string{r.id: r.secret}, Queue: cluster, Latency: aws.Latency,
		Cluster: aws.Cluster{
			Name: cluster, Endpoint: admin.Host, CABundle: base64.StdEncoding.EncodeToString(admin.CAData), ServiceCIDR: services,
			Version: minor(builds.Kubernetes.Version),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("serving AWS: %w", err)
	}
	s.World.OnStop(r.server.Close)
	for _, host := range aws.Hosts(aws.Region) {
		if err := s.World.Egress().Answer(host, r.server); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// StandIn does what the cloud controller manager of AWS does, in a world that does not have it. It ends with the world.
func (r *Region) StandIn(ctx context.Context) (err error) {
	r.relieve, err = machines.StandIn(ctx, r.world, r.Cloud, managed(r.Cloud))
	return err
}

// Relieve ends StandIn, for the controller manager itself.
func (r *Region) Relieve() {
	if r.relieve != nil {
		r.relieve()
	}
}

// minor is a release of Kubernetes as EKS calls it.
func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	return strings.Join(parts[:2], ".")
}

// nodeName is what nodeadm calls the Node of an instance.
func nodeName(i fakecloud.Instance) string { return ec2.PrivateDNSName(aws.Region, ec2.PrivateIP(&i)) }

// answers are the metadata service's that nodeadm asks for.
func answers(i fakecloud.Instance) map[string]string {
	return map[string]string{
		metadata + "instance-id": i.Name, metadata + "local-hostname": nodeName(i), metadata + "local-ipv4": ec2.PrivateIP(&i).String(),
		metadata + "placement/availability-zone": i.Location,
	}
}

// managed is what the cloud controller manager of AWS says of a Node.
func managed(cloud *fakecloud.Cloud) func(fakecloud.Instance) machines.Node {
	return func(i fakecloud.Instance) machines.Node {
		name := nodeName(i)
		labels := map[string]string{
			corev1.LabelInstanceTypeStable: i.Type, corev1.LabelTopologyZone: i.Location, corev1.LabelTopologyRegion: aws.Region,
		}
		if l := cloud.Catalogue().Location(i.Location); l != nil {
			labels["topology.k8s.aws/zone-id"] = l.Datacenter
		}
		return machines.Node{Name: name, Labels: labels, Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: ec2.PrivateIP(&i).String()}, {Type: corev1.NodeInternalDNS, Address: name},
			{Type: corev1.NodeHostName, Address: name},
		}}
	}
}
