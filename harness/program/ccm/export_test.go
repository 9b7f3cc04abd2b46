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
	return install(ctx, w, t, builds.ReleasedCCMVSphere)
}

// StartVSphere runs the controller manager with its configuration and waits until it is ready,
// as Start does for the Hetzner Cloud. The configuration ends with the world.
func (c *CCM) StartVSphere(ctx context.Context, config string, args ...string) (*process.Process, error) {
	file := filepath.Join(c.world.Dir(), "vsphere.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return c.start(ctx, "vsphere", nil, append([]string{"--cloud-config=" + file, "--webhook-secure-port=0"}, args...))
}
