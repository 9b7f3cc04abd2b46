package world

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func answer(code int, retryAfter, body string) *http.Response {
	resp := &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
	if retryAfter != "" {
		resp.Header.Set("Retry-After", retryAfter)
	}
	return resp
}

// TestRetries: client-go tries again as often as it always does, each time after a time of the
// world's clock, and waits for no other.
func TestRetries(t *testing.T) {
	const node = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`
	get := func(ctx context.Context, c kubernetes.Interface) error {
		_, err := c.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
		return err
	}
	create := func(ctx context.Context, c kubernetes.Interface) error {
		_, err := c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		return err
	}
	tooMany := func() (*http.Response, error) { return answer(http.StatusTooManyRequests, "3", "{}"), nil }
	reset := func() (*http.Response, error) { return nil, syscall.ECONNRESET }
	for _, c := range []struct {
		name     string
		call     func(context.Context, kubernetes.Interface) error
		refusals int
		refuse   func() (*http.Response, error)
		calls    int
		step     time.Duration
		fails    bool
	}{
		{"asked to wait", get, 2, tooMany, 3, 3 * time.Second, false},
		{"a write asked to wait", create, 2, tooMany, 3, 3 * time.Second, false},
		{"cut off", get, 2, reset, 3, time.Second, false},
		{"a write cut off", create, 1, reset, 1, 0, true},
		{"always asked to wait", get, 100, tooMany, 11, 3 * time.Second, true},
		{"always cut off", get, 100, reset, 11, time.Second, true},
		{"refused for good", get, 1, func() (*http.Response, error) { return answer(http.StatusInternalServerError, "", "{}"), nil }, 1, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				now := testingclock.NewFakeClock(began)
				calls := 0
				var bodies [][]byte
				next := roundTrip(func(req *http.Request) (*http.Response, error) {
					if calls++; req.Body != nil {
						body, err := io.ReadAll(req.Body)
						if err != nil {
							t.Error(err)
						}
						bodies = append(bodies, body)
					}
					if calls <= c.refusals {
						return c.refuse()
					}
					return answer(http.StatusOK, "", node), nil
				})
				client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1", QPS: -1, Transport: retries{next, now}})
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- c.call(t.Context(), client) }()
				for want := 1; want < c.calls; want++ {
					synctest.Wait()
					if calls != want {
						t.Errorf("%d calls after %d times of %v, want %d", calls, want-1, c.step, want)
					}
					now.Step(c.step - time.Millisecond)
					synctest.Wait()
					if calls != want {
						t.Errorf("%d calls before %v were over, want %d", calls, c.step, want)
					}
					now.Step(time.Millisecond)
				}
				if err := <-done; (err != nil) != c.fails {
					t.Errorf("error %v, want one: %v", err, c.fails)
				}
				if calls != c.calls || !time.Now().Equal(began) {
					t.Errorf("%d calls in %v of real time, want %d in none", calls, time.Since(began), c.calls)
				}
				for _, body := range bodies {
					if len(body) == 0 || !bytes.Equal(body, bodies[0]) {
						t.Errorf("sent %q after %q", body, bodies[0])
					}
				}
			})
		})
	}
}
