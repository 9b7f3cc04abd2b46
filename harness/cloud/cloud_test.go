package cloud

import "testing"

// Clouds are found by their names, and by the programs that can have them.
func TestNamed(t *testing.T) {
	for i, f := range All() {
		if f.Name == "" || i > 0 && All()[i-1].Name == f.Name || Named(f.Name) != &All()[i] {
			t.Errorf("%q is not found, or is there twice", f.Name)
		}
	}
	if Named("nowhere") != nil || len(NamesFor("karpenter")) < 2 || len(NamesFor("unknown")) > 0 {
		t.Errorf("of Karpenter there are %q", NamesFor("karpenter"))
	}
}
