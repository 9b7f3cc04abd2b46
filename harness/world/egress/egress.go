// Package egress is the only way out of a world: an HTTP proxy on loopback for
// programs that have no setting for their cloud's endpoint and go by HTTPS_PROXY
// and SSL_CERT_FILE. It ends TLS for the hosts it knows, with a certificate of
// its own authority, and forwards to their stand-ins on loopback. Everything
// else is refused and recorded; nothing is ever dialled outside loopback.
//
// It is for those who have its address out of Env, which has a secret in it: any
// program of the machine can reach it, and what others ask is only counted.
//
// It knows no cloud and changes no request.
package egress

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/sim/history"
	"nodestorm/sim/pki"
)

// Refused is the verb of the harness's event of a host that a program wanted to
// reach and may not. The object is hosts/NAME, the actor the program's user agent.
const Refused = "refused"

// Name is what the history calls the proxy, where strangers come to it.
const Name = "the way out"

// Limits in real time: a client of ours sends its header at once, and what it
// does not use for minutes it opens anew.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// Config of a Proxy. CertFile is required.
type Config struct {
	// CertFile is written: the authority's certificate, for SSL_CERT_FILE.
	CertFile string
	// Clock is the programs' time, which the certificates are valid in. Nil means
	// real time.
	Clock clock.PassiveClock
	// History gets what is refused, and how many strangers came. Nil: none are kept.
	History history.Recorder
}

// Proxy is a running proxy. Its methods are safe for concurrent use.
type Proxy struct {
	cfg     Config
	ca      *pki.Authority
	front   *http.Server // takes CONNECT
	inside  *http.Server // serves what is inside a tunnel
	address string
	secret  string // of who may use it
	others  *history.Strangers
	tunnels *tunnels
	servers sync.WaitGroup

	mu      sync.Mutex
	origins map[string]*origin
	opened  []*http.Server
}

// origin stands in for a host.
type origin struct {
	cert tls.Certificate // the host's
	to   http.Handler
}

// Serve starts a proxy on a free port of loopback that leads nowhere, see Forward and Answer.
// Close it.
func Serve(cfg Config) (_ *Proxy, err error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.History == nil {
		cfg.History = history.Discard()
	}
	p := &Proxy{cfg: cfg, origins: map[string]*origin{}, secret: rand.Text(), others: history.CountStrangers(cfg.History, Name)}
	if p.ca, err = pki.NewAuthority("nodestorm egress CA", cfg.Clock.Now()); err != nil {
		return nil, err
	}
	if err := os.WriteFile(cfg.CertFile, p.ca.Cert, 0o600); err != nil {
		return nil, fmt.Errorf("writing the proxy's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the proxy: %w", err)
	}
	p.address = listener.Addr().String()
	p.tunnels = newTunnels(listener.Addr())
	quiet := log.New(io.Discard, "", 0) // broken connections are the clients' to report
	p.front = &http.Server{Handler: http.HandlerFunc(p.connect), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: quiet}
	p.inside = &http.Server{
		Handler: http.HandlerFunc(p.serveInside), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: quiet,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, hostKey{}, c.(*tunnel).host)
		},
	}
	p.servers.Go(func() { _ = p.front.Serve(listener) })
	p.servers.Go(func() { _ = p.inside.Serve(p.tunnels) })
	return p, nil
}

// Forward opens the way to a host, at port 443: to the origin that stands in for it,
// "http://127.0.0.1:4711", without a path.
func (p *Proxy) Forward(host, to string) error {
	url, err := loopback(to)
	if err != nil {
		return fmt.Errorf("forwarding %s: %w", host, err)
	}
	return p.Answer(host, forward(url))
}

// Answer opens the way to a host, at port 443: to what answers in its place, which sees requests as they were sent. A
// signature over the host's name holds there.
func (p *Proxy) Answer(host string, by http.Handler) error {
	pair, err := p.ca.Issue(host, nil, host)
	if err != nil {
		return err
	}
	cert, err := pair.TLS()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.origins[host] = &origin{cert: cert, to: by}
	return nil
}

// Open has what answers for a host answer at an address of loopback, too, without TLS, until the proxy ends: for programs with
// a setting for where their cloud is. Any program of the machine reaches it there, so it has to know who may call.
func (p *Proxy) Open(host string) (url string, err error) {
	at := p.origin(host)
	if at == nil {
		return "", fmt.Errorf("opening %s: the world has no way to it", host)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("opening %s: %w", host, err)
	}
	server := &http.Server{Handler: at.to, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = append(p.opened, server)
	p.servers.Go(func() { _ = server.Serve(listener) })
	return "http://" + listener.Addr().String(), nil
}

// origin is what stands in for a host; nil for none.
func (p *Proxy) origin(host string) *origin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.origins[host]
}

