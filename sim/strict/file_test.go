package strict

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Files are read, also by links, and of all else is said what it is; who asks does not wait.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink("file", at("link")), syscall.Mkfifo(at("fifo"), 0o600),
		os.Symlink("fifo", at("to-fifo")), os.Symlink("/dev/zero", at("to-device")), os.Symlink("self", at("self")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"file": "", "link": "", "fifo": "is a named pipe", "to-fifo": "is a named pipe", "to-device": "is a device",
		".": "is a folder", "none": "no such file", "self": "too many levels of symbolic links",
	} {
		for way, read := range map[string]func() ([]byte, error){
			"Open": func() ([]byte, error) {
				f, err := Open(t.Context(), at(name))
				if err != nil {
					return nil, err
				}
				defer f.Close()
				return io.ReadAll(f)
			},
			"ReadFile": func() ([]byte, error) { return ReadFile(at(name), 4) },
			"In":       func() ([]byte, error) { return fs.ReadFile(RootFS(root), name) },
		} {
			if way == "In" && (name == "." || name == "to-device") { // a folder has files, and the link leads out
				continue
			}
			type came struct {
				text []byte
				err  error
			}
			done := make(chan came, 1)
			go func() { text, err := read(); done <- came{text, err} }()
			select {
			case c := <-done:
				if want == "" && (c.err != nil || string(c.text) != "text") ||
					want != "" && (c.err == nil || !strings.Contains(c.err.Error(), want)) {
					t.Errorf("%s of %s: %q, %v; want %q", way, name, c.text, c.err, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s of %s waits", way, name)
			}
		}
	}
	large := new(LargeError)
	if _, err := ReadFile(at("file"), 3); !errors.As(err, &large) {
		t.Errorf("of a file that is too large: %v", err)
	}
}

// Reading ends with its context, in whatever way it is done.
func TestWhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)); err != nil {
		t.Fatal(err)
	}
	over := errors.New("it is over")
	for name, read := range map[string]func(f *File) error{
		"ReadAll": func(f *File) error { _, err := io.ReadFull(f, make([]byte, 1<<20)); return err },
		"Copy":    func(f *File) error { _, err := io.Copy(io.Discard, f); return err },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		f, err := Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		cancel(over)
		if err := read(f); !errors.Is(err, over) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
