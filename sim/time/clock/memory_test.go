//go:build linux && (amd64 || arm64)

package clock

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/tracee"
)

func TestMemory(t *testing.T) {
	if err := throughOurs(); err != nil {
		t.Error(err)
	}
}

func TestMemoryInContainer(t *testing.T) {
	under(t, containerRefuses, throughOurs)
}

// ours stays where it is, which what is on a stack need not.
var ours = []byte("before")

// throughOurs reads and writes what we have ourselves, where something is and where nothing is.
func throughOurs() error {
	there := ours
	copy(there, "before")
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(there))))
	data := make([]byte, len(there))
	if n, err := tracee.ReadMemory(os.Getpid(), at, data); err != nil || n != len(data) || string(data) != "before" {
		return fmt.Errorf("read are %d bytes, %q, %w", n, data, err)
	}
	if n, err := tracee.WriteMemory(os.Getpid(), at, []byte("behind")); err != nil || n != len(data) || string(there) != "behind" {
		return fmt.Errorf("written are %d bytes, %q, %w", n, there, err)
	}
	for _, nowhere := range []uint64{8, 1 << 63} {
		if _, err := tracee.ReadMemory(os.Getpid(), nowhere, data); !errors.Is(err, unix.EFAULT) {
			return fmt.Errorf("of %#x is said %w", nowhere, err)
		}
		if _, err := tracee.WriteMemory(os.Getpid(), nowhere, data); !errors.Is(err, unix.EFAULT) {
			return fmt.Errorf("of %#x, to be written, is said %w", nowhere, err)
		}
	}
	return nil
}
