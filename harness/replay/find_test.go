package replay_test

import (
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
)

// What is an installer's is found without a store's having it; nothing else is.
func TestFind(t *testing.T) {
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"kubespray@v2.24.0": "",
		"kubespray@mine":    "--order names a file with yours",
		"karpenter@v1.6.4":  "nodestorm target build karpenter@v1.6.4",
	} {
		ref, err := builds.ParseRef(name)
		if err != nil {
			t.Fatal(err)
		}
		switch found, err := replay.Find(store, ref); {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		case err != nil || found.Source.Kind != builds.FromOrder || found.Ref != ref || !found.Virtual() || len(found.SHA256) != 64:
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
