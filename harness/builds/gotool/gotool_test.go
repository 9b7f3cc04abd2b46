package gotool

import (
	"go/version"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A later patch release of this machine's Go is fetched, and another minor release is for people to install.
func TestToolchain(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	minor := strings.TrimPrefix(version.Lang(runtime.Version()), "go")
	for wanted, says := range map[string]string{
		minor:          "",
		minor + ".999": "a later patch release than " + runtime.Version() + " of this machine, and that could not be fetched",
		"1.99.1":       "asks for Go 1.99.1",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tiny\n\ngo "+wanted+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tool := New(dir, t.TempDir(), io.Discard)
		chain, err := tool.Toolchain(t.Context())
		switch {
		case says == "" && (err != nil || chain.GOVERSION != runtime.Version()):
			t.Errorf("Go %s: %+v, %v", wanted, chain, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("Go %s: %v, want %q", wanted, err, says)
		}
	}
}
