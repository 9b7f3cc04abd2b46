package exit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A full disk is reported once, with the way out, and keeps its status.
func TestWithRoom(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}
	for _, test := range []struct {
		err  error
		code int
		hint bool
	}{
		{full, Inconclusive, true}, {UsageError(full), Usage, true},
		{fmt.Errorf("%w; make room, or elsewhere", full), 0, false}, {errors.New("else"), 0, false}, {nil, 0, false},
	} {
		got := WithRoom(test.err)
		if status := (*Error)(nil); test.hint && (!errors.As(got, &status) || status.Code != test.code || !strings.Contains(got.Error(), "TMPDIR")) || !test.hint && !errors.Is(got, test.err) {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}
