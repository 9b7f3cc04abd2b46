// Package lines reads a file that may be anything as lines of text: unpacked, without the colours, quotes and line
// ends that copying adds, and no further than its bounds. What the lines mean is for package draft.
package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"nodestorm/sim/strict"
)

// What is read of one file, of one line and of one document at most.
const (
	mostBytes    = 256 << 20
	mostLine     = 8 << 20
	MostDocument = 32 << 20
)

// File is a file that is read once.
type File struct {
	name  string
	text  *bufio.Reader
	size  int64 // of the file; 0: not known
	left  int64
	close func()
	ctx   context.Context
	read  int64
	// progress gets what is read and how far, often.
	progress func(string)
	more     bool // there was more than mostBytes
	line     int
	long     int // lines that were too long
	from     io.Reader
}

// Open opens a regular file, or standard input as "-". What it returns is to be closed.
func Open(ctx context.Context, name string, progress func(what string)) (*File, error) {
	if name == "-" {
		return open(ctx, awaited{ctx, os.Stdin}, "standard input", 0, progress, func() {})
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; name a file that can be read", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; --dump takes folders", name)
	case strict.Regular(name) != nil:
		return nil, fmt.Errorf("%w, or pipe it in as -", strict.Regular(name))
	case info.Size() == 0:
		return nil, fmt.Errorf("%s is empty", name)
	}
	f, err := strict.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%w; name a file that can be read", err)
	}
	in, err := open(ctx, f, name, info.Size(), progress, func() { _ = f.Close() })
	if err != nil {
		_ = f.Close()
	}
	return in, err
}

// awaited is standard input, on which nothing may ever come. Who waits for it gives up when ctx ends.
type awaited struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader. What comes after ctx has ended is lost.
func (a awaited) Read(p []byte) (int, error) {
	type came struct {
		n   int
		err error
	}
	text, done := make([]byte, len(p)), make(chan came, 1)
	go func() {
		n, err := a.from.Read(text)
		done <- came{n, err}
	}()
	select {
	case c := <-done:
		return copy(p, text[:c.n]), c.err
	case <-a.ctx.Done():
		return 0, context.Cause(a.ctx)
	}
}

// open unpacks and decodes what it reads, and refuses what is not text.
func open(ctx context.Context, from io.Reader, name string, size int64, progress func(string), end func()) (*File, error) {
	in := &File{name: name, size: size, left: mostBytes, close: end, ctx: ctx, progress: progress, from: from}
	start := bufio.NewReaderSize(in, 64<<10)
	if magic, _ := start.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(start)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; unpack it with gunzip", name, err)
		}
		start = bufio.NewReaderSize(&bounded{from: packed, in: in, left: mostBytes}, 64<<10)
	}
	in.text = bufio.NewReaderSize(transform.NewReader(start, unicode.BOMOverride(transform.Nop)), 64<<10)
	if begin, _ := in.text.Peek(4096); bytes.IndexByte(begin, 0) >= 0 {
		return nil, fmt.Errorf("%s is no text: it begins with %q; an archive wants to be unpacked first", name, begin[:min(8, len(begin))])
	}
	return in, nil
}

// bounded ends what is unpacked where a file would end.
type bounded struct {
	from io.Reader
	in   *File
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.in.more = true
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Read implements io.Reader, for what is above it.
func (in *File) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	if in.left == 0 {
		// mutant: what is too large is said to be whole
		in.more = in.more || in.size == 0 || in.size > in.read
		return 0, io.EOF
	}
	n, err := in.from.Read(p[:min(int64(len(p)), in.left)])
	in.left -= int64(n)
	in.read += int64(n)
	what := fmt.Sprintf("reading %s: %d MiB", filepath.Base(in.name), in.read>>20)
	if in.size > 0 {
		what += fmt.Sprintf(" of %d MiB", in.size>>20)
	}
	in.progress(what)
	return n, err
}

// escapes are what a terminal obeys, such as colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// Next is the next line as it was before it was pasted: without the end that Windows
// gives it, colours, and what quotes it. Fences are no lines.
func (in *File) Next() (line []byte, ok bool) {
	for {
		raw, err := in.rawLine()
		if raw == nil && err != nil {
			return nil, false
		}
		line = Clean(raw)
		if trimmed := bytes.TrimSpace(line); bytes.HasPrefix(trimmed, []byte("```")) || bytes.HasPrefix(trimmed, []byte("~~~")) {
			continue
		}
		return line, true
	}
}

// Clean is a line without what copying adds to it.
func Clean(raw []byte) []byte {
	line := bytes.TrimRight(raw, "\r\n\t ")
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = escapes.ReplaceAll(line, nil)
	}
	for bytes.HasPrefix(line, []byte("> ")) {
		line = line[2:]
	}
	return line
}

// rawLine is a line; one that is too long is empty. It is nil at the end.
func (in *File) rawLine() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.text.ReadSlice('\n')
		if len(line)+len(part) > mostLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(part) == 0 && len(line) == 0 && err != nil && !long {
			return nil, err
		}
		in.line++
		if long {
			in.long++
			line = []byte{}
		}
		return line, err
	}
}

// All is the rest of the text, line by line clean, if it is not too long.
func (in *File) All() ([]byte, error) {
	var text bytes.Buffer
	for line, ok := in.Next(); ok; line, ok = in.Next() {
		if text.Len()+len(line) > MostDocument {
			return nil, fmt.Errorf("%s has more than %d MiB in one document; take JSON (-o json), or only what matters", in.name, MostDocument>>20)
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.Bytes(), in.ctx.Err()
}

// Fenced are the lines of at most so many bytes, clean and with their fences, which Next leaves out. cut reports whether
// there are more.
func (in *File) Fenced(most int) (all []string, cut bool, err error) {
	for size := 0; ; {
		raw, _ := in.rawLine() // an error comes with no line
		if raw == nil {
			return all, false, in.ctx.Err()
		}
		if size += len(raw) + 1; size > most {
			return all, true, in.ctx.Err()
		}
		all = append(all, string(Clean(raw)))
	}
}

// FromText is a text that is read as a file is.
func FromText(ctx context.Context, name, text string) (*File, error) {
	return open(ctx, strings.NewReader(text), name, int64(len(text)), func(string) {}, func() {})
}

// Missing says, a sentence each, what was not read of it.
func (in *File) Missing() (all []string) {
	if in.more {
		all = append(all, fmt.Sprintf("%s is larger than %d MiB, of which the rest was not read: "+
			"cut out the time that matters, with grep or tail", in.Base(), mostBytes>>20))
	}
	if in.long > 0 {
		all = append(all, fmt.Sprintf("%s: %d lines are longer than %d MiB, and were left out", in.Base(), in.long, mostLine>>20))
	}
	return all
}

// Name is the file's name.
func (in *File) Name() string { return in.name }

// Base is the file's name without its folder.
func (in *File) Base() string { return filepath.Base(in.name) }

// Line is the number of the line that was read last, from 1 on; 0 is none.
func (in *File) Line() int { return in.line }

// Cut reports whether there is more of the file than is read.
func (in *File) Cut() bool { return in.more }

// Begin is its first n bytes, or what there is of them. It reads no further for Next.
func (in *File) Begin(n int) []byte { begin, _ := in.text.Peek(n); return begin }

// Err is the context's error.
func (in *File) Err() error { return in.ctx.Err() }

// Close closes it.
func (in *File) Close() { in.close() }
