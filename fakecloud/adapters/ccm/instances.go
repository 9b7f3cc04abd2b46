package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

const idPrefix = providerName + "://"

// instances tells the controllers about servers.
type instances struct{ *cloud }

// server is the one behind a Node: that of its provider ID or, while it has none, of
// its name. Nil means that there is none.
func (c *cloud) server(ctx context.Context, node *corev1.Node) (*hcloud.Server, error) {
	if node.Spec.ProviderID == "" {
		s, _, err := c.client.Server.GetByName(ctx, node.Name)
		if err != nil {
			return nil, fmt.Errorf("asking for server %q: %w", node.Name, err)
		}
		return s, nil
	}
	id, err := serverID(node.Spec.ProviderID)
	if err != nil {
		return nil, err
	}
	s, _, err := c.client.Server.GetByID(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("asking for server %d: %w", id, err)
	}
	return s, nil
}

// serverID reads a provider ID. That of another cloud is an error, so that the
// controllers leave its Node alone.
func serverID(providerID string) (int64, error) {
	text, ours := strings.CutPrefix(providerID, idPrefix)
	id, err := strconv.ParseInt(text, 10, 64)
	if !ours || err != nil || id <= 0 {
		return 0, fmt.Errorf("provider ID %q is not of this cloud: want %sNUMBER", providerID, idPrefix)
	}
	return id, nil
}

func (c instances) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	s, err := c.server(ctx, node)
	return s != nil, err
}

func (c instances) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	s, err := c.server(ctx, node)
	if err != nil {
		return false, err
	}
	if s == nil {
		return false, cloudprovider.InstanceNotFound
	}
	return s.Status == hcloud.ServerStatusOff, nil
}

func (c instances) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	s, err := c.server(ctx, node)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, cloudprovider.InstanceNotFound
	}
	m := &cloudprovider.InstanceMetadata{
		ProviderID:    idPrefix + strconv.FormatInt(s.ID, 10),
		InstanceType:  s.ServerType.Name,
		NodeAddresses: c.addresses(s),
		Region:        s.Datacenter.Location.Name,
		Zone:          s.Datacenter.Name,
		// Which of Hetzner's products the machine is, as the released controller
		// manager says it.
		AdditionalLabels: map[string]string{"instance.hetzner.cloud/provided-by": "cloud"},
	}
	return m, nil
}

// addresses are the server's name, its public addresses of the family wanted, and
// its address in the network.
func (c *cloud) addresses(s *hcloud.Server) []corev1.NodeAddress {
	list := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: s.Name}}
	if c.family != ipv6 && !s.PublicNet.IPv4.IsUnspecified() {
		list = append(list, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: s.PublicNet.IPv4.IP.String()})
	}
	if c.family != ipv4 && !s.PublicNet.IPv6.IsUnspecified() {
		// The API names the network, a /64; the host has its first address.
		ip := append(net.IP{}, s.PublicNet.IPv6.IP.To16()...)
		ip[len(ip)-1] |= 1
		list = append(list, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: ip.String()})
	}
	if ip := c.privateIP(s); ip != nil {
		list = append(list, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()})
	}
	return list
}

// privateIP is a server's address in the network; nil if it has none.
func (c *cloud) privateIP(s *hcloud.Server) net.IP {
	if c.network == nil {
		return nil
	}
	for _, p := range s.PrivateNet {
		if p.Network.ID == c.network.ID {
			return p.IP
		}
	}
	return nil
}
