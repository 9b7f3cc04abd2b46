package world_test

import (
	"context"
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
	"sync/atomic"
	"testing"
	"time"

	"nodestorm/harness/egress"
	"nodestorm/harness/hetzner"
	"nodestorm/harness/process"
	"nodestorm/harness/process/processtest"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
	"nodestorm/sim/history"
)

// TestIsolation: what programs of a world have of ours, where they get to, and who
// gets to them.
func TestIsolation(t *testing.T) {
	processtest.Poison(t)
	cfg := config(t, clock.Real)
	left := newTraces(t)
	w := start(t, cfg)
	t.Run("environment", func(t *testing.T) { testEnvironment(t, w, left) })
	t.Run("no way out", func(t *testing.T) { testNoWayOut(t, w) })
	t.Run("strangers", func(t *testing.T) { testStrangers(t, w, left) })
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

// testNoWayOut has a program try to get out, and looks for what it tried in the history.
func testNoWayOut(t *testing.T, w *world.World) {
	p, err := w.StartProgram(t.Context(), process.Spec{Name: "leaver", Path: os.Args[0], Args: []string{"-test.run=^TestLeaver$", "-test.v"}, Env: []string{leaver + "=1"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, host := range outside {
		if _, err := w.History().Wait(ctx, func(r history.Record) bool {
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
	if _, err := hetzner.Start(ctx, hetzner.Config{World: w, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.KubeconfigThrough(nil, "client"); err != nil {
		t.Fatal(err)
	}
	// Twice etcd's two, kube-apiserver's, the controller manager's; the scheduler's; three of ours.
	processtest.CheckStrangers(t, left.dir, 12, processtest.Anonymous)
}

// leaver makes the test binary a program that tries to get out of its world.
const leaver = "NODESTORM_TEST_LEAVER"

var outside = []string{"example.org", "192.0.2.1", "169.254.169.254"}

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
}

// A port that somebody else took first is an error that names the program and the
// port, whatever is answered there: nothing of another world's is taken for ours.
func TestPortTakenMeanwhile(t *testing.T) {
	for _, part := range []string{"etcd", "kube-apiserver", "kube-scheduler"} {
		t.Run(part, func(t *testing.T) {
			cfg := config(t, clock.Real)
			dir := t.TempDir()
			asked, taken := filepath.Join(dir, "asked"), filepath.Join(dir, "taken")
			cfg.Kubernetes = withScript(t, cfg.Kubernetes, part, `echo "$*" > '`+asked+`.new' && mv '`+asked+`.new' '`+asked+`'
until [ -e '`+taken+`' ]; do sleep 0.02; done
`)
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			var calls atomic.Int32
			port := make(chan string, 1)
			var other sync.WaitGroup
			defer other.Wait()
			other.Go(func() {
				defer close(port)
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
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					_, _ = w.Write([]byte(`{"health":"true"}`))
				}))
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.Listener.Close()
				server.Listener = listener
				server.StartTLS()
				t.Cleanup(server.Close)
				port <- found[1]
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
			for _, text := range []string{part, "address already in use", "127.0.0.1:" + <-port} {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want %q in it", err, text)
				}
			}
			if part == "etcd" && calls.Load() > 0 {
				t.Errorf("%d requests for etcd came to somebody else", calls.Load())
			}
			left.gone(t)
		})
	}
}

var portFlag = regexp.MustCompile(`(?:--listen-client-urls=https://127\.0\.0\.1:|--secure-port=)(\d+)`)

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
