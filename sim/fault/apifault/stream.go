package apifault

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is the body of a watch: it passes events on as they come, until a rule
// takes it.
//
//	passing ──Freeze──▶ frozen ──(For, over)──▶ passing
//	passing ──Cut──▶ broken      passing ──Expire──▶ (end of an event) ──▶ last words
type stream struct {
	io.ReadCloser
	call *call
	// encoding is nil for one that the proxy cannot write.
	encoding *runtime.SerializerInfo
	frames   frames
	closed   chan struct{}

	mu      sync.Mutex
	rule    *armed        // that has taken it, until it has done with it
	thawed  chan struct{} // while frozen: closed when it is over
	broken  bool
	expired bool
	last    *bytes.Reader // what is left to say before the end
}

// open puts the watch that resp begins under the eyes of the rules.
func (p *Proxy) open(c *call, resp *http.Response) error {
	s := &stream{ReadCloser: resp.Body, call: c, closed: make(chan struct{})}
	if mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
		if info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType); ok && info.StreamSerializer != nil {
			s.encoding, s.frames.prefixed = &info, mediaType == runtime.ContentTypeProtobuf
		}
	}
	resp.Body = s
	a := c.rule
	switch {
	case a == nil:
	case a.watches():
		c.rule = nil // the stream finishes with it
		s.begin(a)
	default:
		if err := c.after(a, resp); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams[s] = struct{}{}
	for _, late := range p.rules.All() { // active since the call came
		if late.watches() && late.turn > c.turn && s.free() && p.takes(late, c.info, c.agent) {
			s.begin(late)
		}
	}
	return nil
}

// watches reports whether the rule is about the stream of a watch, not about the
// call that begins it.
func (a *armed) watches() bool {
	_, is := a.does.(onWatch)
	return is
}

// free reports whether no rule has taken the stream.
func (s *stream) free() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rule == nil && !s.broken && !s.expired
}

// begin lets the rule act on the stream. It returns at once.
func (s *stream) begin(a *armed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rule = a
	a.does.(onWatch).watch(s, a)
}

// wait lets d of virtual time pass, for ever if d is zero, and reports whether it
// did: it ends early with the rule, the stream, or the proxy.
func (s *stream) wait(d time.Duration, a *armed) bool {
	var passed <-chan time.Time
	if d > 0 {
		timer := s.call.proxy.cfg.Clock.NewTimer(d)
		defer timer.Stop()
		passed = timer.C()
	}
	select {
	case <-passed:
		return true
	case <-a.over:
	case <-s.closed:
	case <-s.call.req.Context().Done():
	}
	return false
}

// stop ends the stream at the next chance that how leaves; a Read that waits for
// the API server is woken.
func (s *stream) stop(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
	if s.broken || s.frames.betweenEvents() {
		_ = s.ReadCloser.Close()
	}
}

var errCut = errors.New("cut by a rule")

// Read implements io.Reader for the one goroutine that copies the watch.
func (s *stream) Read(b []byte) (int, error) {
	if s.last != nil {
		return s.last.Read(b)
	}
	n, err := s.ReadCloser.Read(b)
	s.buffer(n)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return 0, errCut
	}
	if !s.expired {
		s.frames.pass(b[:n])
		return n, err
	}
	if !s.frames.betweenEvents() {
		n = s.frames.passOne(b[:n])
		if !s.frames.betweenEvents() && err == nil {
			return n, nil // the rest of the event is still to come
		}
	} else {
		n = 0
	}
	s.last = bytes.NewReader(s.lastWords())
	if n == 0 {
		return s.last.Read(b)
	}
	return n, nil
}

// buffer keeps what has come back while the stream is frozen.
func (s *stream) buffer(n int) {
	var recorded *armed
	for {
		s.mu.Lock()
		thawed, a := s.thawed, s.rule
		s.mu.Unlock()
		if thawed == nil {
			return
		}
		if n > 0 && recorded != a {
			s.call.proxy.tookEffect(s.call, a, nil)
			recorded = a
		}
		<-thawed
	}
}

// lastWords is the event with which the API server ends a watch that is too old.
func (s *stream) lastWords() []byte {
	status := expired()
	status.Kind, status.APIVersion = "Status", "v1"
	object, err := runtime.Encode(s.encoding.Serializer, status)
	if err != nil {
		return nil
	}
	var text bytes.Buffer
	event := &metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: object}}
	frame := s.encoding.StreamSerializer.Framer.NewFrameWriter(&text)
	if s.encoding.StreamSerializer.Encode(event, frame) != nil {
		return nil
	}
	return text.Bytes()
}

// Close implements io.Closer.
func (s *stream) Close() error {
	p := s.call.proxy
	p.mu.Lock()
	delete(p.streams, s)
	p.mu.Unlock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return s.ReadCloser.Close()
}
