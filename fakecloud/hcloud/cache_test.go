package hcloud

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// What is kept is what would be made now, compressed or not, and a change is seen at once.
func TestCache(t *testing.T) {
	h := furnished(t)
	get := func(encoding string) string {
		t.Helper()
		r := httptest.NewRequest("GET", "/v1/server_types?per_page=50", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body := io.Reader(w.Body)
		if w.Header().Get("Content-Encoding") == "gzip" {
			if encoding == "" {
				t.Error("compressed for a client that has not asked for it")
			}
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := get("")
	for _, encoding := range []string{"", "gzip", "gzip", "gzip, deflate", ""} {
		if again := get(encoding); again != first {
			t.Errorf("with %q: got %.100s, want %.100s", encoding, again, first)
		}
	}
	for range 3 {
		if _, before := serve(h, "GET", "/v1/placement_groups", ""); !strings.Contains(before, `"name":"g"`) {
			t.Fatalf("got %s", before)
		}
	}
	serve(h, "PUT", "/v1/placement_groups/1002", `{"name":"h"}`)
	if _, after := serve(h, "GET", "/v1/placement_groups", ""); !strings.Contains(after, `"name":"h"`) {
		t.Errorf("the change is not seen: %s", after)
	}
}

// hurried is a clock on which a millisecond passes whenever it is read.
type hurried struct {
	clock.WithTicker
	mu  sync.Mutex
	now time.Time
}

func (c *hurried) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// A reply that is made while a fault begins is not kept beyond the fault.
func TestCacheWhileAFaultBegins(t *testing.T) {
	for _, path := range []string{"/v1/server_types/104", "/v1/server_types?name=cx22"} {
		for at := range 20 {
			now := &hurried{WithTicker: realClock, now: time.Unix(0, 0)}
			cloud, err := fakecloud.New(fakecloud.Config{Clock: now})
			if err != nil {
				t.Fatal(err)
			}
			defer cloud.Close()
			h, err := NewHandler(Config{Cloud: cloud, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			if err := cloud.Inject(fault.Fault{
				Name: "f", Plan: fault.Plan{At: strict.Duration(at) * strict.Duration(time.Millisecond),
					For: strict.Duration(time.Second)}, Effect: cloudfault.Unavailable{Type: "cx22"},
			}); err != nil {
				t.Fatal(err)
			}
			serve(h, "GET", path, "")
			now.mu.Lock()
			now.now = now.now.Add(time.Minute)
			now.mu.Unlock()
			if _, body := serve(h, "GET", path, ""); strings.Contains(body, `"available":false`) {
				t.Errorf("%s: not available after a fault that began after %dms", path, at)
			}
		}
	}
}
