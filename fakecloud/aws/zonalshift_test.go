package aws_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/aws/wire/wiretest"
)

// A zonal shift is one at a time, and ends when it expires or is cancelled.
func TestZonalShift(t *testing.T) {
	w := newWorld(t)
	const host = "arc-zonal-shift.us-west-2.amazonaws.com"
	shifted := func() string {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "https://"+host+"/managedresources/arn%3Aaws%3Aeks%3Aus-west-2%3A123456789012%3Acluster%2F"+cluster, nil)
		wiretest.Sign(r, "", key, secret, "arc-zonal-shift", "us-west-2", w.clock.Now())
		reply := httptest.NewRecorder()
		w.server.ServeHTTP(reply, r)
		if reply.Code != http.StatusOK {
			t.Fatalf("%d: %s", reply.Code, reply.Body)
		}
		_, rest, _ := strings.Cut(reply.Body.String(), `"awayFrom":"`)
		return rest
	}
	for _, test := range []struct {
		zone    string
		expires time.Duration
		why     string // empty: it is started
	}{
		{"us-west-2d", time.Hour, "no zone"},
		{"us-west-2a", time.Second, "cannot last"},
		{"us-west-2a", 73 * time.Hour, "cannot last"},
		{"us-west-2a", 2 * time.Minute, ""},
		{"us-west-2b", time.Hour, "one at a time"},
	} {
		err := w.server.ShiftAway(test.zone, test.expires)
		if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("away from %s for %s: %v", test.zone, test.expires, err)
		}
	}
	w.clock.Step(time.Minute)
	if is := shifted(); !strings.HasPrefix(is, "usw2-az1") {
		t.Errorf("after a minute of two: %q", is)
	}
	w.clock.Step(time.Minute)
	if is := shifted(); is != "" {
		t.Errorf("expired: %q", is)
	}
	if err := w.server.CancelShift("us-west-2a"); err == nil {
		t.Error("one that has expired can be cancelled")
	}
	if err := w.server.ShiftAway("us-west-2b", time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := w.server.CancelShift("us-west-2b"); err != nil || shifted() != "" {
		t.Errorf("it is there after it was cancelled: %v", err)
	}
}
