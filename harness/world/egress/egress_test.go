package egress_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/harness/world/egress"
	"nodestorm/sim/history"
)

const cloud = "api.example.cloud"

// rig is a stand-in for the cloud, a proxy before it, and a client whose clock
// is the world's.
type rig struct {
	proxy   *egress.Proxy
	history *history.Log
	client  *http.Client
	now     *testclock.FakePassiveClock
}

func start(t *testing.T, stand http.HandlerFunc) *rig {
	t.Helper()
	origin := httptest.NewServer(stand)
	t.Cleanup(origin.Close)
	// Far from real time: only a world's clock makes the certificates valid.
	r := &rig{now: testclock.NewFakePassiveClock(time.Date(2061, 7, 28, 0, 0, 0, 0, time.UTC))}
	r.history = history.New(time.Time{}, r.now)
	cert := filepath.Join(t.TempDir(), "ca.crt")
	proxy, err := egress.Serve(egress.Config{CertFile: cert, Clock: r.now, History: r.history})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := proxy.Forward(cloud, origin.URL); err != nil {
		t.Fatal(err)
	}
	r.proxy = proxy
	r.client = r.newClient(t, cert)
	return r
}

func (r *rig) newClient(t *testing.T, cert string) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) || bytes.Contains(pem, []byte("PRIVATE")) {
		t.Fatalf("the certificate file holds\n%s", pem)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(r.address(t)), TLSClientConfig: &tls.Config{RootCAs: roots, Time: r.now.Now}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func (r *rig) env(t *testing.T, name string) string {
	t.Helper()
	for _, pair := range r.proxy.Env() {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", name, r.proxy.Env())
	return ""
}

// address is the proxy's, as programs have it.
func (r *rig) address(t *testing.T) *url.URL {
	t.Helper()
	u, err := url.Parse(r.env(t, "HTTPS_PROXY"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (r *rig) refused() (hosts []string) {
	for _, event := range r.history.Events() {
		if event.Source == history.Harness && event.Verb == egress.Refused && event.Code == http.StatusForbidden {
			hosts = append(hosts, event.Object.Name)
		}
	}
	return hosts
}

func TestForward(t *testing.T) {
	r := start(t, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("RateLimit-Remaining", "7")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Join([]string{req.Method, req.URL.String(), req.Header.Get("Authorization"), req.UserAgent(), string(body)}, " "))
	})
	for range 3 { // the connection is used again
		req, err := http.NewRequest(http.MethodPost, "https://"+cloud+"/v1/servers?page=2&label_selector=a%3Db", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		req.Header.Set("User-Agent", "autoscaler/1.2")
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if want := "POST /v1/servers?page=2&label_selector=a%3Db Bearer x autoscaler/1.2 body"; string(got) != want {
			t.Errorf("the stand-in got %q, want %q", got, want)
		}
		if resp.StatusCode != http.StatusTeapot || resp.Header.Get("RateLimit-Remaining") != "7" {
			t.Errorf("the client got %s, %v", resp.Status, resp.Header)
		}
	}
	if refused := r.refused(); len(refused) > 0 {
		t.Errorf("refused %q", refused)
	}
}

// What answers in place of a host sees its requests with the host's name, which some sign.
func TestAnswer(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) { t.Error("another host's stand-in was asked") })
	if err := r.proxy.Answer("ec2.example.cloud", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.WriteString(w, req.Host+req.URL.String())
	})); err != nil {
		t.Fatal(err)
	}
	resp, err := r.client.Get("https://ec2.example.cloud/?Action=DescribeInstances")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "ec2.example.cloud/?Action=DescribeInstances" {
		t.Errorf("it got %q, %v", got, err)
	}
}

// A stand-in that hangs up is not made an answer of the proxy's.
// What answers for a host can be had at an address of loopback, too, until the proxy ends. Of no other host it can.
func TestOpen(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) {})
	if err := r.proxy.Answer("ec2.example.cloud", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.WriteString(w, req.URL.String())
	})); err != nil {
		t.Fatal(err)
	}
	if url, err := r.proxy.Open("other.example.cloud"); err == nil {
		t.Errorf("a host without a way is at %s", url)
	}
	url, err := r.proxy.Open("ec2.example.cloud")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(url + "/?Action=DescribeInstances")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "/?Action=DescribeInstances" {
		t.Errorf("it got %q, %v", got, err)
	}
	if err := r.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Error("it answers after its end")
	}
}

func TestHangUp(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	resp, err := r.client.Get("https://" + cloud + "/v1/servers")
	if err == nil {
		_ = resp.Body.Close()
		t.Errorf("answer %s, want none", resp.Status)
	}
}

func TestRefuse(t *testing.T) {
	reached := false
	r := start(t, func(http.ResponseWriter, *http.Request) { reached = true })
	outside := func(what string) {
		resp, err := r.client.Get(what)
		if err != nil {
			return // of a CONNECT that was refused
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s, want it refused", what, resp.Status)
		}
	}
	outside("https://example.org/")
	outside("https://" + cloud + ":8443/")
	outside("https://" + cloud + ".example.org/")
	outside("https://169.254.169.254/")
	outside("http://" + cloud + "/v1/servers")
	outside("http://[2001:db8::1]/")
	if want := []string{"example.org", cloud, cloud + ".example.org", "169.254.169.254", cloud, "2001:db8::1"}; strings.Join(r.refused(), " ") != strings.Join(want, " ") {
		t.Errorf("refused %q, want %q", r.refused(), want)
	}
	if reached {
		t.Error("a refused request has reached the stand-in")
	}
}

