package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/reports/bundle"
)

// archive is a gzip-compressed tar archive of the headers, each with content x.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, h := range headers {
		h.Mode = 0o777
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	whole := archive(t, file("run/run.json"))
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"no archive", []byte("junk"), "no bundle of runs"},
		{"empty", archive(t), "the archive is empty"},
		{"cut off", whole[:len(whole)-12], "the archive is damaged"},
		{"out of it", archive(t, file("../evil")), "its name leads out of the archive"},
		{"out of it, later", archive(t, file("a/../../evil")), "its name leads out of the archive"},
		{"absolute", archive(t, file("/etc/evil")), "its name leads out of the archive"},
		{"backslash", archive(t, file(`a\..\..\evil`)), "its name leads out of the archive"},
		{"link", archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}), "neither a file nor a folder"},
		{"through a link", archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: ".."}, file("a/evil")), "neither a file nor a folder"},
		{"hard link", archive(t, tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "/etc/passwd"}), "neither a file nor a folder"},
		{"device", archive(t, tar.Header{Typeflag: tar.TypeChar, Name: "a"}), "neither a file nor a folder"},
		{"twice", archive(t, file("a"), file("a")), "file exists"},
		{"deep", archive(t, file(strings.Repeat("a/", 20)+"b")), "deeper than 8 folders"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "in", "here")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := bundle.Unpack(t.Context(), bytes.NewReader(test.data), dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			for _, outside := range []string{parent, filepath.Dir(dir)} {
				if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
					t.Errorf("outside of the folder: %v, %v", entries, err)
				}
			}
		})
	}
}

// An archive that says it is huge is refused before anything of that is written.
func TestHugeArchive(t *testing.T) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := bundle.Unpack(t.Context(), &out, dir); err == nil || !strings.Contains(err.Error(), "more than 4 GiB") {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
}

func TestPackAndUnpack(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"001-run/run.json": "{}", "001-run/logs/a.log": "line\n"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bundle.Pack(t.Context(), &out, from, "given"); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Unpack(t.Context(), bytes.NewReader(out.Bytes()), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"given/001-run/run.json": "{}", "given/001-run/logs/a.log": "line\n"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "given/link")); err == nil {
		t.Error("a link was packed")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "run/run.json"}))
	f.Add([]byte("junk"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "here")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_ = bundle.Unpack(t.Context(), bytes.NewReader(data), dir) // whether it is refused is its own matter
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("outside of the folder: %v, %v", entries, err)
		}
	})
}

// cancelling ends a context when it is first read from.
type cancelling struct {
	io.Reader
	cancel context.CancelFunc
}

func (r cancelling) Read(p []byte) (int, error) {
	r.cancel()
	return r.Reader.Read(p[:min(len(p), 512)])
}

// Who no longer wants an archive does not wait for its end.
func TestUnpackInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var headers []tar.Header
	for i := range 1000 {
		headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("a%d", i)})
	}
	dir := t.TempDir()
	if err := bundle.Unpack(ctx, cancelling{bytes.NewReader(archive(t, headers...)), cancel}, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 500 {
		t.Errorf("unpacked %d of 1000 files all the same", len(entries))
	}
}
