package store_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/night/bucket/buckettest"
	"nodestorm/harness/night/store"
)

func newBucket(t *testing.T) (*buckettest.Store, store.Place) {
	t.Helper()
	s := buckettest.Start(t)
	place, err := store.Open("s3://" + buckettest.Name + "/team/nights/")
	if err != nil {
		t.Fatal(err)
	}
	return s, place
}

// A folder and a bucket keep the same.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	inFolder, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, inBucket := newBucket(t)
	for name, place := range map[string]store.Place{"folder": inFolder, "bucket": inBucket} {
		for _, night := range []string{"b.json", "a.json", "a.json"} {
			if err := place.Write(t.Context(), night, []byte("of "+night)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if name == "folder" {
			if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			s.Objects["team/nights/README"], s.Objects["team/nights/deep/x.json"], s.Objects["other/c.json"] = "", "", ""
		}
		names, err := place.Names(t.Context())
		if err != nil || !slices.Equal(names, []string{"a.json", "b.json"}) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
		if text, err := place.Read(t.Context(), "b.json"); err != nil || string(text) != "of b.json" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if _, err := place.Read(t.Context(), "c.json"); err == nil {
			t.Errorf("%s: what is not there can be read", name)
		}
	}
}

// A failure of a bucket is reported in a line, with the way out and without the credentials,
// and what was there stays.
func TestBucketIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*buckettest.Store)
		do     func(context.Context, store.Place) error
		want   string
	}{
		"full":              {func(s *buckettest.Store) { s.Refuse, s.Code = 507, "XMinioStorageFull" }, write, "it is full: make room"},
		"quota":             {func(s *buckettest.Store) { s.Refuse, s.Code = 400, "QuotaExceeded" }, write, "it is full: make room"},
		"refuses":           {func(s *buckettest.Store) { s.Refuse, s.Code = 403, "AccessDenied" }, list, "credentials are those of AWS_ACCESS_KEY_ID"},
		"not there":         {func(s *buckettest.Store) { s.Refuse, s.Code = 404, "NoSuchBucket" }, list, "make the bucket"},
		"breaks off":        {func(s *buckettest.Store) { s.Cut = true }, read, "s3://nodestorm-ci/team/nights/: reading a.json: "},
		"a night of 65 MiB": {func(s *buckettest.Store) { s.Objects["team/nights/a.json"] = strings.Repeat(" ", 65<<20) }, read, "it has more than 64 MiB"},
	} {
		s, place := newBucket(t)
		if err := place.Write(t.Context(), "a.json", []byte("a long text")); err != nil {
			t.Fatal(err)
		}
		test.change(s)
		err := test.do(t.Context(), place)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "a-secret") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if s.Objects["team/nights/a.json"] == "" {
			t.Errorf("%s: what was there is gone", name)
		}
	}
}

func write(ctx context.Context, p store.Place) error { return p.Write(ctx, "b.json", []byte("b")) }
func list(ctx context.Context, p store.Place) error  { _, err := p.Names(ctx); return err }
func read(ctx context.Context, p store.Place) error  { _, err := p.Read(ctx, "a.json"); return err }

func TestOpenRefuses(t *testing.T) {
	if _, err := store.Open(""); err == nil {
		t.Error("no place is one")
	}
	for _, where := range []string{"s3://", "s3:///nights", "s3://ci", "s3://Nodestorm_CI/x"} {
		if _, err := store.Open(where); err == nil || !strings.Contains(err.Error(), "want s3://BUCKET/PREFIX") {
			t.Errorf("%s: %v", where, err)
		}
	}
	for endpoint, want := range map[string]string{"http://192.0.2.1": "without TLS", "ftp://x": "want the URL", "x": "want the URL", "https://x/path": "want the URL"} {
		t.Setenv(bucket.EnvEndpoint, endpoint)
		if _, err := store.Open("s3://nodestorm-ci"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", endpoint, err, want)
		}
	}
}
