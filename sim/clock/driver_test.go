package clock_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/clock"
)

// pinger builds testdata/pinger with the overlay.
func pinger(t *testing.T) string {
	t.Helper()
	if !clock.Supported(runtime.GOOS, runtime.GOARCH) {
		t.Skipf("virtual time needs linux on amd64 or arm64; this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay, _, err := clock.WriteOverlay(strings.TrimSpace(string(out)), runtime.GOARCH, filepath.Join(dir, "overlay"))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "pinger")
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "-o", bin, "./testdata/pinger")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building pinger: %v\n%s", err, b)
	}
	return bin
}

func startPinger(t *testing.T, d *clock.Driver, bin string, args ...string) *bufio.Scanner {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), d.Env())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("pinger said nothing")
	}
	return lines
}

// Two programs and our own clock agree on the time while an hour passes.
func TestOneTimeForAllPrograms(t *testing.T) {
	bin := pinger(t)
	for _, mode := range []clock.Mode{clock.Auto, clock.Fixed(60)} {
		t.Run(mode.String(), func(t *testing.T) {
			d, err := clock.NewDriver(clock.Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			server := startPinger(t, d, bin)
			client := startPinger(t, d, bin, server.Text(), "1s")
			if addr := server.Text(); !strings.HasPrefix(addr, "127.0.0.1:") {
				t.Errorf("a program of the world listens on %s, not on loopback only", addr)
			}
			d.Restart()
			d.Release()
			began := d.Clock().Now()
			pings := 60
			for i := 1; i <= pings; i++ {
				if !client.Scan() {
					t.Fatalf("pinger ended after %d pings", i)
				}
				var at int64
				var agrees bool
				var took int64
				if _, err := fmt.Sscan(client.Text(), &at, &agrees, &took); err != nil {
					t.Fatal(err)
				}
				if !agrees {
					t.Errorf("ping %d: the peer's time is not between the request and the reply", i)
				}
			}
			if got := d.Clock().Since(began); got < time.Duration(pings-2)*time.Second {
				t.Errorf("our clock saw %s pass during %d pings of 1s", got, pings)
			}
			f := d.Figures()
			t.Logf("%+v", f)
			if f.Lag.Timers < uint64(pings-1) {
				t.Errorf("%d timers measured, want at least %d", f.Lag.Timers, pings-1)
			}
			if err := d.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
