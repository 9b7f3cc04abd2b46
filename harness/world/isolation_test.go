package world_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
	"nodestorm/harness/world/egress"
	"nodestorm/harness/world/process"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// TestIsolation: what programs of a world have of ours, where they get to, and who
// gets to them.
func TestIsolation(t *testing.T) {
	processtest.Poison(t)
	cfg := config(t, clock.Real)
	left := newTraces(t)
	w := start(t, cfg)
	t.Run("environment", func(t *testing.T) { testEnvironment(t, w, left) })
	t.Run("actor", func(t *testing.T) { testActor(t, w) })
	t.Run("host", func(t *testing.T) { testHost(t, w) })
	t.Run("addresses", func(t *testing.T) { testAddresses(t, w) })
	t.Run("no way out", func(t *testing.T) { testNoWayOut(t, w) })
	t.Run("strangers", func(t *testing.T) { testStrangers(t, w, left) })
	t.Run("intruders", func(t *testing.T) { testIntruders(t, w, left) })
	hides(t, w, cfg.Out)
}

func testEnvironment(t *testing.T, w *world.World, left traces) {
	target, err := w.StartProgram(t.Context(), process.Spec{Name: "target", Path: "/bin/sleep", Args: []string{"1000"}, Env: []string{"OF_ITS_OWN=1", "TZ=Asia/Kolkata", "HTTPS_PROXY="}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = target.Kill() }()
	processtest.CheckUnpoisoned(t, left.dir, 6) // with the guard
	var names []string
	for _, pair := range processtest.Env(target.PID()) {
		name, value, _ := strings.Cut(pair, "=")
		names = append(names, name)
		switch {
		case name == "TZ" && value != "UTC", strings.HasSuffix(name, "PROXY") && value == "":
			t.Errorf("the program has changed %s", pair)
		case (name == "HOME" || name == "TMPDIR") && filepath.Dir(value) != w.Dir():
			t.Errorf("%s, want a folder of the world's own", pair)
		case name == "HOME" || name == "TMPDIR":
			if _, err := os.Stat(value); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(names)
	want := "HOME HTTPS_PROXY HTTP_PROXY LANG NODESTORM_CLOCK NO_PROXY OF_ITS_OWN PATH SSL_CERT_DIR SSL_CERT_FILE TMPDIR TZ http_proxy https_proxy no_proxy"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("a program has %s, want %s", got, want)
	}
}

// testAddresses: the world takes no address of this machine's network, which need not have one.
func testAddresses(t *testing.T, w *world.World) {
	of, err := w.Client().DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=kubernetes"})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, slice := range of.Items {
		for _, endpoint := range slice.Endpoints {
			found = append(found, endpoint.Addresses...)
		}
	}
	if got := strings.Join(found, " "); got != "198.51.100.1" {
		t.Errorf("kube-apiserver is said to be at %q, want an address that is kept for documents", got)
	}
}

// testNoWayOut has a program try to get out, and looks for what it tried in the history.
func testNoWayOut(t *testing.T, w *world.World) {
	p, err := w.StartProgram(t.Context(), process.Spec{Name: "leaver", Path: os.Args[0], Args: []string{"-test.run=^TestLeaver$", "-test.v"}, Env: []string{leaver + "=1"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, host := range append(outside, byGRPC) {
		if _, err := w.History().Wait(ctx, func(r history.Entry) bool {
			return r.Source == history.Harness && r.Verb == egress.Refused && r.Object.Name == host
		}); err != nil {
			t.Errorf("that a program tried to reach %s is not in the history: %v", host, err)
		}
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
	}
	if err := p.Exit(); err == nil || !strings.Contains(err.Error(), "exit status 0") {
		t.Errorf("the program that tries to get out: %v", err)
	}
}

// testStrangers opens all ports that a world has without a target, and knocks.
func testStrangers(t *testing.T, w *world.World, left traces) {
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	if _, err := w.StartCluster(ctx, "second"); err != nil {
		t.Fatal(err)
	}
	if _, err := hetzner.Start(ctx, machines.Setting{World: w, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.KubeconfigThrough(nil, nil, "client"); err != nil {
		t.Fatal(err)
	}
	// Twice kube-apiserver's, the controller manager's; the scheduler's; three of ours.
	processtest.CheckStrangers(t, left.dir, 8, processtest.Anonymous)
}

// leaver makes the test binary a program that tries to get out of its world.
const leaver = "NODESTORM_TEST_LEAVER"

var outside = []string{"example.invalid", "192.0.2.1", "169.254.169.254"}

// byGRPC is where it calls a procedure.
const byGRPC = "grpc.invalid"

func TestLeaver(t *testing.T) {
	if os.Getenv(leaver) == "" {
		t.Skip("a program of TestIsolation's")
	}
	for _, host := range outside {
		for _, scheme := range []string{"https", "http"} {
			resp, err := http.Get(fmt.Sprintf("%s://%s/", scheme, host))
			if err == nil {
				err = resp.Body.Close()
				if resp.StatusCode != http.StatusForbidden {
					t.Errorf("%s answers %s", host, resp.Status)
				}
			}
			t.Log(err)
		}
	}
	// Clients of gRPC find the way out, and its secret, by code of their own.
	conn, err := grpc.NewClient("dns:///"+byGRPC+":443", grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	t.Log(conn.Invoke(ctx, "/a/b", &emptypb.Empty{}, &emptypb.Empty{}))
}

// A port that another process took first is an error that names the program and the
// port, whatever is answered there: what is another world's is never taken for ours,
// and nothing of ours gets into another world.
func TestPortTakenMeanwhile(t *testing.T) {
	cfg := config(t, clock.Real)
	first := newTraces(t)
	other := start(t, cfg)
	had := apiServers(t, other)
	for _, part := range []string{"kube-apiserver", "kube-scheduler"} {
		t.Run(part+", by a server that says yes", func(t *testing.T) {
			portTaken(t, part, func(listener net.Listener) {
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = w.Write([]byte(`{"health":"true"}`))
				}))
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.Listener.Close()
				server.Listener = listener
				server.StartTLS()
				t.Cleanup(server.Close)
			})
		})
		t.Run(part+", by another world's", func(t *testing.T) {
			port := portFlag.FindStringSubmatch(first.process(t, part).Command)
			if port == nil {
				t.Fatalf("the other world's %s has no port", part)
			}
			portTaken(t, part, func(listener net.Listener) {
				passed := passOn(listener, "127.0.0.1:"+port[1])
				t.Cleanup(func() {
					_ = listener.Close()
					passed.Wait()
				})
			})
			if got := apiServers(t, other); !slices.Equal(got, had) {
				t.Errorf("the other world has the API servers %v, and had %v", got, had)
			}
			if err := other.Err(); err != nil {
				t.Errorf("the other world: %v", err)
			}
		})
	}
}

// portTaken starts a world one of whose programs finds its port taken, after the world
// has been there once.
func portTaken(t *testing.T, part string, serve func(net.Listener)) {
	cfg := config(t, clock.Real)
	dir := t.TempDir()
	asked, taken := filepath.Join(dir, "asked"), filepath.Join(dir, "taken")
	cfg.Kubernetes = withScript(t, cfg.Kubernetes, part, `echo "$*" > '`+asked+`.new' && mv '`+asked+`.new' '`+asked+`'
until [ -e '`+taken+`' ]; do sleep 0.02; done
`)
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	address := make(chan string, 1)
	var taker sync.WaitGroup
	defer taker.Wait()
	taker.Go(func() {
		defer close(address)
		defer func() { _ = os.WriteFile(taken, nil, 0o600) }()
		text, err := awaitFile(ctx, asked)
		if err != nil {
			t.Error(err)
			return
		}
		found := portFlag.FindStringSubmatch(text)
		if found == nil {
			t.Errorf("%s has no port: %s", part, text)
			return
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+found[1])
		if err != nil {
			t.Error(err)
			return
		}
		knocked := &knocked{Listener: listener, came: make(chan struct{})}
		serve(knocked)
		address <- listener.Addr().String()
		select {
		case <-knocked.came:
		case <-ctx.Done():
			t.Errorf("the world was never at %s", listener.Addr())
		}
	})
	left := newTraces(t)
	w, err := world.Start(ctx, cfg)
	if err == nil { // it took the other's answer for the program's, whose end comes
		select {
		case <-w.Done():
		case <-ctx.Done():
		}
		err = errors.Join(w.Err(), w.Stop())
	}
	for _, text := range []string{part, "address already in use", <-address} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q in it", err, text)
		}
	}
	left.gone(t)
}

// knocked is the time of the first connection.
type knocked struct {
	net.Listener
	came chan struct{}
	once sync.Once
}

func (k *knocked) Accept() (net.Conn, error) {
	conn, err := k.Listener.Accept()
	if err == nil {
		k.once.Do(func() { close(k.came) })
	}
	return conn, err
}

// passOn passes all connections on to an address, until the listener is closed and
// both sides have ended.
func passOn(listener net.Listener, to string) *sync.WaitGroup {
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				_ = conn.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{conn, up}, {up, conn}} {
				all.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				})
			}
		}
	})
	return &all
}

// apiServers are the Leases of every kube-apiserver that has the world's etcd for its
// own: it writes one soon after its start.
func apiServers(t *testing.T, w *world.World) (names []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for ; len(names) == 0; time.Sleep(20 * time.Millisecond) {
		list, err := w.Client().CoordinationV1().Leases(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity=kube-apiserver"})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list.Items {
			names = append(names, l.Name)
		}
	}
	return names
}

var portFlag = regexp.MustCompile(`--secure-port=(\d+)`)

// withScript is a folder with the programs of another, one of which does something first.
func withScript(t *testing.T, programs, name, first string) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		real, path := filepath.Join(programs, program), filepath.Join(dir, program)
		err := os.Symlink(real, path)
		if program == name {
			err = errors.Join(os.Remove(path), os.WriteFile(path, []byte("#!/bin/sh\n"+first+"exec '"+real+"' \"$@\"\n"), 0o700))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func awaitFile(ctx context.Context, path string) (string, error) {
	for {
		if text, err := os.ReadFile(path); err == nil {
			return string(text), nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for %s: %w", path, context.Cause(ctx))
		}
	}
}
