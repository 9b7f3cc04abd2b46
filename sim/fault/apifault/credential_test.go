package apifault

import (
	"bufio"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/pki"
	"nodestorm/sim/strict"
)

// apiServer is one that gives everybody an empty list, and a watch of one event a
// moment.
func apiServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.URL.Query().Has("watch") {
			_, err := io.WriteString(w, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1"}}`+"\n")
			if err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[]}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func startProxy(t *testing.T, client *rest.Config, rules ...fault.Fault) *Proxy {
	t.Helper()
	p, err := Start(Config{Client: client}, rules...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Rules act on calls with the credential of the proxy's client. Another program that knows its
// name and its port uses none of them up, is not taken for the client, and gets nothing of it.
func TestRulesAreForTheClient(t *testing.T) {
	server := apiServer(t)
	insecure := rest.TLSClientConfig{Insecure: true}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown, err := pki.NewAuthority("unknown", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]*rest.Config{
		"certificate": {Host: server, TLSClientConfig: rest.TLSClientConfig{Insecure: true, CertData: unknown.Cert, KeyData: unknown.Key}},
		"token":       {Host: server, TLSClientConfig: insecure, BearerToken: "mine"},
		"token file":  {Host: server, TLSClientConfig: insecure, BearerTokenFile: file},
		"password":    {Host: server, TLSClientConfig: insecure, Username: "me", Password: "mine"},
		"nothing":     {Host: server, TLSClientConfig: insecure},
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, client, fault.Fault{Name: "busy", Plan: fault.Plan{Limit: 2}, Match: Match{Resource: "pods", Client: "target", Verbs: []string{"list"}}, Effect: Answer{Code: 503}})
			stranger := rest.AnonymousClientConfig(p.ClientConfig())
			stranger.BearerToken = "not mine"
			strangers := []*rest.Config{stranger}
			if name != "nothing" {
				strangers = append(strangers, rest.AnonymousClientConfig(p.ClientConfig()))
			}
			for _, cfg := range strangers {
				if got := list(t, cfg); got != http.StatusOK {
					t.Errorf("a stranger (token %q) gets %d, want what the API server says", cfg.BearerToken, got)
				}
			}
			if state := p.Rules()[0]; state.Matched > 0 {
				t.Errorf("strangers have used up %d of the rule's calls", state.Matched)
			}
			for _, r := range p.cfg.History.Events() {
				if r.Source == history.Fault && r.Verb != "armed" {
					t.Errorf("because of strangers: %s", r.Verb)
				}
			}
			if got := list(t, p.ClientConfig()); got != http.StatusServiceUnavailable {
				t.Errorf("the client gets %d, want the rule's answer", got)
			}
			if name == "token file" {
				if err := os.WriteFile(file, []byte("renewed\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				renewed := rest.AnonymousClientConfig(p.ClientConfig())
				renewed.BearerToken = "renewed"
				if got := list(t, renewed); got != http.StatusServiceUnavailable {
					t.Errorf("with a renewed token the client gets %d", got)
				}
			}
		})
	}
}

// A client that the API server gives tokens to, as kube-controller-manager, is one and the same with each of them; who has none
// stays a stranger.
func TestTokensAreTheClients(t *testing.T) {
	known, err := pki.NewAuthority("known", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	client := &rest.Config{Host: apiServer(t), TLSClientConfig: rest.TLSClientConfig{Insecure: true, CertData: known.Cert, KeyData: known.Key}}
	p, err := Start(Config{Client: client, Tokens: true},
		fault.Fault{Name: "busy", Match: Match{Resource: "pods", Verbs: []string{"list"}}, Effect: Answer{Code: 503}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	controller, stranger := rest.AnonymousClientConfig(p.ClientConfig()), rest.AnonymousClientConfig(p.ClientConfig())
	controller.BearerToken = "of a controller"
	for _, test := range []struct {
		cfg  *rest.Config
		want int
	}{{controller, http.StatusServiceUnavailable}, {stranger, http.StatusOK}, {p.ClientConfig(), http.StatusServiceUnavailable}} {
		if got := list(t, test.cfg); got != test.want {
			t.Errorf("with the token %q it gets %d, want %d", test.cfg.BearerToken, got, test.want)
		}
	}
}

// A rule about watches that becomes active later leaves those of strangers alone.
func TestStrangersWatch(t *testing.T) {
	client := &rest.Config{Host: apiServer(t), TLSClientConfig: rest.TLSClientConfig{Insecure: true}, BearerToken: "mine"}
	p := startProxy(t, client)
	stranger := rest.AnonymousClientConfig(p.ClientConfig())
	theirs, mine := watching(t, stranger), watching(t, p.ClientConfig())
	if err := p.Inject(fault.Fault{Name: "cut", Match: Match{Resource: "pods", Verbs: []string{"watch"}}, Effect: Cut{After: strict.Duration(time.Millisecond)}}); err != nil {
		t.Fatal(err)
	}
	for mine.Scan() { // to its end
	}
	for range 3 {
		if !theirs.Scan() {
			t.Errorf("a stranger's watch has ended: %v", theirs.Err())
			break
		}
	}
}

// A token that a program makes is another each time: nothing can be compared.
func TestUnknowableCredential(t *testing.T) {
	_, err := Start(Config{Client: &rest.Config{Host: "https://127.0.0.1:1", ExecProvider: &api.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode, Command: "aws"}}})
	if err == nil || !strings.Contains(err.Error(), "a program gives the client its token") || !strings.Contains(err.Error(), "kubectl create token") {
		t.Errorf("error %v", err)
	}
}

func list(t *testing.T, cfg *rest.Config) int {
	t.Helper()
	resp := get(t, cfg, "/api/v1/namespaces/default/pods")
	_ = resp.Body.Close()
	return resp.StatusCode
}

func watching(t *testing.T, cfg *rest.Config) *bufio.Scanner {
	t.Helper()
	resp := get(t, cfg, "/api/v1/namespaces/default/pods?watch=true")
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() {
		t.Fatalf("a watch without events: %v", lines.Err())
	}
	return lines
}

// get is a call of the program "target", on a connection of its own.
func get(t *testing.T, cfg *rest.Config, path string) *http.Response {
	t.Helper()
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = "target/v1"
	config, err := rest.TLSConfigFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if config == nil {
		config = &tls.Config{}
	}
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	wrapped, err := rest.HTTPWrappersForConfig(cfg, transport)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cfg.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := wrapped.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
