package ccm

import (
	"context"
	"os"
	"path/filepath"

	"nodestorm/harness/builds"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
)

// InstallVSphere is Install for vSphere's controller manager as a process. In worlds it
// is a program of a pod, and its order brings the rights.
func InstallVSphere(ctx context.Context, w *world.World, t builds.Target) (*CCM, error) {
	return install(ctx, w, t, VSphereName)
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
