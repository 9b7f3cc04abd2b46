package hetzner

import (
	"encoding/base64"
	"fmt"
	"net/netip"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/manifest"
)

// Image is what servers boot for which no image was chosen.
const Image = "ubuntu-24.04"

// UserData makes a server join the cluster. Its kubelet knows its provider ID by itself, as in clusters without a cloud
// controller manager.
func UserData(flags string) string {
	return machines.UserData("hcloud://", metadata+"instance-id", flags)
}

// Joining is what a Cluster Autoscaler needs to know to create such servers.
func Joining() []manifest.Variable {
	return []manifest.Variable{
		{Name: "HCLOUD_IMAGE", Value: Image},
		{Name: "HCLOUD_CLOUD_INIT", Value: base64.StdEncoding.EncodeToString([]byte(UserData("")))},
	}
}

// CreateServer creates a server that joins the cluster, as a user would by hand. It
// belongs to no node group unless one is named.
func (p *Project) CreateServer(name, group, serverType, location, flags string) error {
	var labels map[string]string
	if group != "" {
		labels = map[string]string{p.GroupLabel(): group}
	}
	t := p.Catalogue().ServerType(serverType)
	if t == nil {
		return fmt.Errorf("creating server %q: there is no server type %q", name, serverType)
	}
	return p.Update(func(tx *fakecloud.Tx) error {
		for _, image := range tx.Images.All() {
			if image.Name == Image && image.Architecture == t.Architecture {
				_, _, _, err := tx.Create(fakecloud.Spec{
					Name: name, Labels: labels, Type: t, Image: image, Location: location, UserData: UserData(flags), Start: true, IPv4: true, IPv6: true,
				})
				return err
			}
		}
		return fmt.Errorf("creating server %q: there is no image %q for %s", name, Image, t.Architecture)
	})
}

// CreateSurroundings creates what kube-hetzner makes before any server: a network
// with one subnet, a firewall and an SSH key, all of that name.
func (p *Project) CreateSurroundings(name string) error {
	return p.Update(func(tx *fakecloud.Tx) error {
		tx.Networks.Put(fakecloud.Network{
			Meta: tx.NewMeta(name, nil), Range: netip.MustParsePrefix("10.0.0.0/8"),
			Subnets: []fakecloud.Subnet{{Type: "cloud", Range: netip.MustParsePrefix("10.0.0.0/16"), Zone: "eu-central"}},
		})
		tx.Firewalls.Put(fakecloud.Firewall{Meta: tx.NewMeta(name, nil)})
		tx.SSHKeys.Put(fakecloud.SSHKey{Meta: tx.NewMeta(name, nil), Fingerprint: "00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff",
			PublicKey: "ssh-ed25519 AAAA " + name})
		return nil
	})
}

// CX11 is the server type that Hetzner withdrew in September 2024 (its changelog of
// 2024-06-06). Cluster Autoscaler up to 1.28.6, 1.29.4, 1.30.2 and 1.31.0 does
// nothing in a project without it (kubernetes/autoscaler#7210).
func CX11() fakecloud.ServerType {
	t := fakecloud.ServerType{ID: 1, Name: "cx11", Cores: 1, MemoryGB: 2, DiskGB: 20, CPUType: "shared", Architecture: "x86",
		Category: "Cost-Optimized"}
	for _, location := range []string{"fsn1", "nbg1", "hel1"} {
		t.Prices = append(t.Prices, fakecloud.Price{Location: location, Monthly: 3.29, TrafficTB: 20, PerTB: 1})
	}
	return t
}
