package console

import (
	"bytes"
	"testing"
)

// With -q no remark and no progress is printed, with -v each change.
func TestWords(t *testing.T) {
	var out bytes.Buffer
	e := &Console{Stderr: &out, Quiet: true}
	e.Remark("a remark")
	e.Detail("a detail")
	e.NewLine().Show("", "progress", "")
	if out.Len() > 0 {
		t.Errorf("printed with -q: %q", out.String())
	}
	e = &Console{Stderr: &out, Verbose: true}
	e.Detail("a detail")
	s := e.NewLine()
	s.Show("x", "progress", "one")
	s.Show("x", "progress", "two")
	s.Show("x", "progress", "two")
	if got, want := out.String(), "nodestorm: a detail\nprogress  one\nprogress  two\n"; got != want {
		t.Errorf("printed with -v: %q, want %q", got, want)
	}
}
