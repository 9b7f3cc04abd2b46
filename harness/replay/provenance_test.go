package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
)

// What the user puts in place of a release is noted by its content, and by no path.
func TestProvenance(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a private place")
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const applied = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	put("k8s/etcd", "#!/bin/sh\n")
	put("k8s/kube-apiserver", "#!/bin/sh\n")
	put("apps/dns.yaml", applied)
	r := replay.Request{
		Record: lookup(t, scenario), Features: os.DirFS("../../features"),
		Target: builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "kubespray", Version: "mine"}}},
		Settings: replay.Settings{
			ControlPlane: replay.ControlPlane{Folder: filepath.Join(dir, "k8s"), Version: "v1.33.2"},
			Manifest:     put("deployment.yaml", "kind: Deployment"),
			Order:        put("order.yaml", "steps: [{apply: apps/dns.yaml}, {apply: apps/dns.yaml}]"),
			With:         []builds.Target{{Manifest: builds.Manifest{Ref: builds.CCM, SHA256: "01"}, Dir: dir}},
			Stale:        []builds.Ref{builds.CCM},
		},
	}
	noted := func() string {
		t.Helper()
		var err error
		if r.Target, err = replay.OwnOrder(r.Target.Ref, r.Order); err != nil {
			t.Fatal(err)
		}
		p, err := r.Provenance(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := noted()
	for _, want := range []string{
		`"controlPlane":{"name":"k8s","version":"v1.33.2","programs":[{"name":"etcd","sha256":"`, `"manifest":{"name":"deployment.yaml","sha256":"`,
		`"order":[{"name":"order.yaml","sha256":"`, `},{"name":"apps/dns.yaml","sha256":"`, `"with":[{"name":"ccm",`, `"stale":[{"name":"ccm",`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("%s lacks %s", first, want)
		}
	}
	if strings.Contains(first, "private") || strings.Count(first, `"apps/dns.yaml"`) != 1 {
		t.Errorf("%s has a path, or a file twice", first)
	}
	seen := map[string]string{first: "as it was"}
	for name, text := range map[string]string{
		"k8s/etcd": "#!/bin/sh\n# other\n", "deployment.yaml": "kind: Other", "order.yaml": "steps: [{apply: apps/dns.yaml}]", "apps/dns.yaml": applied + "\n",
	} {
		put(name, text)
		// An order that has changed since a command has read it is another target.
		_, err := r.Provenance(t.Context())
		if of := name == "order.yaml" || name == "apps/dns.yaml"; of != (err != nil && strings.Contains(err.Error(), "order.yaml, or what it applies, has changed since the command began")) {
			t.Errorf("%s has changed: %v", name, err)
		}
		now := noted()
		if before, is := seen[now]; is {
			t.Errorf("%s has changed, and what is noted is the same as with %s", name, before)
		}
		seen[now] = name
	}
	r.Manifest = filepath.Join(dir, "none.yaml")
	if _, err := r.Provenance(t.Context()); err == nil {
		t.Error("a manifest that is not there was noted")
	}
}
