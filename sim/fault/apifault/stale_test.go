package apifault

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"nodestorm/sim/fault"
)

// An API server that never answers does not keep a proxy from starting, and its end,
// for ever: the missing answer is reported.
func TestStaleListOfAServerThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skipf("it waits for %s; run without -short", answerWithin)
	}
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	client := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	p, err := Start(Config{Client: client, Writer: client}, fault.Fault{Name: "old", Match: Match{Resource: "pods", Verbs: []string{"list"}}, Effect: StaleList{}})
	if err == nil {
		_ = p.Close()
	}
	if want := `rule "old": asking for the newest resource version`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}