// Env is what a program needs to go through the proxy, whose secret is in it.
func (p *Proxy) Env() []string {
	url := (&url.URL{Scheme: "http", User: url.UserPassword(user, p.secret), Host: p.address}).String()
	return []string{
		"HTTPS_PROXY=" + url, "https_proxy=" + url, "HTTP_PROXY=" + url, "http_proxy=" + url,
		"NO_PROXY=127.0.0.1,localhost,::1", "no_proxy=127.0.0.1,localhost,::1",
		"SSL_CERT_FILE=" + p.cfg.CertFile, "SSL_CERT_DIR=" + os.DevNull, // no other authority
	}
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() error {
	err := errors.Join(p.front.Close(), p.inside.Close())
	p.mu.Lock()
	for _, server := range p.opened {
		err = errors.Join(err, server.Close())
	}
	p.mu.Unlock()
	p.servers.Wait()
	return errors.Join(err, p.others.Close())
}

// user is what clients call themselves, whatever they are: the secret is what counts.
const user = "world"

// invited reports whether a request has the proxy's secret, as clients send it that find it in the proxy's address: all of Go's,
// curl, wget, gRPC's. One that waits to be asked for it is asked.
func (p *Proxy) invited(r *http.Request) bool {
	sent := r.Header.Get("Proxy-Authorization")
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+p.secret))
	// mutant: anybody may use the way out
	return subtle.ConstantTimeCompare([]byte(sent), []byte(want)) == 1
}

type hostKey struct{}

// connect answers what reaches the proxy itself.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	if !p.invited(r) {
		p.others.Came()
		w.Header().Set("Proxy-Authenticate", `Basic realm="nodestorm"`)
		w.Header().Set("Connection", "close")
		http.Error(w, "nodestorm: this is the way out of a world, for its programs alone, which have its address with a secret",
			http.StatusProxyAuthRequired)
		return
	}
	host, port := r.URL.Hostname(), r.URL.Port()
	if r.Method == http.MethodConnect {
		var err error
		if host, port, err = net.SplitHostPort(r.Host); err != nil {
			host, port = r.Host, ""
		}
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	origin := p.origin(host)
	if r.Method != http.MethodConnect || port != "443" || origin == nil {
		p.refuse(w, r, host, port)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	// What the client has sent already is in the buffer.
	plain := tls.Server(&bufferedConn{conn, buffered.Reader}, &tls.Config{
		Certificates: []tls.Certificate{origin.cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	p.tunnels.add(&tunnel{Conn: plain, host: host})
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, host, port string) {
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	p.cfg.History.Record(history.Event{
		Source: history.Harness, Verb: Refused, Actor: history.Short(agent), Code: http.StatusForbidden,
		Object: history.Object{Resource: "hosts", Name: history.Short(host)},
		Detail: map[string]any{"method": history.Short(r.Method), "port": history.Short(port)},
	})
	w.Header().Set("Connection", "close")
	http.Error(w, fmt.Sprintf("nodestorm: this world has no way to %q; there is %s", history.Short(host), p.routes()), http.StatusForbidden)
}

// routes says where the proxy leads.
func (p *Proxy) routes() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.origins) == 0 {
		return "none to any host"
	}
	return "one to " + strings.Join(slices.Sorted(maps.Keys(p.origins)), ", ") + ", port 443"
}

// serveInside forwards a request out of a tunnel to where the tunnel leads,
// whatever host the request names.
func (p *Proxy) serveInside(w http.ResponseWriter, r *http.Request) {
	host, _ := r.Context().Value(hostKey{}).(string)
	p.origin(host).to.ServeHTTP(w, r) // the tunnel was opened to it
}

func forward(origin *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(origin) },
		// The environment's proxies are not for us, and a body stays as it is.
		Transport:     &http.Transport{Proxy: nil, DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: idleTimeout},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		// A stand-in that hangs up is seen to hang up.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// loopback reads an origin: http, a loopback address and a port.
func loopback(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	address, err := netip.ParseAddrPort(u.Host)
	if err != nil || u.Scheme != "http" || !address.Addr().IsLoopback() || u.Path != "" {
		return nil, fmt.Errorf("%q is no origin on loopback (want for example http://127.0.0.1:4711)", text)
	}
	return u, nil
}
