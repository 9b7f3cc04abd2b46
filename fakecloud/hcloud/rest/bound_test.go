package rest

import (
	"strings"
	"testing"
)

// The cache forgets before it holds too much.
func TestCacheBound(t *testing.T) {
	k := newCache()
	for n := range 10 {
		k.put(1, strings.Repeat("k", n), cached{text: make([]byte, maxCache/4)})
		if k.size > maxCache {
			t.Fatalf("it holds %d bytes, want at most %d", k.size, maxCache)
		}
	}
	k.put(1, "k", cached{text: make([]byte, maxCache+1)})
	if _, ok := k.get(1, "k"); ok {
		t.Error("it holds a reply that is too large")
	}
	k.put(2, "a", cached{})
	if _, ok := k.get(2, ""); ok || k.size != 1 {
		t.Errorf("it holds replies of another generation, %d bytes", k.size)
	}
}
