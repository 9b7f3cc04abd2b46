package buildstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/builds"
)

func TestClusterAPIRecipe(t *testing.T) {
	for _, ref := range builds.ClusterAPI {
		r, err := Known(ref)
		ok(t, err)
		if r.Module != "sigs.k8s.io/cluster-api" || r.Package != "" || !strings.Contains(r.LDFlags, "version.gitVersion="+ref.Version+" ") || !strings.Contains(r.LDFlags, "version.gitMajor=1 ") {
			t.Errorf("%s: %+v", ref, r)
		}
	}
	r, err := Known(builds.Ref{Name: "cluster-api", Version: "v1.14.2"})
	ok(t, err)
	if r.Package != "./core" || !slices.Equal(r.Assets, []string{"core/config"}) {
		t.Errorf("v1.14.2, whose core is in a folder: %+v", r)
	}
	source := t.TempDir()
	ok(t, os.MkdirAll(filepath.Join(source, "core", "config"), 0o755))
	if r := FromSource(builds.Ref{Name: "cluster-api", Version: "mine"}, source); r.Package != "./core" || r.Dir != source {
		t.Errorf("a checkout of one: %+v", r)
	}
	for version, like := range map[string]string{"1.9.5": "did you mean cluster-api@v1.9.5?", "v1.9": "did you mean cluster-api@v1.9.0?", "main": "as in cluster-api@v1.9.5"} {
		_, err := Known(builds.Ref{Name: "cluster-api", Version: version})
		wantError(t, err, "cluster-api@"+version, like)
	}
}
