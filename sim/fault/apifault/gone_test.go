package apifault

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// An API server that was killed answers nothing: neither does the proxy, of which a client would
// think that the API server has refused its call, so that it must not try again.
func TestServerGone(t *testing.T) {
	for _, when := range []string{"before the call", "amidst the call"} {
		t.Run(when, func(t *testing.T) {
			var killed atomic.Bool
			var server *httptest.Server
			server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if killed.Load() {
					server.CloseClientConnections()
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[]}`)
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			p := startProxy(t, &rest.Config{Host: server.URL, BearerToken: "of the client", TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
			client, err := kubernetes.NewForConfig(p.ClientConfig())
			if err != nil {
				t.Fatal(err)
			}
			list := func() error { // once: client-go tries again for ten seconds
				return client.CoreV1().RESTClient().Get().Resource("pods").MaxRetries(0).Do(t.Context()).Error()
			}
			if err := list(); err != nil {
				t.Fatal(err)
			}
			killed.Store(true)
			if when == "before the call" {
				server.Close()
			}
			err = list()
			if status, answered := err.(apierrors.APIStatus); answered || err == nil {
				t.Errorf("the call was answered: %v", status)
			}
		})
	}
}
