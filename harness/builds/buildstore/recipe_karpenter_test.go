package buildstore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Which of the adapter's files a source needs follows from how Karpenter itself is put together there.
func TestKarpenterSpan(t *testing.T) {
	const values, pointers = "type Offerings []Offering", "type Offerings []*Offering"
	for _, test := range []struct{ of, main, types, class, want string }{
		{"v1.0.6", "NewControllers(cloudProvider).Start(ctx, cloudProvider)", values, "", "karpenter_v1_0"},
		{"v1.1.5", "NewControllers(cloudProvider).Start(ctx)", values, "", "karpenter_v1_1"},
		{"v1.2.3", "state.NewCluster(cloudProvider)", values, "", "karpenter_v1_2"},
		{"v1.6.4", "state.NewCluster(cloudProvider)", pointers, "", "karpenter_v1_3"},
		{"v1.7.0", "overlay.Decorate(cloudProvider); state.NewCluster(cloudProvider)", pointers, "", ""},
		{"v1.14.1", "overlay.Decorate(cloudProvider); state.NewCluster(cloudProvider)", pointers, "opts ...status.ForOption", "karpenter_v1_14"},
	} {
		root := t.TempDir()
		for path, text := range map[string]string{
			"kwok/main.go": test.main, "pkg/cloudprovider/types.go": test.types, "kwok/apis/v1alpha1/kwoknodeclass_status.go": test.class,
		} {
			file := filepath.Join(root, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tags, err := karpenterSpan(root)
		if err != nil || !slices.Equal(tags, slices.DeleteFunc([]string{test.want}, func(tag string) bool { return tag == "" })) {
			t.Errorf("%s: tags %q (%v), want %q", test.of, tags, err, test.want)
		}
	}
	if _, err := karpenterSpan(t.TempDir()); err == nil {
		t.Error("a folder without Karpenter is in a span of its releases")
	}
}
