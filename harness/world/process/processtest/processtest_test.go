package processtest_test

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"testing"

	"nodestorm/harness/world/process/processtest"
)

func TestListening(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Skipf("this machine does not listen on %s: %v", address, err)
		}
		defer l.Close()
		want := l.Addr().(*net.TCPAddr).AddrPort()
		got, err := processtest.Listening(os.Getpid())
		if err != nil || !slices.Contains(got, netip.AddrPortFrom(want.Addr().Unmap(), want.Port())) {
			t.Errorf("listening on %v, %v; want %s among them", got, err, want)
		}
	}
}

func TestWithEnv(t *testing.T) {
	pair := "NODESTORM_TEST=" + t.TempDir()
	if got := processtest.WithEnv(pair); len(got) != 0 {
		t.Fatalf("found %v before there was any", got)
	}
	cmd := exec.Command("sleep", "100")
	cmd.Env = append(os.Environ(), pair)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := processtest.WithEnv(pair)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if len(got) != 1 || got[0].PID != cmd.Process.Pid || got[0].Command != "sleep 100" {
		t.Errorf("found %v, want process %d", got, cmd.Process.Pid)
	}
	if got := processtest.WithEnv(pair); len(got) != 0 {
		t.Errorf("found %v after its end", got)
	}
}
