package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
)

// Digest is that of all that the clock puts into builds, whatever the toolchain: two
// programs whose clocks have one digest agree on the time. [Write] says more, and
// needs the toolchain. Comments count, too: those that name the package by the path it had
// once are to stay so, or all builds are stale.
var Digest = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, e := range append(append([]edit{}, editsAMD64...), edits...) {
		fmt.Fprintf(sum, "%q %q %q\n", e.file, e.old, e.new)
	}
	fmt.Fprintf(sum, "%q %d %d %d %d %d\n", unixTime, PageMagic, PageSize, SlotSize, SlotCount, LagBuckets)
	err := fs.WalkDir(additions, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := additions.ReadFile(path)
		fmt.Fprintf(sum, "%q %q\n", "overlay/"+path, text) // as builds were named by before
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("reading what is part of the program: %v", err))
	}
	return hex.EncodeToString(sum.Sum(nil))
})
