package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nodestorm/harness/run/exit"
)

// A full disk is told with the way out, once, and keeps its status.
func TestWithRoom(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}
	for _, test := range []struct {
		err  error
		code int
		hint bool
	}{
		{full, Inconclusive, true}, {usage(full), Usage, true},
		{fmt.Errorf("%w; make room, or elsewhere", full), 0, false}, {errors.New("else"), 0, false}, {nil, 0, false},
	} {
		got := withRoom(test.err)
		if status := (*exit.Error)(nil); test.hint && (!errors.As(got, &status) || status.Code != test.code || !strings.Contains(got.Error(), "TMPDIR")) || !test.hint && !errors.Is(got, test.err) {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}

// What has no end is no file of a user's.
func TestReadFile(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small")
	if err := os.WriteFile(small, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := readFile(small); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := readFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "/dev/zero has more than 1 MiB") {
		t.Error(err)
	}
}
