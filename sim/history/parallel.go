package history

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"runtime"
	"sync"
)

// batchSize is about how much text, in bytes, is parsed at a time: enough to make
// handing it over cheap, and little beside what a reader of histories needs.
const batchSize = 256 << 10

// storedLine is a line of a stored history: its event, with Seq zero if it holds none,
// and what is wrong with it.
type storedLine struct {
	n     int // from 1
	text  []byte
	open  bool // its end is missing
	event Entry
	err   error
}

// lines are the lines of a stored history in their order, those without text
// left out. Parsing JSON is most of the work of reading a history, so batches of
// lines are parsed on all processors; a few batches are in memory at a time.
func lines(r io.Reader) iter.Seq[storedLine] {
	return func(yield func(storedLine) bool) {
		type batch struct {
			lines  []storedLine
			parsed chan struct{}
		}
		var (
			workers = runtime.GOMAXPROCS(0)
			todo    = make(chan batch, workers)
			inOrder = make(chan batch, 2*workers)
			stop    = make(chan struct{})
			group   sync.WaitGroup
		)
		defer group.Wait()
		defer close(stop)
		for range workers {
			group.Go(func() {
				for b := range todo {
					for i := range b.lines {
						b.lines[i].parse()
					}
					close(b.parsed)
				}
			})
		}
		group.Go(func() {
			defer close(todo)
			defer close(inOrder)
			for next := range batches(r) {
				b := batch{next, make(chan struct{})}
				select {
				case inOrder <- b:
					todo <- b
				case <-stop:
					return
				}
			}
		})
		for b := range inOrder {
			<-b.parsed
			for _, l := range b.lines {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// batches splits text into lines, a number of them at a time. An error of r is a
// line without text, the last.
func batches(r io.Reader) iter.Seq[[]storedLine] {
	return func(yield func([]storedLine) bool) {
		reader := bufio.NewReaderSize(r, 64<<10)
		var next []storedLine
		size := 0
		for n := 1; ; n++ {
			text, err := readLine(reader)
			long := errors.Is(err, errLongLine)
			switch {
			case long:
				next = append(next, storedLine{n: n, err: err})
			case len(text) > 0:
				next = append(next, storedLine{n: n, text: text, open: err != nil})
			}
			if err != nil && !long && !errors.Is(err, io.EOF) {
				next = append(next, storedLine{n: n, err: err})
			}
			size += len(text)
			end := err != nil && !long
			if end || size >= batchSize {
				if len(next) > 0 && !yield(next) || end {
					return
				}
				next, size = make([]storedLine, 0, len(next)), 0
			}
		}
	}
}
