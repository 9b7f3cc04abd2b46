package strict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// File is a regular file that is read as long as its context lasts.
type File struct {
	*os.File
	while io.Reader
}

// Open opens a regular file, or what a link leads to if that is one. Whatever else there is, such as a FIFO or a device,
// need never end or begin to be read: it is an *IrregularError. Reading ends with the cause of ctx when ctx does.
func Open(ctx context.Context, name string) (*File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := Regular(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // of which opening says more
		return nil, err
	}
	// Who opens a FIFO waits for its other end else, and what is at name may have become one.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{f, WithContext(ctx, f)}, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) { return f.while.Read(p) }

// WriteTo implements io.WriterTo: that of an os.File asks no context.
func (f *File) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, f.while) }

// WithContext reads from r as long as ctx lasts; its error is then the cause of ctx.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (w contextReader) Read(p []byte) (int, error) {
	// mutant: what has been begun is read to its end
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// ReadFile reads a regular file of at most so many bytes. One that has more is a *LargeError.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := Open(context.Background(), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &LargeError{name, most}
	}
	return text, err
}

// WithHint adds what to name instead to the error of a file that does not exist. Other errors, and nil, stay as they are.
func WithHint(err error, hint string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// Regular is the error of a name that is not that of a regular file, nor of a link to one.
func Regular(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return regular(name, info.Mode())
}

// IrregularError says that something is no regular file.
type IrregularError struct {
	Name string
	Mode fs.FileMode
}

func (e *IrregularError) Error() string {
	what := "a device"
	switch {
	case e.Mode.IsDir():
		return e.Name + " is a folder: name a file"
	case e.Mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case e.Mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return fmt.Sprintf("%s is %s, and only files are read: write what comes out of it to one, and name that", e.Name, what)
}

// regular is the error of what has such a mode, links being followed.
func regular(name string, mode fs.FileMode) error {
	// mutant: whatever can be opened is read
	if mode.IsRegular() {
		return nil
	}
	return &IrregularError{name, mode}
}

// LargeError says that a file has more than what is read of its kind, in bytes.
type LargeError struct {
	Name string
	Most int64
}

func (e *LargeError) Error() string {
	if e.Most < 1<<20 {
		return fmt.Sprintf("%s has more than %d KiB", e.Name, e.Most>>10)
	}
	return fmt.Sprintf("%s has more than %d MiB", e.Name, e.Most>>20)
}

// Root opens a folder. What else there is at dir is an error: who opens a FIFO waits for its other end.
func Root(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// RootFS are the folders and regular files of root, and what links lead to within it. All else in there is an *IrregularError.
func RootFS(root *os.Root) fs.FS { return rootFS{root} }

type rootFS struct{ root *os.Root }

// Open implements fs.FS.
func (in rootFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	at := filepath.FromSlash(name)
	if info, err := in.root.Stat(at); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, regular(name, info.Mode())
	}
	f, err := in.root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = regular(name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stat implements fs.StatFS: what something is can be asked without opening it.
func (in rootFS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return in.root.Stat(filepath.FromSlash(name))
}

// WithoutPath is an error about a file without its path, for where that is said, or not to be said.
func WithoutPath(err error) error {
	if of := (*IrregularError)(nil); errors.As(err, &of) {
		return &IrregularError{"it", of.Mode}
	}
	if of := (*LargeError)(nil); errors.As(err, &of) {
		return &LargeError{"it", of.Most}
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
