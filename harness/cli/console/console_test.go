package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What has no end is no file of a user's.
func TestReadFile(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small")
	if err := os.WriteFile(small, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(small); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "/dev/zero is a device") {
		t.Error(err)
	}
	if err := os.Truncate(small, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(small); err == nil || !strings.Contains(err.Error(), small+" has more than 1 MiB") {
		t.Error(err)
	}
}
