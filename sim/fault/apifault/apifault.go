// Package apifault is a proxy between one client and kube-apiserver that does to
// the client's calls what networks, load balancers, busy API servers and other
// clients do to them.
//
//	client ──TLS, HTTP/2──▶ Proxy ──TLS, HTTP/2──▶ kube-apiserver
//	                          │ rules                    ▲
//	                          ├──────(other writer)──────┘
//	                          └──▶ history: armed, matched, effective, cleared
//
// Calls that no rule is about pass as they are: any verb, subresource, patch type
// and encoding, watches event by event. Upgrades (exec, attach, port-forward) do not
// pass: no controller uses them, and simulated nodes have nothing to attach to.
//
// # Identity
//
// The proxy has no identity of its own, and acts for one client: on calls that come
// with its credential. Those of others pass, and the API server says what they may. What the client authenticates with, it
// gives to the API server too: a bearer token passes through with the call, and a
// client certificate is presented again by the proxy, which holds the client's own
// kubeconfig and accepts that certificate and no other. The API server, its RBAC
// and its audit log see the client and no other user. The alternatives were worse:
// impersonation shows two users in the audit log, needs rights that the client must
// not have and breaks clients that impersonate; a front proxy's headers need flags
// of the API server, which only our own worlds could set.
//
// The package knows no cloud, no target and no world. It is no load generator and
// no cache.
package apifault

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// GCPercent is what a program should set the garbage collector to (GOGC) that is little
// else than a proxy. With a few MB of its own, Go's default of 100 has it collect every
// few hundred calls, and one call of a hundred waits for that: 1 ms in place of 0.4 ms
// (BENCHMARKS.md), for 10 MB.
const GCPercent = 400

// Actor is who events of the proxy name where no client acts.
const Actor = "sim-apifault"

// Config of a Proxy. Client is required.
type Config struct {
	// Client is how the client reaches the API server without the proxy: its
	// address, its CA, and what it authenticates with: a certificate or a token.
	Client *rest.Config
	// Writer is the identity of the other writer (OtherWriter), and asks what the
	// newest resource version is (StaleList). Nil means that rules with these
	// actions are refused.
	Writer *rest.Config
	// Clock is what delays and spans of rules are measured in. Nil is real time.
	Clock clock.WithTickerAndDelayedExecution
	// History takes the rules' events, and is what their When waits on. Nil is a
	// history of the proxy's own, in memory.
	History *history.Log
	// Seed is what the probabilities of rules are drawn from.
	Seed uint64
	// Later has some creations done later than they are answered. Nil: none.
	Later *Later
	// Tokens says that the client also has tokens that the API server gives it at run time, as kube-controller-manager has one for
	// each of its controllers: calls with any token are then the client's.
	Tokens bool
	// Listen is the address to listen on; empty is a free port on loopback.
	Listen string
}

// Proxy is a running proxy. Its methods are safe for concurrent use.
type Proxy struct {
	cfg      Config
	upstream *url.URL
	reverse  httputil.ReverseProxy
	server   *http.Server
	listener net.Listener
	certPEM  []byte // what clients have to trust
	client   *credential
	writer   *asks
	calls    sync.WaitGroup

	ctx     context.Context // ends with the proxy
	cancel  context.CancelFunc
	ended   chan struct{}
	serving error // why it ended; valid once ended is closed

	mu      sync.Mutex
	rules   fault.Set[*armed]
	turn    int                  // counts activations
	streams map[*stream]struct{} // open watches
}

