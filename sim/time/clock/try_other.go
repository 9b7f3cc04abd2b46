//go:build !linux

package clock

import "runtime"

// Try says whether there is such time here: virtual time needs Linux.
func (m Mode) Try() error { return m.supported(runtime.GOOS, runtime.GOARCH) }

// TryBuiltIn is [Mode.Try].
func TryBuiltIn() error { return Auto.Try() }
