package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/night/bucket/buckettest"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/run/exit"
)

// kept uploads what a machine left as it does after verify, and says with which status.
func kept(t *testing.T, where, dir string, came error) int {
	t.Helper()
	left, err := shard.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	u := archive.Upload{Where: where, Scratch: console.Scratch}
	if err := u.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return exit.CodeOf(u.Save(t.Context(), dir, left.Name(), came))
}

// What four machines keep in a bucket is, joined, what one would have left, and the whole is kept
// there, too.
func TestMergeFromBucket(t *testing.T) {
	store := buckettest.Start(t)
	const where = "s3://" + buckettest.Name + "/nights/one"
	one, status, _ := night(t, "1/1", nil)
	for n := 1; n <= 4; n++ {
		dir, status, _ := night(t, fmt.Sprintf("%d/4", n), nil)
		if got := kept(t, where, dir, &exit.Error{Code: status}); got != status {
			t.Errorf("shard %d: status %d, want %d", n, got, status)
		}
	}
	store.Objects["nights/one/shard-5-of-4.tar.gz/x"], store.Objects["nights/one/../shard-9-of-9.tar.gz"], store.Objects["nights/one/README"] = "", "", ""
	out := filepath.Join(t.TempDir(), "merged")
	code, _, stderr := command(t, "nightly", "merge", where, "--out", out, "--upload", where)
	if code != status || stderr != "" {
		t.Errorf("status %d, want %d: %s", code, status, stderr)
	}
	if got, want := seenIn(t, out), seenIn(t, one); got != want {
		t.Errorf("merged:\n%s\nwant:\n%s", got, want)
	}
	if len(store.Objects["nights/one/merged.tar.gz"]) == 0 {
		t.Error("the whole is not kept")
	}

	// One that never came is named, and a second try takes a folder of its own.
	whole := store.Objects["nights/one/shard-2-of-4.tar.gz"]
	delete(store.Objects, "nights/one/shard-2-of-4.tar.gz")
	code, stdout, stderr := command(t, "nightly", "merge", where, "--out", filepath.Join(t.TempDir(), "merged"))
	if code != NotAsExpected && code != Inconclusive || !strings.Contains(stderr, "shard 2/4 is missing") || !strings.Contains(stdout, "MISSING") {
		t.Errorf("one gone: status %d, %s%s", code, stdout, stderr)
	}
	wrong := func(want, out string) {
		t.Helper()
		code, stdout, stderr := command(t, "nightly", "merge", where, "--out", out)
		if code != Usage || stdout != "" || !strings.Contains(stderr, want) || strings.Contains(stderr, "a-secret") {
			t.Errorf("status %d, %s%s; want %q", code, stdout, stderr, want)
		}
	}
	wrong("name another --out", out)
	if _, err := os.Stat(filepath.Join(out, "index.html")); err != nil {
		t.Errorf("what was merged before is gone: %v", err)
	}

	// What is damaged, or refused, leaves nothing behind.
	fresh := filepath.Join(t.TempDir(), "merged")
	for name, broken := range map[string]string{"cut off": whole[:len(whole)/2], "no archive": "no archive"} {
		store.Objects["nights/one/shard-2-of-4.tar.gz"] = broken
		wrong("reading shard-2-of-4.tar.gz: ", fresh)
		if left, _ := filepath.Glob(filepath.Join(fresh, "shards", "*")); len(left) > 0 {
			t.Errorf("%s: %q are left", name, left)
		}
	}
	store.Refuse, store.Code = 403, "AccessDenied"
	wrong("credentials are those of", fresh)
	store.Refuse = 0
	clear(store.Objects)
	wrong("no archive of a shard in it", fresh)
}

// A bucket that cannot be had is reported before anything is played; one that refuses afterwards
// makes the whole inconclusive, and what came of it stays reported.
func TestUploadRefused(t *testing.T) {
	store := buckettest.Start(t)
	store.Refuse, store.Code = 403, "AccessDenied"
	for _, args := range [][]string{
		{"verify", "--all", "--shard", "1/4", "--upload", "s3://" + buckettest.Name, "--out", t.TempDir()},
		{"nightly", "merge", t.TempDir(), "--upload", "s3://" + buckettest.Name},
	} {
		code, stdout, stderr := command(t, args...)
		if code != Inconclusive || stdout != "" || !strings.Contains(stderr, "--upload: ") || !strings.Contains(stderr, "credentials are those of") {
			t.Errorf("%s: status %d, %s%s", slices.Concat(args[:1]), code, stdout, stderr)
		}
	}
	if code, _, stderr := command(t, "nightly", "merge", t.TempDir(), "--upload", "nights"); code != Usage || !strings.Contains(stderr, "want s3://BUCKET/PREFIX") {
		t.Errorf("no bucket: status %d, %s", code, stderr)
	}
	store.Refuse = 0
	u := archive.Upload{Scratch: console.Scratch, Where: "s3://" + buckettest.Name}
	if err := u.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir, _, _ := night(t, "1/4", nil)
	store.Refuse, store.Code = 507, "XMinioStorageFull"
	err := u.Save(t.Context(), dir, "shard-1-of-4", &exit.Error{Code: NotAsExpected, Err: errors.New("it came otherwise")})
	if exit.CodeOf(err) != Inconclusive || !strings.Contains(err.Error(), "it is full") || !strings.Contains(err.Error(), "it came otherwise") {
		t.Errorf("status %d: %v", exit.CodeOf(err), err)
	}
	if err := u.Save(t.Context(), dir, "shard-1-of-4", exit.UsageError(errors.New("a wrong flag"))); exit.CodeOf(err) != Usage {
		t.Errorf("of a wrong use something is kept: %v", err)
	}
}
