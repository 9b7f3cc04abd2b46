package apifault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Later answers a client's creations as done before they are, as a cloud does that takes its time: the client gets back
// what it has sent, and the API server gets it By later. It is no fault and leaves no event. What is done later goes
// through the proxy as any call, so that rules are about it.
type Later struct {
	Match
	// By is how much later, in the clock's time. It has to be positive.
	By time.Duration
}

// retries are the pauses, in the clock's time, after which what is done later is tried again that was refused. A client that
// waits by itself tries as often (retry.DefaultBackoff of client-go).
var retries = []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond}

// isDue is what a call has in its context that was answered before.
type isDue struct{}

// waits reports whether the call is answered now and done later.
func (c *call) waits() bool {
	l := c.proxy.cfg.Later
	// mutant: a machine that is to register later registers at once
	return l != nil && c.known && c.req.Context().Value(isDue{}) == nil && l.matches(c.info, c.agent)
}

// answerFirst answers a creation, and has it done later.
func (c *call) answerFirst(w http.ResponseWriter) {
	body, err := io.ReadAll(c.req.Body)
	if err != nil { // the client has gone
		panic(http.ErrAbortHandler)
	}
	c.proxy.calls.Go(func() { c.proxy.doLater(c.req, body) })
	w.Header().Set("Content-Type", c.req.Header.Get("Content-Type"))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body) // a client that has gone does not read it
}

// doLater does a call when its time has come, and again while it is refused.
func (p *Proxy) doLater(r *http.Request, body []byte) {
	ctx, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(r.Context()), isDue{}, true))
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	pause := p.cfg.Later.By
	for n := 0; ; n++ {
		select {
		case <-p.cfg.Clock.After(pause):
		case <-ctx.Done():
			return
		}
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		if p.forwardLater(again) || n == len(retries) {
			return
		}
		pause = retries[n]
	}
}

// forwardLater reports whether the API server has done a call.
func (p *Proxy) forwardLater(r *http.Request) (done bool) {
	defer func() {
		wrong := recover()
		if err, is := wrong.(error); is && errors.Is(err, http.ErrAbortHandler) {
			return // a rule has hung up
		}
		if wrong != nil {
			panic(wrong)
		}
	}()
	status := answered{header: http.Header{}}
	p.ServeHTTP(&status, r)
	return status.code < 300
}

// answered is what a call is answered with where no client waits for it.
type answered struct {
	header http.Header
	code   int
}

// Header implements http.ResponseWriter.
func (a *answered) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(code int) { a.code = code }

// Write implements http.ResponseWriter.
func (a *answered) Write(b []byte) (int, error) { return len(b), nil }
