package builds

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A text is found wherever it is in a program, also where two reads meet.
func TestMentions(t *testing.T) {
	const name = "CAPI_GROUP"
	of := Target{Manifest: Manifest{Ref: Ref{Name: "program"}}, Dir: t.TempDir()}
	if _, err := of.Mentions(name); err == nil {
		t.Error("there is no program, and no error")
	}
	if err := os.Mkdir(of.Bin(), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{-1, 0, 5, 1<<20 - 9, 1<<20 - 1, 1 << 20, 2<<20 - 15, 3<<20 - len(name)} {
		text := bytes.Repeat([]byte("CAPI_GROU"), 3<<20/9+1)[:3<<20]
		if at >= 0 {
			copy(text[at:], name)
		}
		if err := os.WriteFile(filepath.Join(of.Bin(), of.Name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if found, err := of.Mentions(name); err != nil || found != (at >= 0) {
			t.Errorf("at %d: %t, %v", at, found, err)
		}
	}
}
