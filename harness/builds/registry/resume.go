package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// How long and how often a connection may fail us. Variables, for tests.
var (
	silence = time.Minute            // without a byte, after which a connection counts as broken
	pause   = 500 * time.Millisecond // before the first resumption; each is twice the one before
)

// mostBreaks bounds how often one answer is resumed: with its pauses that is half a minute.
const mostBreaks = 6

var errSilent = errors.New("it has sent nothing for too long")

// resuming reads on where an answer breaks off or falls silent. What is put together that way
// is checked against its digest, like all that comes from a registry.
type resuming struct{ http.RoundTripper }

func (t resuming) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Header.Get("Range") != "" {
		return t.RoundTripper.RoundTrip(r)
	}
	resp, watch, err := t.send(r)
	if err != nil {
		return nil, err
	}
	size := resp.ContentLength
	if resp.StatusCode != http.StatusOK || resp.Uncompressed {
		size = -1 // nothing to resume
	}
	resp.Body = &body{transport: t, request: r, in: resp.Body, watch: watch, size: size}
	return resp, nil
}

// send sends a request that ends when its answer is silent for too long.
func (t resuming) send(r *http.Request) (*http.Response, *watch, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{cancel: cancel, ctx: ctx}
	w.timer = time.AfterFunc(silence, func() { cancel(errSilent) })
	resp, err := t.RoundTripper.RoundTrip(r.Clone(ctx))
	if err != nil {
		err = w.cause(err)
		w.stop()
		return nil, nil, err
	}
	return resp, w, nil
}

// watch is over one connection.
type watch struct {
	timer  *time.Timer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// cause is the error of a connection, which knows only that it was ended.
func (w *watch) cause(err error) error {
	if cause := context.Cause(w.ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// body is an answer, over as many connections as it takes.
type body struct {
	transport resuming
	request   *http.Request
	in        io.ReadCloser
	watch     *watch
	at, size  int64 // size below 0: not known
	breaks    int
}

func (b *body) Read(p []byte) (int, error) {
	for {
		b.watch.timer.Reset(silence)
		n, err := b.in.Read(p)
		b.at += int64(n)
		if n > 0 || err == nil || errors.Is(err, io.EOF) && (b.size < 0 || b.at >= b.size) {
			if n > 0 && err != nil && !errors.Is(err, io.EOF) {
				err = nil // it comes again
			}
			return n, err
		}
		err = b.watch.cause(err)
		if b.size < 0 || b.request.Context().Err() != nil {
			return 0, err
		}
		if err := b.resume(err); err != nil {
			return 0, err
		}
	}
}

// resume connects again to read on, some times.
func (b *body) resume(broken error) error {
	for b.breaks < mostBreaks {
		wait := time.NewTimer(pause << b.breaks)
		b.breaks++
		select {
		case <-wait.C:
		case <-b.request.Context().Done():
			wait.Stop()
			return b.request.Context().Err()
		}
		again := b.request.Clone(b.request.Context())
		again.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", b.at, b.size-1))
		resp, watch, err := b.transport.send(again)
		if err != nil {
			broken = err
			continue
		}
		if broken = b.fits(resp); broken != nil {
			watch.stop()
			_ = resp.Body.Close()
			continue
		}
		b.Close()
		b.in, b.watch = resp.Body, watch
		return nil
	}
	return fmt.Errorf("after %d of %d bytes, and %d further tries: %w", b.at, b.size, b.breaks, broken)
}

// fits makes sure that an answer goes on where the last has ended.
func (b *body) fits(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var from, to, of int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &of); err != nil || from != b.at || of != b.size {
			return fmt.Errorf("it was asked for bytes from %d of %d and sends %.80q: %w", b.at, b.size, resp.Header.Get("Content-Range"),
				io.ErrUnexpectedEOF)
		}
		return nil
	case http.StatusOK: // it knows no ranges, and begins again
		_, err := io.CopyN(io.Discard, resp.Body, b.at)
		return err
	}
	return fmt.Errorf("asked for the rest it says %s: %w", resp.Status, io.ErrUnexpectedEOF)
}

func (b *body) Close() error {
	err := b.in.Close()
	b.watch.stop()
	return err
}
