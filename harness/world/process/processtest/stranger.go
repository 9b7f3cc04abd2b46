package processtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/pki"
)

// What a stranger asks for: what there is to be had from programs of the field that
// let everybody in.
var (
	paths = []string{
		"/", "/version", "/metrics", "/metrics/resources", "/debug/pprof/", "/debug/pprof/cmdline", "/configz", "/flagz", "/statusz", "/logs/",
		"/health", "/healthz", "/readyz", "/livez", "/health-check", "/snapshotz",
		"/members", "/v2/keys/", "/v3/kv/range", // etcd
		"/api", "/apis", "/openapi/v2", "/api/v1/nodes", "/api/v1/namespaces/default/configmaps", // kube-apiserver
		"/pods", "/runningpods/", "/stats/summary", "/exec/a/b/c", // kubelet
		"/v1/servers", "/sdk", "/about", "/mob", "/data/0", "/events", // clouds, pages
	}
	// Anybody may know that a program is well.
	health = []string{"/health", "/healthz", "/readyz", "/livez", "/health-check"}
)

// Anonymous is what kube-apiserver also answers without credentials, and a fault proxy passes on.
var Anonymous = map[string][]string{"kube-apiserver": {"/version"}, "": {"/version"}}

// etcdRange asks etcd's gateway for all keys, as a form of a web page can.
const etcdRange = `{"key":"AA==","range_end":"AA=="}`

// foreign is a web page's site.
const foreign = "attacker.example"

// CheckStrangers asks all that listens, of the programs of the worlds in dir and of
// this process, what a stranger without credentials can: in HTTP, in TLS, in TLS with a
// certificate of their own, as a program and as another site's page. Each address may
// say that it is well, and answer the paths that may has for a program (the name
// of its file; "" is this process). There must be at least so many addresses.
func CheckStrangers(t *testing.T, dir string, atLeast int, may map[string][]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked := 0
	certificate, err := unknown()
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]*tls.Config{
		"http": nil, "https": {InsecureSkipVerify: true},
		"https with a certificate": {InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate,
			error) {
			return &certificate, nil
		}},
	}
	for _, p := range append(ProcessesUnder(dir), Process{PID: os.Getpid()}) {
		program, _, _ := strings.Cut(p.Command, " ")
		name := filepath.Base(program)
		if p.Command == "" {
			name = ""
		}
		addresses, err := Listening(p.PID)
		if err != nil {
			t.Error(err)
		}
		for _, address := range addresses {
			asked++
			for way, config := range ways {
				s := stranger{address: address, tls: config}
				for _, answer := range s.ask(ctx) {
					if answer.harmless(may[name]) {
						continue
					}
					t.Errorf("%q answers a stranger at %s, over %s: %s", name, address, way, answer)
				}
			}
		}
	}
	if ctx.Err() != nil {
		t.Errorf("not all was asked: %v", context.Cause(ctx))
	}
	if asked < atLeast {
		t.Errorf("%d addresses, want %d", asked, atLeast)
	}
}

// stranger is a client that has found an address.
type stranger struct {
	address netip.AddrPort
	tls     *tls.Config
}

// answer is what a stranger got.
type answer struct {
	method, path string
	page         bool // asked as a page of another site
	status       int
	readable     string // Access-Control-Allow-Origin
	body         string
}

func (a answer) String() string {
	as := "a program"
	if a.page {
		as = "a page"
	}
	return fmt.Sprintf("%s %s as %s: %d, readable by pages of %q: %.80q", a.method, a.path, as, a.status, a.readable, a.body)
}

func (a answer) harmless(may []string) bool {
	switch {
	case a.readable != "":
		return false
	case a.status >= 300, slices.Contains(may, a.path):
		return true
	}
	return slices.Contains(health, a.path) && len(a.body) < 64
}

func (s stranger) ask(ctx context.Context) (answers []answer) {
	transport := &http.Transport{TLSClientConfig: s.tls}
	defer transport.CloseIdleConnections()
	for _, page := range []bool{false, true} {
		for _, path := range paths {
			a := answer{method: http.MethodGet, path: path, page: page}
			switch err := s.once(ctx, transport, &a); {
			case err == nil:
				answers = append(answers, a)
			case path == paths[0]: // the way is closed
				return answers
			}
		}
	}
	return answers
}

// once asks, and fills in the answer.
func (s stranger) once(ctx context.Context, transport *http.Transport, a *answer) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // some answers have no end
	defer cancel()
	scheme, body := "http", ""
	if s.tls != nil {
		scheme = "https"
	}
	if strings.HasPrefix(a.path, "/v3/") {
		a.method, body = http.MethodPost, etcdRange
	}
	req, err := http.NewRequestWithContext(ctx, a.method, fmt.Sprintf("%s://%s%s", scheme, s.address, a.path), strings.NewReader(body))
	if err != nil {
		return err
	}
	if a.page {
		req.Host = foreign
		req.Header.Set("Origin", scheme+"://"+foreign)
		req.Header.Set("Content-Type", "text/plain")
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // what came in time
	a.status, a.readable, a.body = resp.StatusCode, resp.Header.Get("Access-Control-Allow-Origin"), string(text)
	return nil
}

// unknown is a client's certificate of an unknown authority.
func unknown() (tls.Certificate, error) {
	ca, err := pki.NewAuthority("kubernetes", time.Now())
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := ca.Issue("kube-apiserver", []string{"system:masters"})
	if err != nil {
		return tls.Certificate{}, err
	}
	return pair.TLS()
}
