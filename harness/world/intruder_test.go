package world_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/history"
)

// testIntruders writes without credentials to all ports that a world has without a target.
func testIntruders(t *testing.T, w *world.World, left traces) {
	from := uint64(len(w.History().Since(0)))
	processtest.Intrude(t, left.dir)
	last := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "last"}} // what kube-apiserver was sent before is in the history when this is
	if _, err := w.Client().CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), last, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.History().WaitAfter(t.Context(), from, func(r history.Entry) bool { return r.Object.Name == "last" }); err != nil {
		t.Fatal(err)
	}
	processtest.CheckIntruded(t, w.History().Since(from))
	if err := w.Err(); err != nil {
		t.Error(err)
	}
}

// hides makes sure that the secret of the way out is in no file of a run.
func hides(t *testing.T, w *world.World, out string) {
	t.Helper()
	var secret string
	for _, pair := range w.Egress().Env() {
		if address, is := strings.CutPrefix(pair, "HTTPS_PROXY=http://world:"); is {
			secret, _, _ = strings.Cut(address, "@")
		}
	}
	if len(secret) < 20 {
		t.Fatalf("no secret in %q", w.Egress().Env())
	}
	files := 0
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has the secret of the way out", path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
