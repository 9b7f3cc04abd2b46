package supply

import (
	"bytes"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/output"
)

// Of several builds the number of each is shown, and which comes next.
func TestShowOn(t *testing.T) {
	var out bytes.Buffer
	show := ShowOn(output.NewPlainLine(&out), "[2/3] ", "; next: ccm@v0.36.3")
	show(buildstore.Update{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}, Stage: buildstore.Compiling, Package: "p"})
	if got := out.String(); !strings.HasPrefix(got, "[2/3] karpenter@v1.7.0: compiling") || !strings.HasSuffix(got, "  p; next: ccm@v0.36.3\n") {
		t.Errorf("%q", got)
	}
}
