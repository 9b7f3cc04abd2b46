package world

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/net"

	"nodestorm/sim/time/clock"
)

// retries does in virtual time what client-go does in real time: it tries again what the API
// server has not served for now. A second of client-go's own is minutes of the world.
type retries struct {
	next  http.RoundTripper
	clock clock.Clock
}

// How often and how soon are client-go's figures.
const (
	mostRetries  = 10
	retryNoReply = time.Second
)

// errCutOff is in place of the last error, which client-go would know by its kind or its text.
var errCutOff = fmt.Errorf("the API server cut off all of %d calls", 1+mostRetries)

// RoundTrip hides from client-go what would make it wait by itself, the header Retry-After too.
func (r retries) RoundTrip(req *http.Request) (*http.Response, error) {
	for retry := 0; ; retry++ {
		resp, err := r.next.RoundTrip(req)
		wait, asked := retryIn(req, resp, err)
		if !asked {
			return resp, err
		}
		again := rewound(req)
		if retry == mostRetries || again == nil {
			if err != nil {
				return nil, errCutOff
			}
			resp.Header.Del("Retry-After")
			return resp, nil
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-r.clock.After(wait):
		}
		req = again
	}
}

// retryIn is after how long a call is to be tried again.
func retryIn(req *http.Request, resp *http.Response, err error) (time.Duration, bool) {
	if err != nil { // a write may have been taken
		return retryNoReply, req.Method == http.MethodGet && (net.IsConnectionReset(err) || net.IsProbableEOF(err) ||
			net.IsHTTP2ConnectionLost(err))
	}
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}

// rewound is a request that has not been sent yet, or nil where its body is gone.
func rewound(req *http.Request) *http.Request {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again
	}
	if req.GetBody == nil {
		return nil
	}
	var err error
	if again.Body, err = req.GetBody(); err != nil {
		return nil
	}
	return again
}
