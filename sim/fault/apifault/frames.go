package apifault

import (
	"bytes"
	"encoding/binary"
)

// frames follows where in a watch's stream an event ends. JSON ends one with a
// line feed, which is in no string of it; protobuf begins one with its length, in
// 4 bytes, most significant first.
type frames struct {
	prefixed bool // protobuf
	inside   bool // JSON: an event has begun
	head     [4]byte
	have     int // of head
	left     int // bytes of the event to come
}

// betweenEvents reports whether no event is under way.
func (f *frames) betweenEvents() bool { return !f.inside && f.have == 0 && f.left == 0 }

// pass follows b to its end.
func (f *frames) pass(b []byte) {
	if !f.prefixed {
		if len(b) > 0 {
			f.inside = b[len(b)-1] != '\n'
		}
		return
	}
	for len(b) > 0 {
		b = b[f.step(b):]
	}
}

// passOne follows b to the end of the event that is under way, and returns how
// many bytes that took; all of b if the end is not in it.
func (f *frames) passOne(b []byte) int {
	if !f.prefixed {
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			f.inside = false
			return end + 1
		}
		return len(b)
	}
	n := 0
	for n < len(b) && !f.betweenEvents() {
		n += f.step(b[n:])
	}
	return n
}

// step follows b to the end of a length or of an event's bytes.
func (f *frames) step(b []byte) int {
	if f.left > 0 {
		n := min(f.left, len(b))
		f.left -= n
		return n
	}
	n := copy(f.head[f.have:], b)
	if f.have += n; f.have == len(f.head) {
		f.have, f.left = 0, int(binary.BigEndian.Uint32(f.head[:]))
	}
	return n
}
