package hcloud

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"nodestorm/fakecloud/fault"
)

// cache keeps the replies of steady operations until the cloud changes. A client asks for the same
// listing again and again, and a page of servers takes longer to encode than to send.
type cache struct {
	mu         sync.Mutex
	generation uint64
	size       int
	replies    map[string]cached
}

type cached struct{ plain, zipped []byte }

// maxCache is how many bytes of replies are kept. Beyond it all are forgotten.
const maxCache = 32 << 20

// minZip is from what size on a reply is compressed, where the client wants it: a full page
// of servers is 30 times smaller then.
const minZip = 4 << 10

func newCache() *cache { return &cache{replies: map[string]cached{}} }

func (k *cache) get(generation uint64, key string) (cached, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation != generation {
		return cached{}, false
	}
	r, ok := k.replies[key]
	return r, ok
}

func (k *cache) put(generation uint64, key string, r cached) {
	k.mu.Lock()
	defer k.mu.Unlock()
	size := len(key) + len(r.plain) + len(r.zipped)
	if k.generation != generation || k.size+size > maxCache {
		k.generation, k.size, k.replies = generation, 0, map[string]cached{}
	}
	if size <= maxCache {
		k.size += size // also where it takes the place of one that was not compressed: an upper bound
		k.replies[key] = r
	}
}

// fromCache answers a call of a steady operation. It reports false for one that has to be carried out: faults
// act in it, or it fails.
func (h *Handler) fromCache(c *call, w http.ResponseWriter) bool {
	for _, point := range []fault.Point{fault.After, fault.Listing, fault.Supply} {
		if len(h.cloud.Faults().Active(point)) > 0 {
			return false
		}
	}
	generation := h.cloud.Generation()
	key := c.r.URL.Path + "?" + c.r.URL.RawQuery
	r, ok := h.cache.get(generation, key)
	if !ok {
		done := c.do()
		if done.err != nil {
			return false
		}
		text, err := json.Marshal(done.body)
		if err != nil {
			return false
		}
		r = cached{plain: text}
		if h.cloud.Generation() == generation { // nothing has changed meanwhile
			h.cache.put(generation, key, r)
		}
	} else if r.zipped == nil && len(r.plain) >= minZip {
		r.zipped = zip(r.plain) // what is asked for twice is asked for often
		h.cache.put(generation, key, r)
	}
	w.Header().Set("Content-Type", "application/json")
	text := r.plain
	if r.zipped != nil && strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		text = r.zipped
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(text) // the client may be gone
	return true
}

// zip is text compressed.
func zip(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
	_, _ = w.Write(text)
	_ = w.Close() // to a buffer
	return b.Bytes()
}
