package rest

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// hetznerLimit is the calls an hour that a project has at Hetzner (docs.hetzner.cloud, "Rate Limiting").
const hetznerLimit = 3600

// limiter counts the calls of a project as the API does: a bucket that fills evenly.
type limiter struct {
	limit    float64 // an hour
	enforced bool

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newLimiter(limit int, now time.Time) *limiter {
	l := &limiter{limit: float64(limit), enforced: limit > 0, at: now}
	if limit == 0 {
		l.limit = hetznerLimit
	}
	l.left = l.limit
	return l
}

// allow takes one call and writes the headers. It reports false when none is left.
func (l *limiter) allow(h http.Header, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = min(l.limit, l.left+now.Sub(l.at).Hours()*l.limit)
	l.at = now
	ok := l.left >= 1 || !l.enforced
	if ok {
		l.left = max(0, l.left-1)
	}
	full := now.Add(time.Duration((l.limit - l.left) / l.limit * float64(time.Hour)))
	h.Set("RateLimit-Limit", strconv.Itoa(int(l.limit)))
	h.Set("RateLimit-Remaining", strconv.Itoa(int(l.left)))
	h.Set("RateLimit-Reset", strconv.FormatInt(full.Unix(), 10))
	return ok
}

// spent writes the headers of a limit that is used up until a time.
func spent(h http.Header, until time.Time) {
	h.Set("RateLimit-Limit", strconv.Itoa(hetznerLimit))
	h.Set("RateLimit-Remaining", "0")
	h.Set("RateLimit-Reset", strconv.FormatInt(until.Unix(), 10))
}
