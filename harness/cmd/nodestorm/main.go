// Command nodestorm replays documented failures of Kubernetes node autoscalers
// against real builds, in virtual time.
package main

import (
	"os"
	"path/filepath"

	"nodestorm/harness/cli"
)

func main() {
	removeEnvtestFolder()
	os.Exit(cli.Main())
}

// removeEnvtestFolder removes the empty folder that envtest makes for temporary files when it is linked, where the user has no
// folder for caches. It would keep ports of control planes there, which nodestorm starts itself.
func removeEnvtestFolder() {
	const name = "kubebuilder-envtest"
	if caches, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(filepath.Join(caches, name)); err == nil {
			return // it is there
		}
	}
	_ = os.Remove(filepath.Join(os.TempDir(), name)) // an error if there is none, or others have something in it
}
