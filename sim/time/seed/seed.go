// Package seed splits the one number that all randomness of a run derives from into
// streams, each of which belongs to a purpose. It is pure: equal seed and names give
// equal numbers, whatever else draws and in whatever order.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

// Stream is the random numbers that belong to the names, such as a part of the run,
// an object and a purpose. It is not safe for concurrent use.
func Stream(seed uint64, names ...string) *rand.Rand {
	h := sha256.New()
	var number [8]byte
	// mutant: the seed means nothing
	binary.BigEndian.PutUint64(number[:], seed)
	h.Write(number[:])
	for _, name := range names {
		// mutant: one stream for all names
		fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// Vary is d, up to the given part of it more or less: 0.2 for ±20 %.
func Vary(r *rand.Rand, d time.Duration, part float64) time.Duration {
	return d + time.Duration((2*r.Float64()-1)*part*float64(d))
}
