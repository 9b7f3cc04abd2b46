package ccm

import (
	"fmt"
	"net"

	"nodestorm/fakecloud/vcenter"
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
`, v.User, v.Password, port, host, vcenter.Datacenter, vcenter.RegionCategory, vcenter.ZoneCategory), nil
}
