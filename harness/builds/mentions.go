package builds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"nodestorm/sim/strict"
)

// Mentions reports whether a build has a text in its program, as it has the name of every
// environment variable that it asks for.
func (t Target) Mentions(text string) (bool, error) {
	f, err := strict.Open(context.Background(), t.Binary())
	if err != nil {
		return false, fmt.Errorf("reading the program of %s: %w", t.Ref, err)
	}
	defer f.Close()
	want, buffer, kept := []byte(text), make([]byte, 1<<20), 0
	for {
		n, err := f.Read(buffer[kept:])
		have := buffer[:kept+n]
		if bytes.Contains(have, want) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("reading the program of %s: %w", t.Ref, err)
		}
		kept = copy(buffer, have[max(0, len(have)-len(want)):]) // of a text that is cut
	}
}
