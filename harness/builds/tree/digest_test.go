package tree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A digest is of names, contents and where links lead, and of nothing else.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	of := func(except ...string) string {
		t.Helper()
		digest, err := Digest(dir, except...)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if of() != "" {
		t.Errorf("of nothing it is %s", of())
	}
	put("a/b.yaml", "b")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	one := of()
	if hand, err := DigestOf(map[string][]byte{"a/b.yaml": []byte("b")}); err != nil || hand != one || !strings.HasPrefix(one, "h1:") {
		t.Errorf("at hand %s, %v; in a folder %s", hand, err, one)
	}
	put("c", "c")
	if of() == one || of("c") != one || of("a/b.yaml", "c") != "" {
		t.Error("a file more changes nothing, or one that is left out does")
	}
	if err := os.Symlink("a/b.yaml", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	link := of("c")
	if err := errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink("c", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	if link == one || of("c") == link {
		t.Error("where a link leads changes nothing")
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Digest(dir); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("of a FIFO: %v", err)
	}
}

// A file is read again when it has changed, even if it looks as it did.
func TestSHA256(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	seen := map[string]string{}
	for _, text := range []string{"one", "two", "six"} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			sum, size, err := SHA256(path)
			if other := seen[sum]; err != nil || size != 3 || other != "" && other != text {
				t.Errorf("%s: %s, %d, %v; it was that of %q", text, sum, size, err, other)
			}
			seen[sum] = text
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d sums of three texts", len(seen))
	}
	f, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, kept := hashed.Load(path); kept {
		t.Errorf("the sum of a file that was written to at %s is kept", f.ModTime())
	}
	hashed.Store(path, sum{stamp: stamp{size: 3}, hex: "of before"})
	if sum, _, err := SHA256(path); err != nil || sum == "of before" {
		t.Errorf("%s, %v: a sum of before counts", sum, err)
	}
}