// A tunnel leads where it was opened to, whatever its requests say.
func TestTunnelIsForOneHost(t *testing.T) {
	var hosts []string
	r := start(t, func(w http.ResponseWriter, req *http.Request) { hosts = append(hosts, req.URL.String()) })
	req, err := http.NewRequest(http.MethodGet, "https://"+cloud+"/v1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "example.org"
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(hosts) != 1 || hosts[0] != "/v1/x" {
		t.Errorf("the stand-in got %q", hosts)
	}
}

// What anybody else on the machine asks, be it in a program's name, from a web page or with a guessed secret, gets nowhere and is
// counted: the history has nothing of it but how much it was.
func TestStrangers(t *testing.T) {
	reached := false
	r := start(t, func(http.ResponseWriter, *http.Request) { reached = true })
	address := r.address(t).Host
	ask := func(head string) string {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(conn, head+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("%.60q: %v", head, err)
		}
		return string(answer)
	}
	basic := func(user, secret string) string {
		return "\r\nProxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))
	}
	secret, _ := r.address(t).User.Password()
	calls := 0
	for _, head := range []string{
		"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443", "CONNECT " + cloud + ":443 HTTP/1.1\r\nHost: " + cloud,
		"GET http://example.org/ HTTP/1.1\r\nHost: example.org", "GET / HTTP/1.1\r\nHost: attacker.example\r\nOrigin: http://attacker.example",
		"GET / HTTP/1.1\r\nHost: " + address, "POST http://" + cloud + "/v1/servers HTTP/1.1\r\nHost: " + cloud + "\r\nContent-Length: 0",
	} {
		for _, shown := range []string{"", basic("world", ""), basic("world", "guessed"), basic("", secret), "\r\nAuthorization: Bearer " + secret,
			"\r\nProxy-Authorization: Bearer " + secret, "\r\nProxy-Authorization: " + secret} {
			calls++
			if answer := ask(head + "\r\nUser-Agent: karpenter/1.0" + shown); !strings.HasPrefix(answer, "HTTP/1.1 407 ") || strings.Contains(answer, secret) ||
				strings.Contains(answer, "Access-Control") || !strings.Contains(answer, "Connection: close") {
				t.Errorf("%q gets %q", head+shown, answer)
			}
		}
	}
	for ; calls < 2001; calls++ {
		ask("GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\nUser-Agent: karpenter")
	}
	if err := r.proxy.Close(); err != nil {
		t.Error(err)
	}
	events := r.history.Events()
	if last := events[len(events)-1]; len(events) > 12 || last.Detail["of"] != uint64(2001) {
		t.Errorf("%d calls are %d events, the last of them %+v", calls, len(events), last)
	}
	text, err := json.Marshal(events)
	if err != nil || bytes.Contains(text, []byte("karpenter")) || bytes.Contains(text, []byte("example")) || bytes.Contains(text, []byte(secret)) {
		t.Errorf("the history has what strangers said: %s, %v", text, err)
	}
	if reached {
		t.Error("a stranger has reached the stand-in")
	}
}

// Programs have the secret in the proxy's address and show it without further settings, also those that are not Go's.
func TestProgramsAreInvited(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) {})
	hosts := 0
	for _, command := range [][]string{
		{"curl", "-s", "-m", "10"}, {"wget", "-q", "-t", "1", "-T", "10", "-O", "/dev/null"},
		{"python3", "-c", "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1], timeout=10)"},
	} {
		program, err := exec.LookPath(command[0])
		if err != nil {
			t.Logf("there is no %s here", command[0])
			continue
		}
		for _, scheme := range []string{"http", "https"} {
			hosts++
			cmd := exec.Command(program, append(command[1:], scheme+"://"+command[0]+"."+scheme+".example/")...)
			cmd.Env = append(r.proxy.Env(), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())
			_ = cmd.Run() // it is refused
		}
	}
	if got := r.refused(); len(got) != hosts {
		t.Errorf("%d of %d were recorded: %q of %v", len(got), hosts, got, r.history.Events())
	}
}

// What is no HTTP and no TLS ends its own connection only.
func TestHostileBytes(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) {})
	address := r.address(t).Host
	for _, bytes := range []string{
		"\x16\x03\x01\x02\x00", "CONNECT\r\n\r\n", "CONNECT : HTTP/1.1\r\nHost: :\r\n\r\n",
		"CONNECT " + cloud + ":443 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
		"GET /" + strings.Repeat("a", 2<<20) + " HTTP/1.1\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(conn, bytes) // the proxy may hang up in between
		_ = conn.(*net.TCPConn).CloseWrite()
		if n, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.40q: still open after %d bytes", bytes, n)
		}
		_ = conn.Close()
	}
	resp, err := r.client.Get("https://" + cloud + "/")
	if err != nil {
		t.Fatal("a good client after the bad ones:", err)
	}
	_ = resp.Body.Close()
}

func TestForwardErrors(t *testing.T) {
	r := start(t, func(http.ResponseWriter, *http.Request) {})
	for _, origin := range []string{"https://127.0.0.1:1", "http://127.0.0.1", "http://192.0.2.1:80", "http://localhost:80", "http://127.0.0.1:80/v1", ":"} {
		if err := r.proxy.Forward("example.org", origin); err == nil {
			t.Errorf("%s: no error", origin)
		} else if !strings.Contains(err.Error(), "forwarding example.org") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
