package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/cli"
)

// A proxy that is killed leaves no credentials behind; what its guard could not
// remove either, clean does.
func TestProxyKilled(t *testing.T) {
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, map[string]string{
			"/api":    `{"kind": "APIVersions", "versions": ["v1"]}`,
			"/apis":   `{"kind": "APIGroupList", "apiVersion": "v1"}`,
			"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "pods", "namespaced": true, "verbs": ["list"]}]}`,
		}[r.URL.Path])
	}))
	defer api.Close()
	tmp, files := t.TempDir(), t.TempDir()
	kubeconfig, rules := filepath.Join(files, "kubeconfig"), filepath.Join(files, "rules.yaml")
	write(t, kubeconfig, `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "`+api.URL+`", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: x}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, 0o600)
	write(t, rules, "rules:\n- {name: a, match: {resource: pods}, act: {drop: {}}}\n", 0o600)
	proxy, said, _ := command(t, tmp, "proxy", "--kubeconfig", kubeconfig, "--rules", rules)
	through := exported(t, bufio.NewReader(said))
	if !strings.HasPrefix(through, tmp) {
		t.Fatalf("the kubeconfig is %s, want it below %s", through, tmp)
	}
	if err := proxy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, said)
	_ = proxy.Wait()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left, err := os.ReadDir(tmp)
		if err == nil && len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	}

	left := filepath.Join(tmp, "nodestorm-proxy-1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(left, "owner"), fmt.Sprint(proxy.Process.Pid), 0o600)
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // where other worlds of this machine are noted
	if status, stdout, stderr := nodestorm(t, "clean"); status != cli.AsExpected || stdout != "removed "+left+"\n" {
		t.Errorf("clean: status %d, %q, %q", status, stdout, stderr)
	}
}
