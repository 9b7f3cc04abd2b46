package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

const idPrefix = providerName + "://"

// instances tells the controllers about virtual machines.
type instances struct{ *cloud }

// machine is a virtual machine, as far as it is of interest.
type machine struct {
	mo.VirtualMachine
	client *vim25.Client
	web    *rest.Client
}

// find is the virtual machine behind a Node: that with the UUID of its provider ID or,
// while it has none, the one whose guest says that this is its name. Nil means that
// there is none.
func (c *cloud) find(ctx context.Context, node *corev1.Node) (*machine, error) {
	client, web, err := c.session(ctx)
	if err != nil {
		return nil, err
	}
	index := object.NewSearchIndex(client.Client)
	var found object.Reference
	if id := node.Spec.ProviderID; id == "" {
		found, err = index.FindByDnsName(ctx, nil, node.Name, true)
	} else {
		uuid, ours := strings.CutPrefix(id, idPrefix)
		if !ours || uuid == "" {
			return nil, fmt.Errorf("provider ID %q is not of this cloud: want %sUUID", id, idPrefix)
		}
		found, err = index.FindByUuid(ctx, nil, strings.ToLower(uuid), true, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the virtual machine of node %q: %w", node.Name, err)
	}
	if found == nil {
		return nil, nil
	}
	m := &machine{client: client.Client, web: web}
	if err := property.DefaultCollector(m.client).RetrieveOne(ctx, found.Reference(), []string{"name", "config", "guest", "runtime",
		"resourcePool"}, &m.VirtualMachine); err != nil {
		return nil, fmt.Errorf("reading the virtual machine of node %q: %w", node.Name, err)
	}
	return m, nil
}

func (c instances) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := c.find(ctx, node)
	return m != nil, err
}

func (c instances) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := c.find(ctx, node)
	if err != nil {
		return false, err
	}
	if m == nil {
		return false, cloudprovider.InstanceNotFound
	}
	return m.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOff, nil
}

func (c instances) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := c.find(ctx, node)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, cloudprovider.InstanceNotFound
	}
	zone, region, err := c.place(ctx, m)
	if err != nil {
		return nil, err
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:    idPrefix + m.Config.Uuid,
		InstanceType:  m.instanceType(),
		NodeAddresses: m.addresses(node.Name),
		Zone:          zone,
		Region:        region,
	}, nil
}

// instanceType is made of the machine's size, as the released controller manager does.
func (m *machine) instanceType() string {
	system := strings.TrimSuffix(m.Config.GuestId, "Guest")
	return fmt.Sprintf("vsphere-vm.cpu-%d.mem-%dgb.os-%s", m.Config.Hardware.NumCPU, m.Config.Hardware.MemoryMB/1024, strings.ToLower(system))
}

// addresses are the Node's name and the first address of either family that the guest
// says, which counts as internal and as external where nothing tells them apart.
func (m *machine) addresses(name string) []corev1.NodeAddress {
	list := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}}
	seen := map[bool]bool{} // is of IPv4
	for _, nic := range m.Guest.Net {
		for _, text := range nic.IpAddress {
			ip := net.ParseIP(text)
			if v4 := ip.To4() != nil; ip == nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() || seen[v4] {
				continue
			}
			seen[ip.To4() != nil] = true
			list = append(list,
				corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()},
				corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: ip.String()})
		}
	}
	return list
}

// place is what the tags say of where the machine is: its own, or those of what it is
// in, the nearest first.
func (c *cloud) place(ctx context.Context, m *machine) (zone, region string, err error) {
	if (c.zone == "" && c.region == "") || m.ResourcePool == nil {
		return "", "", nil
	}
	ancestors, err := mo.Ancestors(ctx, m.client, m.client.ServiceContent.PropertyCollector, *m.ResourcePool)
	if err != nil {
		return "", "", fmt.Errorf("asking where virtual machine %q is: %w", m.Name, err)
	}
	on := []mo.Reference{m.VirtualMachine}
	for i := len(ancestors) - 1; i >= 0; i-- {
		on = append(on, ancestors[i])
	}
	manager := tags.NewManager(m.web)
	attached, err := manager.GetAttachedTagsOnObjects(ctx, on)
	if err != nil {
		return "", "", fmt.Errorf("asking for tags of where virtual machine %q is: %w", m.Name, err)
	}
	for _, o := range on {
		for _, a := range attached {
			if a.ObjectID.Reference() != o.Reference() {
				continue
			}
			for _, t := range a.Tags {
				category, err := manager.GetCategory(ctx, t.CategoryID)
				if err != nil {
					return "", "", fmt.Errorf("asking for the category of tag %q: %w", t.Name, err)
				}
				switch {
				case category.Name == c.zone && zone == "":
					zone = t.Name
				case category.Name == c.region && region == "":
					region = t.Name
				}
			}
		}
	}
	return zone, region, nil
}
