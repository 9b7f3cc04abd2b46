// Package buckettest is a store of one bucket, for tests that keep something in one.
package buckettest

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nodestorm/harness/night/bucket"
)

// Name is the store's one bucket.
const Name = "nodestorm-ci"

// Store speaks as much S3 as nodestorm takes: list, get and put in one bucket.
type Store struct {
	sync.Mutex
	Objects map[string]string
	Refuse  int // status of every answer
	Code    string
	Cut     bool // answers end in the middle
}

// Start starts one on loopback, which is the store of this process from then on.
func Start(t *testing.T) *Store {
	t.Helper()
	s := &Store{Objects: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv(bucket.EnvEndpoint, server.URL)
	t.Setenv(bucket.EnvRegion, "here")
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-theirs")
	return s
}

// body is what is put. Without TLS it comes in signed chunks, each with its length in hex.
func body(r *http.Request) (string, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		text, err := io.ReadAll(r.Body)
		return string(text), err
	}
	var text strings.Builder
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", err
		}
		length, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(length, 16, 64)
		if err != nil || n == 0 {
			return text.String(), err
		}
		if _, err := io.CopyN(&text, in, n); err != nil {
			return "", err
		}
		if _, err := in.Discard(len("\r\n")); err != nil {
			return "", err
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	if s.Refuse != 0 && (s.Code != "XMinioStorageFull" || r.Method == http.MethodPut) {
		w.WriteHeader(s.Refuse)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no\nand no</Message></Error>", s.Code)
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/"+Name+"/")
	switch {
	case r.Method == http.MethodPut:
		text, err := body(r)
		if err != nil { // of an object that is not whole nothing is kept
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.Objects[key] = text
		w.Header().Set("ETag", `"1"`)
	case r.URL.Query().Get("list-type") == "2":
		type content struct{ Key string }
		var list struct {
			XMLName  xml.Name `xml:"ListBucketResult"`
			Contents []content
		}
		for name := range s.Objects {
			if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
				list.Contents = append(list.Contents, content{name})
			}
		}
		_ = xml.NewEncoder(w).Encode(list)
	default:
		text, there := s.Objects[key]
		if !there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Mon, 23 Nov 2026 02:17:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		if s.Cut {
			text = text[:len(text)/2]
		}
		_, _ = io.WriteString(w, text)
	}
}
