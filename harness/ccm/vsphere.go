package ccm

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"nodestorm/fakecloud/vsphere"
	"nodestorm/harness/process"
)

// VSphere says which vCenter the controller manager works with. All fields are required.
type VSphere struct {
	Host           string // with its port
	User, Password string
}

// Config is the vsphere.conf (INI) for it. The vCenter's certificate is not checked.
func (v VSphere) Config() (string, error) {
	host, port, err := net.SplitHostPort(v.Host)
	if err != nil {
		return "", fmt.Errorf("vCenter %q: %w", v.Host, err)
	}
	return fmt.Sprintf(`[Global]
user = %q
password = %q
port = %q
insecure-flag = true

[VirtualCenter %q]
datacenters = %q

[Labels]
region = %q
zone = %q
`, v.User, v.Password, port, host, vsphere.Datacenter, vsphere.RegionCategory, vsphere.ZoneCategory), nil
}

// StartVSphere runs the controller manager for a vCenter and waits until it is ready,
// as Start does for the Hetzner Cloud. Its configuration ends with the world.
func (c *CCM) StartVSphere(ctx context.Context, v VSphere, args ...string) (*process.Process, error) {
	text, err := v.Config()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.world.Dir(), "vsphere.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return c.start(ctx, "vsphere", nil, append([]string{"--cloud-config=" + file, "--webhook-secure-port=0"}, args...))
}
