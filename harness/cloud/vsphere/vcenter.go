// Package vsphere puts a vSphere into a world: the cloud, its vCenter on loopback, and
// the virtual machines that a user makes there by hand or with an installer, which join the
// cluster by their user data.
//
// It knows no autoscaler.
package vsphere

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/vcenter"
	"nodestorm/harness/cloud/machines"
)

// user logs in to the vCenter.
const user = "cloud-controller-manager@vsphere.local"

// VCenter is a vSphere that is being served.
type VCenter struct {
	*fakecloud.Cloud
	server   *vcenter.Server
	password string
	network  int64
}

// Start makes a vSphere without machines. It ends with the world.
func Start(ctx context.Context, s machines.Setting) (*VCenter, error) {
	cloud, err := machines.Start(s, fakecloud.Config{
		Catalogue: vcenter.Catalogue(),
		Durations: map[string]time.Duration{"attach_to_network": 0}, // a machine is made with its network card
	}, "")
	if err != nil {
		return nil, err
	}
	v := &VCenter{Cloud: cloud, password: rand.Text()}
	err = v.Update(func(tx *fakecloud.Tx) error {
		network := fakecloud.Network{
			Meta: tx.NewMeta("VM Network", nil), Range: netip.MustParsePrefix("10.0.0.0/16"),
			Subnets: []fakecloud.Subnet{{Type: "cloud", Range: netip.MustParsePrefix("10.0.0.0/24"), Zone: "region-1"}},
		}
		v.network = network.ID
		tx.Networks.Put(network)
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.server, err = vcenter.Serve(ctx, vcenter.Config{Cloud: cloud, User: user, Password: v.password})
	if err != nil {
		return nil, err
	}
	s.World.OnStop(v.server.Close)
	return v, nil
}

// Login is what a cloud controller manager needs to know.
func (v *VCenter) Login() Login {
	return Login{Host: v.server.Host(), User: user, Password: v.password}
}

// Create makes a virtual machine of the size "small" (2 CPUs, 4 GiB) that starts at
// once, with an address in the network. In its user data for cloud-init that address
// stands where ADDRESS does.
func (v *VCenter) Create(name, userData string) error {
	return v.Update(func(tx *fakecloud.Tx) error {
		network := tx.Networks.Get(v.network)
		ip, ok := tx.FreeIP(network, network.Subnets[0].Zone, netip.Prefix{})
		if !ok {
			return fmt.Errorf("creating virtual machine %q: the network is full", name)
		}
		_, _, _, err := tx.Create(fakecloud.Spec{
			Name: name, Type: v.Catalogue().ServerType("small"), Image: tx.Images.All()[0], Location: "zone-a",
			UserData: strings.ReplaceAll(userData, "ADDRESS", ip.String()), Start: true, Networks: []int64{v.network},
		})
		if err != nil {
			return fmt.Errorf("creating virtual machine %q: %w", name, err)
		}
		return nil
	})
}