// Start starts a proxy with rules, and returns when it listens. Rules that cannot
// work are an error. It stops with Close.
func Start(cfg Config, rules ...fault.Fault) (*Proxy, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.History == nil {
		cfg.History = history.New(time.Time{}, cfg.Clock)
	}
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	p := &Proxy{cfg: cfg, ended: make(chan struct{}), streams: map[*stream]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.start(rules); err != nil {
		p.cancel()
		return nil, fmt.Errorf("starting the fault proxy: %w", err)
	}
	return p, nil
}

func (p *Proxy) start(rules []fault.Fault) (err error) {
	if p.upstream, _, err = rest.DefaultServerUrlFor(p.cfg.Client); err != nil {
		return err
	}
	onward, err := newOnward(p.cfg.Client)
	if err != nil {
		return err
	}
	if p.client, err = newCredential(p.cfg.Client, onward.clientCert); err != nil {
		return err
	}
	p.client.tokens = p.cfg.Tokens
	if p.cfg.Writer != nil {
		if p.writer, err = newAsks(p.cfg.Writer); err != nil {
			return err
		}
	}
	serving, certPEM, err := servingConfig(onward.clientCert)
	if err != nil {
		return err
	}
	p.certPEM = certPEM
	p.reverse = httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(p.upstream) },
		Transport: onward,
		// Bodies of unknown length, as those of watches, it flushes as they come; to flush
		// the others before their end would be a frame more.
		ModifyResponse: p.replied,
		ErrorHandler:   p.failed,
		ErrorLog:       log.New(io.Discard, "", 0), // clients that go away are no news
		BufferPool:     &buffers{},
	}
	if p.listener, err = net.Listen("tcp", p.cfg.Listen); err != nil {
		return err
	}
	p.server = &http.Server{
		Handler:           p,
		TLSConfig:         serving,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	for _, rule := range rules {
		if err := p.Inject(rule); err != nil {
			return errors.Join(err, p.listener.Close())
		}
	}
	go func() {
		p.serving = p.server.ServeTLS(p.listener, "", "")
		close(p.ended)
	}()
	return nil
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Close ends the proxy and every call on it, and clears its rules.
func (p *Proxy) Close() error {
	p.clearAll()
	p.cancel()
	err := p.server.Close()
	<-p.ended
	p.calls.Wait()
	if !errors.Is(p.serving, http.ErrServerClosed) {
		err = errors.Join(err, p.serving)
	}
	return err
}

// Done is closed when the proxy has ended, by Close or by itself; Err says why.
func (p *Proxy) Done() <-chan struct{} { return p.ended }

// Err is why the proxy ended by itself; nil while it runs and after Close.
func (p *Proxy) Err() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	if errors.Is(p.serving, http.ErrServerClosed) {
		return nil
	}
	return p.serving
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.calls.Add(1)
	defer p.calls.Done()
	c := p.newCall(r)
	defer c.finish()
	if c.waits() {
		c.answerFirst(w)
		return
	}
	c.claim()
	if c.rule != nil && !c.begin(w) {
		return
	}
	p.reverse.ServeHTTP(w, c.req)
}

// replied receives the API server's answer before the client does.
func (p *Proxy) replied(resp *http.Response) error {
	return callOf(resp.Request).replied(resp)
}

// failed handles a call that the API server did not answer.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errLost):
		hangUp(r)
	case r.Context().Err() != nil: // the client has gone
		panic(http.ErrAbortHandler)
	case utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsHTTP2ConnectionLost(err), utilnet.IsProbableEOF(err):
		hangUp(r) // an API server that is gone answers nothing: clients try again after that, and not after an answer
	}
	writeStatus(w, r, unreachable(p.upstream.Host, err))
}

type connKey struct{}

// hangUp closes the client's connection, and with it every call on it, as if the
// machine at its other end had gone. It does not return.
func hangUp(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*tls.Conn); ok {
		if tcp, ok := c.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, no farewell
		}
		_ = c.NetConn().Close()
	}
	panic(http.ErrAbortHandler)
}

// buffers are what bodies are copied through.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }

// product is what a user agent begins with: "cluster-autoscaler/v1.32" is
// cluster-autoscaler.
func product(agent string) string {
	if end := strings.IndexAny(agent, "/ "); end >= 0 {
		return agent[:end]
	}
	return agent
}
