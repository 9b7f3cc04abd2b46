package draft

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Kind is what a source is said to be.
type Kind string

// The kinds of sources, by the flags that name them.
const (
	AuditLog Kind = "audit-log"
	Events   Kind = "events"
	Log      Kind = "log"
	Dump     Kind = "dump"
)

// Source is a file or, for a dump, a folder. "-" is standard input.
type Source struct {
	Kind Kind
	Path string
}

// What is read of one file, of one line, of one document and of one folder at most.
const (
	mostBytes    = 256 << 20
	mostLine     = 8 << 20
	mostDocument = 32 << 20
	mostFiles    = 20_000
)

// Read takes all sources into one Cluster. An error has a line for each source that could
// not be read; progress is told what is being read, and may be called often.
func Read(ctx context.Context, sources []Source, progress func(what string)) (*Cluster, error) {
	c := newCluster()
	var errs []error
	for _, s := range sources {
		c.readAny = 0
		r := reader{ctx: ctx, c: c, progress: progress}
		if err := r.source(s); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", s.Kind, err))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c, errors.Join(errs...)
}

// reader reads one source.
type reader struct {
	ctx      context.Context
	c        *Cluster
	progress func(what string)
}

func (r reader) source(s Source) error {
	if s.Kind == Dump && s.Path != "-" {
		if info, err := os.Stat(s.Path); err == nil && info.IsDir() {
			return r.folder(s.Path)
		}
	}
	in, err := r.open(s.Path, s.Path)
	if err != nil {
		return err
	}
	defer in.close()
	switch s.Kind {
	case AuditLog:
		err = r.auditLog(in)
	case Events:
		err = r.events(in)
	case Log:
		err = r.log(in, "")
	default:
		err = r.dumpFile(in)
	}
	if err == nil {
		r.c.sources = append(r.c.sources, fmt.Sprintf("%s (%s)", filepath.Base(in.name), strings.ReplaceAll(string(s.Kind), "-", " ")))
	}
	return err
}

// input is a file that is read once, as text, no further than mostBytes.
type input struct {
	name  string
	text  *bufio.Reader
	size  int64 // of the file; 0: not known
	left  int64
	close func()
	ctx   context.Context
	read  int64
	tell  func(string)
	more  bool // there was more than mostBytes
	line  int
	long  int // lines that were too long
	from  io.Reader
}

func (r reader) open(path, name string) (*input, error) {
	if path == "-" {
		return r.input(os.Stdin, "standard input", 0, func() {})
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; name a file that can be read", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; --dump takes folders", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file; write it to one first, or pipe it in as -", name)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s is empty", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w; name a file that can be read", err)
	}
	in, err := r.input(f, name, info.Size(), func() { _ = f.Close() })
	if err != nil {
		_ = f.Close()
	}
	return in, err
}

// input tells text from what is none: packed, of another encoding, or something else.
func (r reader) input(from io.Reader, name string, size int64, end func()) (*input, error) {
	in := &input{name: name, size: size, left: mostBytes, close: end, ctx: r.ctx, tell: r.progress, from: from}
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
	in   *input
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
func (in *input) Read(p []byte) (int, error) {
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
	in.tell(what)
	return n, err
}

// escapes are what a terminal obeys, such as colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// next is the next line as it was before it was pasted: without the end that Windows
// gives it, colours, and what quotes it. Fences are no lines.
func (in *input) next() (line []byte, ok bool) {
	for {
		raw, err := in.rawLine()
		if raw == nil && err != nil {
			return nil, false
		}
		line = clean(raw)
		if trimmed := bytes.TrimSpace(line); bytes.HasPrefix(trimmed, []byte("```")) || bytes.HasPrefix(trimmed, []byte("~~~")) {
			continue
		}
		return line, true
	}
}

func clean(raw []byte) []byte {
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
func (in *input) rawLine() ([]byte, error) {
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

// all is the rest of the text, line by line clean, if it is not too long.
func (in *input) all() ([]byte, error) {
	var text bytes.Buffer
	for line, ok := in.next(); ok; line, ok = in.next() {
		if text.Len()+len(line) > mostDocument {
			return nil, fmt.Errorf("%s has more than %d MiB in one document; take JSON (-o json), or only what matters", in.name, mostDocument>>20)
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.Bytes(), in.ctx.Err()
}

// ended notes what was not read of it.
func (in *input) ended(c *Cluster) {
	if in.more {
		c.note("%s is larger than %d MiB, of which the rest was not read: cut out the time that matters, with grep or tail", filepath.Base(in.name), mostBytes>>20)
	}
	if in.long > 0 {
		c.note("%s: %d lines are longer than %d MiB, and were left out", filepath.Base(in.name), in.long, mostLine>>20)
	}
}

// folder reads what there is in a folder: a `kubectl cluster-info dump`, a must-gather, or
// one that somebody has put together.
func (r reader) folder(dir string) error {
	var errs []error
	files, took := 0, 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; make it readable (chmod -R u+rX)", err))
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil // links lead out
		}
		if files++; files > mostFiles {
			return fmt.Errorf("%s has more than %d files; name the folder of one cluster", dir, mostFiles)
		}
		before := r.c.readAny
		if err := r.file(path, filepath.ToSlash(strings.TrimPrefix(path, dir))); err != nil {
			errs = append(errs, err)
		}
		if r.c.readAny > before {
			took++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(errs) > 0 && took == 0 {
		return errs[0]
	}
	for _, err := range errs[:min(3, len(errs))] {
		r.c.note("left out: %v", strings.ReplaceAll(err.Error(), dir, filepath.Base(dir)))
	}
	if took == 0 {
		return fmt.Errorf("%s: none of its %d files has nodes, pods, events or an autoscaler's log; want what `kubectl cluster-info dump --all-namespaces --output-directory DIR` or `oc adm must-gather` writes", dir, files)
	}
	r.c.sources = append(r.c.sources, fmt.Sprintf("%s (dump, %d of %d files)", filepath.Base(filepath.Clean(dir)), took, files))
	return nil
}

// named are the files of a dump that have objects of kinds that matter. A must-gather has
// thousands of others, secrets among them.
var named = regexp.MustCompile(`(?i)(^|/)(nodes?|pods?|events?|nodepools?|nodeclaims?|deployments?|daemonsets?|machinedeployments?|machinepools?|machinesets?|machine\.openshift\.io/machines|priorityclasses|configmaps?|cluster-autoscaler-status)[^/]*(/|\.)`)

func (r reader) file(path, under string) error {
	packed := strings.TrimSuffix(under, ".gz")
	program := ""
	switch {
	case strings.Contains(under, "secret"):
		return nil
	case strings.Contains(under, "karpenter"):
		program = Karpenter
	case strings.Contains(under, "autoscaler"):
		program = ClusterAutoscaler
	}
	open := func(read func(*input) error) error {
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			return nil
		}
		in, err := r.open(path, path)
		if err != nil {
			return err
		}
		defer in.close()
		return read(in)
	}
	switch ext := filepath.Ext(packed); {
	case strings.Contains(under, "audit") && (ext == ".log" || ext == ".json" || ext == ".ndjson"):
		return open(r.auditLog)
	case ext == ".json" && (named.MatchString(under) || program != ""):
		return open(r.json)
	case (ext == ".yaml" || ext == ".yml") && (named.MatchString(under) || program != ""):
		return open(r.yaml)
	case (ext == ".log" || ext == ".txt") && program != "":
		return open(func(in *input) error { _ = r.log(in, program); return r.ctx.Err() })
	case (ext == ".txt" || ext == ".log") && strings.Contains(strings.ToLower(filepath.Base(packed)), "event"):
		return open(r.events)
	}
	return nil
}
