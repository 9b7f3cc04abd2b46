package world

import (
	"os"
	"path/filepath"
	"slices"

	"nodestorm/harness/world/egress"
)

// environment is all that a program of the world gets: of ours the PATH, and own.
// Credentials, proxies and settings of the user's would else reach the build under
// test, or change what it does unseen. What comes last, own cannot change.
func (w *World) environment(own ...string) []string {
	return slices.Concat([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(w.tmp, "home"),
		"TMPDIR=" + filepath.Join(w.tmp, "tmp"),
		"LANG=C.UTF-8",
	}, own, []string{
		"TZ=UTC", // klog's lines have the local time without its zone, and are read by us
		w.driver.Env(),
	})
}

// isolatedEnvironment is the environment of a program that may reach nothing outside the world.
func (w *World) isolatedEnvironment(own []string) []string {
	return append(w.environment(own...), w.egress.Env()...)
}

// ownFilesEnvironment is the environment of one that has files of its own, and so its own PATH and HOME.
// It has no clock's page.
func (w *World) ownFilesEnvironment(own []string) []string {
	return slices.Concat(own, []string{"TZ=UTC"}, w.egress.Env())
}

// startEgress starts what stands in for everything outside: a proxy that leads nowhere
// and records who wanted to go where.
func (w *World) startEgress() (err error) {
	w.egress, err = egress.Serve(egress.Config{CertFile: filepath.Join(w.tmp, "egress-ca.crt"), Clock: w.Clock(), History: w.history})
	if err == nil {
		w.OnStop(w.egress.Close)
	}
	return err
}

// Egress is the only way out that programs of the world have.
func (w *World) Egress() *egress.Proxy { return w.egress }
