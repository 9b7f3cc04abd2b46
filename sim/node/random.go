package node

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// stream returns the random numbers that belong to one purpose on one node. Equal
// seed and names give equal numbers, whatever else draws and in whatever order.
func stream(seed uint64, node, purpose string) *rand.Rand {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], seed)
	sum := sha256.Sum256([]byte(string(number[:]) + "\x00" + node + "\x00" + purpose))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// late returns d or up to 4 % more: the jitter of the kubelet's lease and status
// loops, wait.JitterUntil with a factor of 0.04.
func late(d time.Duration, r *rand.Rand) time.Duration {
	return d + time.Duration(r.Float64()*0.04*float64(d))
}
