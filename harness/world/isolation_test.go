package world_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/egress"
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
