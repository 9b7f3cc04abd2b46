package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"nodestorm/fakecloud/cloudfault"
)

// cache keeps the replies of steady operations until the cloud changes. A client asks for the same
// listing again and again, and a page of servers takes longer to encode than to send.
type cache struct {
	mu         sync.Mutex
	generation uint64
	size       int
	replies    map[string]cached
}

type cached struct {
	text   []byte
	zipped bool
}

// maxCache is how many bytes of replies are kept: all pages of 10,000 servers. Beyond it all are
// forgotten.
const maxCache = 64 << 20

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
	if k.generation != generation || k.size+len(key)+len(r.text) > maxCache {
		k.generation, k.size, k.replies = generation, 0, map[string]cached{}
	}
	if len(key)+len(r.text) > maxCache {
		return
	}
	if old, ok := k.replies[key]; ok {
		k.size -= len(key) + len(old.text)
	}
	k.size += len(key) + len(r.text)
	k.replies[key] = r
}

// fromCache answers a call of a steady operation. It reports false for one that has to be carried out: faults
// act in it, or it fails.
func (h *Handler) fromCache(c *Call, w http.ResponseWriter) bool {
	if h.faulty() {
		return false
	}
	generation := h.Cloud.Generation()
	unzips := strings.Contains(c.Request.Header.Get("Accept-Encoding"), "gzip")
	key := c.Request.URL.Path + "?" + c.Request.URL.RawQuery
	if unzips {
		key += " gzip"
	}
	r, ok := h.cache.get(generation, key)
	switch {
	case !ok:
		done := c.execute()
		if done.err != nil {
			return false
		}
		text, err := json.Marshal(done.body)
		if err != nil {
			return false
		}
		r = cached{text: text}
		if h.Cloud.Generation() == generation && !h.faulty() { // nothing has changed since
			h.cache.put(generation, key, r)
		}
	case unzips && !r.zipped && len(r.text) >= minZip: // what is asked for twice is asked for often
		r = cached{text: zip(r.text), zipped: true}
		h.cache.put(generation, key, r)
	}
	w.Header().Set("Content-Type", "application/json")
	if r.zipped {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(r.text) // the client may be gone
	return true
}

// faulty reports whether faults may act in a reply now.
func (h *Handler) faulty() bool {
	for _, point := range []cloudfault.Point{cloudfault.After, cloudfault.Listing, cloudfault.Supply} {
		if len(h.Cloud.Faults().Active(point)) > 0 {
			return true
		}
	}
	return false
}

// zip is text compressed.
func zip(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
	_, _ = w.Write(text)
	_ = w.Close() // to a buffer
	return b.Bytes()
}
