package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLine is the longest line, in bytes, that Read takes as an event. Real lines
// are below 2 KiB; the bound keeps a foreign file from filling the memory.
const maxLine = 4 << 20

// maxProblems bounds how many problems Read lists: beyond, a file is foreign.
const maxProblems = 100

// Problem is a place of a stored history that could not be read as an event.
type Problem struct {
	// Line counts from 1.
	Line int
	Err  error
}

// Error is "line 12: " and the reason.
func (p Problem) Error() string { return fmt.Sprintf("line %d: %v", p.Line, p.Err) }

// Unwrap returns the reason.
func (p Problem) Unwrap() error { return p.Err }

// Read returns the events of a stored history in the order of Sort, all of them in memory,
// and what was wrong with it, as Scan reports it.
func Read(r io.Reader) ([]Entry, []Problem) {
	var events []Entry
	problems := Scan(r, func(event Entry) { events = append(events, event) })
	Sort(events)
	return events, problems
}

// Scan calls each for every event of a stored history, in the order of the
// file, and returns what was wrong with it: lines that are no events are left
// out and listed, so is a last line that was cut off, and so is an error of r,
// which ends the reading. Text that is not UTF-8 is kept with U+FFFD in place of
// the bad bytes, and listed. The events' At is zero: a stored history knows
// offsets only. Scan keeps nothing that grows with the events, so that a history may be
// larger than the memory.
func Scan(r io.Reader, each func(Entry)) []Problem {
	var problems []Problem
	var seen numbers
	for l := range lines(r) {
		if l.err != nil {
			problems = append(problems, Problem{l.n, l.err})
		}
		if l.event.Seq != 0 {
			// mutant: a repeated event is taken
			if first := seen.add(l.event.Seq, l.n); first != 0 {
				problems = append(problems, Problem{l.n, fmt.Errorf("seq %d is already on line %d", l.event.Seq, first)})
			} else {
				each(l.event)
			}
			if seen.scattered() {
				return append(problems,
					Problem{l.n, fmt.Errorf("its events are in more than %d pieces, no run's are: the rest is not read", maxStrays)})
			}
		}
		if len(problems) >= maxProblems {
			problems = append(problems, Problem{l.n, errors.New("too many problems, the rest is not read")})
			break
		}
	}
	return problems
}

// parse finds the event in the line's text, if there is a text.
func (l *storedLine) parse() {
	if len(bytes.TrimSpace(l.text)) == 0 {
		return
	}
	l.event, l.err = parse(l.text, l.open)
	l.text = nil // the event has all of it
}

// parse returns a line's event, with Seq zero if it holds none. open says that
// the line has no end.
func parse(text []byte, open bool) (Entry, error) {
	var event Entry
	if err := json.Unmarshal(text, &event); err != nil {
		if open {
			return Entry{}, fmt.Errorf("cut off after %d bytes", len(text))
		}
		return Entry{}, fmt.Errorf("not an event: %w", err)
	}
	switch {
	case event.Seq == 0:
		return Entry{}, errors.New("not an event: seq is missing")
	case event.Source == "":
		return Entry{}, errors.New("not an event: source is missing")
	case event.Verb == "":
		return Entry{}, errors.New("not an event: verb is missing")
	case !utf8.Valid(text):
		return event, errors.New("not UTF-8: bad bytes are shown as U+FFFD")
	}
	return event, nil
}

var errLongLine = fmt.Errorf("longer than %d bytes", maxLine)

// readLine returns the next line without its end. errLongLine means that the
// line was skipped and reading can go on; any other error is the reader's, and
// what was read before it comes with it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		chunk, err := r.ReadSlice('\n')
		if !long {
			text = append(text, chunk...)
		}
		if len(text) > maxLine {
			text, long = nil, true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long: // at the end of r, the next call reports it
			return nil, errLongLine
		case err != nil:
			return text, err
		}
		return bytes.TrimSuffix(text, []byte("\n")), nil
	}
}
