package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/doctor"
)

func TestDoctorSays(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	t.Setenv("PATH", t.TempDir())
	code, stdout, _ := said(t, "doctor", "--json")
	var d doctor.Diagnosis
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != NotAsExpected || len(d.Machine) == 0 || d.Machine[0].OK {
		t.Errorf("status %d, %v: %s", code, err, stdout)
	}
	if _, stdout, _ := said(t, "doctor"); !strings.Contains(stdout, "\n  ✗ 0 of ") || !strings.Contains(stdout, "  ✓ virtual time: the kernel allows it; without Go no program was tried") {
		t.Errorf("%s", stdout)
	}
}
