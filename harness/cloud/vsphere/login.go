package vsphere

import (
	"fmt"
	"net"

	"nodestorm/fakecloud/vcenter"
)

// Login says which vCenter a cloud controller manager works with. All fields are required.
type Login struct {
	Host           string // with its port
	User, Password string
}

// Config is the vsphere.conf (INI) for it. The vCenter's certificate is not checked.
func (v Login) Config() (string, error) {
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
`, v.User, v.Password, port, host, vcenter.Datacenter, vcenter.RegionCategory, vcenter.ZoneCategory), nil
}
