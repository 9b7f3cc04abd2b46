package supply

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/output"
)

// words takes what is said, a line each.
type words struct{ to *bytes.Buffer }

func (w words) Say(format string, args ...any)    { fmt.Fprintf(w.to, format+"\n", args...) }
func (w words) Remark(format string, args ...any) { w.Say(format, args...) }
func (w words) Detail(string, ...any)             {}
func (w words) NewLine() Line                     { return output.NewLine(w.to) }

var nowhere = builds.Ref{Name: "cluster-autoscaler", Version: "1.33.0", Provider: "hetzner"}

// Registries are asked until one gives no answer, which is said once.
func TestGivenUp(t *testing.T) {
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	s := &Supplier{Store: store, Registries: buildstore.Registries{Mirror: "127.0.0.1:1"}, Output: words{&said}}
	for range 2 {
		if offer, err := s.offer(t.Context(), nowhere); offer != nil || err != nil {
			t.Errorf("%v, %v", offer, err)
		}
	}
	if text := said.String(); strings.Count(text, "127.0.0.1:1 cannot be reached") != 1 || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %q", text)
	}
}

// The programs that are in official images are no Kubernetes for worlds, which take more of it.
func TestOfficialKubernetes(t *testing.T) {
	if got := Places(builds.Kubernetes, buildstore.Registries{From: "x", Mirror: "y"}); got.From != "x" || got.Mirror != buildstore.NoRegistry {
		t.Errorf("Kubernetes is asked for at %+v", got)
	}
	if got := Places(nowhere, buildstore.Registries{Mirror: "y"}); got.Mirror != "y" {
		t.Errorf("others are asked for at %+v", got)
	}
}
