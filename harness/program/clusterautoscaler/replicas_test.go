package clusterautoscaler_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/world/process"
)

// A user who may not name hosts cannot have replicas. Root runs the test as another user.
func TestReplicasNeedHostNames(t *testing.T) {
	if err := clusterautoscaler.Kind.CheckReplicas(1); err != nil {
		t.Errorf("one process: %v", err)
	}
	err := clusterautoscaler.Kind.CheckReplicas(2)
	if !process.NamesHosts() {
		if err == nil || !strings.Contains(err.Error(), "2 replicas of Cluster Autoscaler need a host name each") {
			t.Errorf("two processes without the right: %v", err)
		}
		return
	}
	if err != nil {
		t.Errorf("two processes: %v", err)
	}
	dir, err := os.MkdirTemp("", "nodestorm-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const other = 65534 // a user without rights, on every Linux
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestReplicasNeedHostNames$", "-test.v")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}
