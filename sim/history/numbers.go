package history

import "slices"

// numbers are the Seq that a reading has met, with their lines. Of those that count on, as a
// run writes them, it keeps where they begin only.
type numbers struct {
	runs  []numbered
	stray map[uint64]int // that do not come after all others: seq → line
}

// numbered are seq, seq+1, … on line, line+1, …, n of them.
type numbered struct {
	seq  uint64
	line int
	n    uint64
}

// maxStrays bounds how many pieces a history may consist of. A variable for tests only.
var maxStrays = 1_000_000

// add notes a number on a line, and returns the line on which it already was, or 0.
func (s *numbers) add(seq uint64, line int) (first int) {
	if len(s.runs) > 0 {
		last := &s.runs[len(s.runs)-1]
		switch {
		case seq == last.seq+last.n && line == last.line+int(last.n):
			last.n++
			return 0
		case seq < last.seq+last.n:
			return s.addStray(seq, line)
		}
	}
	s.runs = append(s.runs, numbered{seq, line, 1})
	return 0
}

func (s *numbers) addStray(seq uint64, line int) (first int) {
	if line, known := s.stray[seq]; known {
		return line
	}
	at, exact := slices.BinarySearchFunc(s.runs, seq, func(r numbered, seq uint64) int {
		switch {
		case r.seq+r.n <= seq:
			return -1
		case r.seq > seq:
			return 1
		}
		return 0
	})
	if exact {
		return s.runs[at].line + int(seq-s.runs[at].seq)
	}
	if s.stray == nil {
		s.stray = map[uint64]int{}
	}
	s.stray[seq] = line
	return 0
}

// scattered reports whether there are too many pieces to remember.
func (s *numbers) scattered() bool { return len(s.runs)+len(s.stray) > maxStrays }
