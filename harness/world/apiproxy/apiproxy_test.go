package apiproxy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"nodestorm/sim/fault/apifault"
)

func TestLoopback(t *testing.T) {
	if Loopback("0.0.0.0:1") == nil || Loopback("127.0.0.1:1") != nil || Loopback("localhost:1") != nil || Loopback("x") == nil {
		t.Error("loopback")
	}
}

// The kubeconfig has credentials: what others could read becomes the user's alone, and
// a file without a given name is gone with the proxy.
func TestProxiedKubeconfig(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p, err := apifault.Start(apifault.Config{Client: &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	raw := clientcmdapi.Config{
		CurrentContext: "x",
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://127.0.0.1:1"}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "a secret"}},
	}
	named := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(named, []byte("of before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{named, ""} {
		path, remove, err := write(p, raw, out)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("--out %q: mode %v, %v; want it readable by the user only", out, info.Mode(), err)
		}
		if text, _ := os.ReadFile(path); !strings.Contains(string(text), "a secret") {
			t.Errorf("--out %q: %s", out, text)
		}
		if err := remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) != (out == "") {
			t.Errorf("--out %q, at the end: %v", out, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(named)); len(left) != 1 {
			t.Errorf("left behind: %v", left)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, _, err := write(p, raw, filepath.Join(named, "below")); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("error %v", err)
	}
}
