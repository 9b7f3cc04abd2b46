package nights_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nodestorm/harness/nights"
)

// store speaks as much S3 as keeping nights takes: list, get and put in one bucket.
type store struct {
	sync.Mutex
	objects map[string]string
	refuse  int // status of every answer
	code    string
	cut     bool // answers end in the middle
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	if s.refuse != 0 && (s.code != "XMinioStorageFull" || r.Method == http.MethodPut) {
		w.WriteHeader(s.refuse)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no\nand no</Message></Error>", s.code)
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/nodestorm-ci/")
	switch {
	case r.Method == http.MethodPut:
		text, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") { // one signed chunk, without TLS
			_, after, _ := strings.Cut(string(text), "\r\n")
			before, _, _ := strings.Cut(after, "\r\n")
			text = []byte(before)
		}
		s.objects[key] = string(text)
		w.Header().Set("ETag", `"1"`)
	case r.URL.Query().Get("list-type") == "2":
		type content struct{ Key string }
		var list struct {
			XMLName  xml.Name `xml:"ListBucketResult"`
			Contents []content
		}
		for name := range s.objects {
			if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
				list.Contents = append(list.Contents, content{name})
			}
		}
		_ = xml.NewEncoder(w).Encode(list)
	default:
		text, there := s.objects[key]
		if !there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Mon, 23 Nov 2026 02:17:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		if s.cut {
			text = text[:len(text)/2]
		}
		_, _ = io.WriteString(w, text)
	}
}

func bucket(t *testing.T) (*store, nights.Place) {
	t.Helper()
	s := &store{objects: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv(nights.EnvEndpoint, server.URL)
	t.Setenv(nights.EnvRegion, "here")
	t.Setenv("AWS_ACCESS_KEY_ID", "somebody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-theirs")
	place, err := nights.Open("s3://nodestorm-ci/team/nights/")
	if err != nil {
		t.Fatal(err)
	}
	return s, place
}

// A folder and a bucket keep the same.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	inFolder, err := nights.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, inBucket := bucket(t)
	for name, place := range map[string]nights.Place{"folder": inFolder, "bucket": inBucket} {
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
			s.objects["team/nights/README"], s.objects["team/nights/deep/x.json"], s.objects["other/c.json"] = "", "", ""
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

// What goes wrong with a bucket is told in a line, with the way out and without the credentials,
// and what was there stays.
func TestBucketIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*store)
		do     func(context.Context, nights.Place) error
		want   string
	}{
		"full":              {func(s *store) { s.refuse, s.code = 507, "XMinioStorageFull" }, write, "it is full: make room"},
		"quota":             {func(s *store) { s.refuse, s.code = 400, "QuotaExceeded" }, write, "it is full: make room"},
		"refuses":           {func(s *store) { s.refuse, s.code = 403, "AccessDenied" }, list, "credentials are those of AWS_ACCESS_KEY_ID"},
		"not there":         {func(s *store) { s.refuse, s.code = 404, "NoSuchBucket" }, list, "make the bucket"},
		"breaks off":        {func(s *store) { s.cut = true }, read, "s3://nodestorm-ci/team/nights/: reading a.json: "},
		"a night of 65 MiB": {func(s *store) { s.objects["team/nights/a.json"] = strings.Repeat(" ", 65<<20) }, read, "it has more than 64 MiB"},
	} {
		s, place := bucket(t)
		if err := place.Write(t.Context(), "a.json", []byte("a long text")); err != nil {
			t.Fatal(err)
		}
		test.change(s)
		err := test.do(t.Context(), place)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "a-secret") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if s.objects["team/nights/a.json"] == "" {
			t.Errorf("%s: what was there is gone", name)
		}
	}
}

func write(ctx context.Context, p nights.Place) error { return p.Write(ctx, "b.json", []byte("b")) }
func list(ctx context.Context, p nights.Place) error  { _, err := p.Names(ctx); return err }
func read(ctx context.Context, p nights.Place) error  { _, err := p.Read(ctx, "a.json"); return err }

func TestOpenRefuses(t *testing.T) {
	if _, err := nights.Open(""); err == nil {
		t.Error("no place is one")
	}
	for _, where := range []string{"s3://", "s3:///nights", "s3://ci", "s3://Nodestorm_CI/x"} {
		if _, err := nights.Open(where); err == nil || !strings.Contains(err.Error(), "want s3://BUCKET/PREFIX") {
			t.Errorf("%s: %v", where, err)
		}
	}
	for endpoint, want := range map[string]string{"http://192.0.2.1": "without TLS", "ftp://x": "want the URL", "x": "want the URL", "https://x/path": "want the URL"} {
		t.Setenv(nights.EnvEndpoint, endpoint)
		if _, err := nights.Open("s3://nodestorm-ci"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", endpoint, err, want)
		}
	}
}
