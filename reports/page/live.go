package page

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"nodestorm/reports/story"
)

const (
	// refresh is how often a page is notified of what is new, in real time. Where
	// making it takes longer, a tenth of the time at most goes into it.
	refresh = time.Second
	// revisions are how many states of the run are kept for browsers that are
	// still reading one.
	revisions = 3
	// farewell bounds how long Close waits for browsers to read the last state.
	farewell = 3 * time.Second
)

// Live serves the page of a run that is going on, on loopback.
type Live struct {
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu    sync.Mutex
	kept  map[int]state
	now   int // revision
	last  bool
	moved chan struct{} // closed when now or last changes
	read  map[int]int   // revision that is kept → how often its last section was read
	open  int           // browsers that listen
}

// state is a run at some time.
type state struct {
	sections sections
	tables   tables
}

// Serve serves a run until Close. What it is about is shown until there is more;
// latest makes its story as it is now, or returns nil when nothing has come since it
// was asked last.
func Serve(about story.Run, latest func() *story.Story) (*Live, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serving the page of a run: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Live{listener: listener, stop: stop, kept: map[int]state{0: {tables: tablesOf(story.NewBuilder(about).Story())}},
		moved: make(chan struct{}), read: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", l.page)
	mux.HandleFunc("GET /data/{name}", l.data)
	mux.HandleFunc("GET /events", l.events)
	l.server = &http.Server{Handler: sameOrigin(mux), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	l.done.Go(func() { _ = l.server.Serve(listener) }) // it ends with Close
	l.done.Go(func() { l.follow(ctx, latest) })
	return l, nil
}

// URL is where the page is.
func (l *Live) URL() string { return "http://" + l.listener.Addr().String() + "/" }

// sameOrigin refuses what does not come from a page of ours: another site could name
// its own host and mean ours, or ask without wanting to see the answer.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if address, ipErr := netip.ParseAddr(host); err != nil || host != "localhost" && (ipErr != nil || !address.IsLoopback()) {
			http.Error(w, "this page is for browsers on this machine", http.StatusForbidden)
			return
		}
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.URL.Path != "/" { // a link may lead to the page
			http.Error(w, "this page is not for other sites", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (l *Live) follow(ctx context.Context, latest func() *story.Story) {
	pause := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		if s := latest(); s != nil {
			l.show(s, false)
		}
		pause = max(refresh, 10*time.Since(began))
	}
}

// show makes a story the one that browsers see.
func (l *Live) show(s *story.Story, last bool) {
	packed, err := encode(s, nil, -1)
	if err != nil {
		return // the next one may do
	}
	seen := tablesOf(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last {
		return
	}
	l.now++
	l.kept[l.now], l.last = state{packed, seen}, last
	delete(l.kept, l.now-revisions)
	delete(l.read, l.now-revisions)
	close(l.moved)
	l.moved = make(chan struct{})
}

// Close shows the run as it ended, if s is not nil, gives browsers a moment to
// read that, and ends the serving.
func (l *Live) Close(s *story.Story) {
	if s != nil {
		l.mu.Lock()
		readers := l.open // they close their event streams before they read
		l.mu.Unlock()
		l.show(s, true)
		for deadline := time.Now().Add(farewell); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			l.mu.Lock()
			done := l.read[l.now] >= readers
			l.mu.Unlock()
			if done {
				break
			}
		}
	}
	l.stop()
	_ = l.server.Close() // browsers notice
	l.done.Wait()
}

// page is the page as it is now, or what of it is text in a state that a browser
// names. The events follow by themselves.
func (l *Live) page(w http.ResponseWriter, r *http.Request) {
	revision, err := strconv.Atoi(r.URL.Query().Get("revision"))
	l.mu.Lock()
	now, kept := l.kept[revision]
	if err != nil || !kept {
		now = l.kept[l.now]
	}
	l.mu.Unlock()
	v := view{First: -1, Live: true, Runs: []tables{now.tables}}
	var b bytes.Buffer
	if err := v.open(&b, "connect-src 'self'"); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := parsed.ExecuteTemplate(&b, "close.html", v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // a browser that has gone
}

func (l *Live) data(w http.ResponseWriter, r *http.Request) {
	revision, _ := strconv.Atoi(r.URL.Query().Get("revision")) // 0 is not kept
	name := r.PathValue("name")
	l.mu.Lock()
	at, kept := l.kept[revision]
	if name == "logs" && kept {
		l.read[revision]++ // what a browser asks for last
	}
	l.mu.Unlock()
	switch {
	case !kept || at.sections == nil:
		http.Error(w, "that state of the run is gone; a newer one is there", http.StatusGone)
	case len(at.sections[name]) == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(at.sections[name]) // a browser that has gone
	}
}

// events sends a browser every new state, as server-sent events.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.open++
	l.mu.Unlock()
	defer func() { l.mu.Lock(); l.open--; l.mu.Unlock() }()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	sent := 0
	for {
		l.mu.Lock()
		now, last, moved := l.now, l.last, l.moved
		l.mu.Unlock()
		var b strings.Builder
		if now > sent {
			fmt.Fprintf(&b, "data: %d\n\n", now)
			sent = now
		}
		if last {
			b.WriteString("event: ended\ndata: 0\n\n")
		}
		if _, err := w.Write([]byte(b.String())); err != nil || flush.Flush() != nil {
			return
		}
		if last {
			// The browser closes; until then the connection says that it reads.
			<-r.Context().Done()
			return
		}
		select {
		case <-moved:
		case <-r.Context().Done():
			return
		}
	}
}
