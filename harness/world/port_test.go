package world

import "testing"

// What the kernel may give to a connection is never handed out, nor is a port twice.
func TestFreePort(t *testing.T) {
	kernels := firstEphemeral()
	if kernels < firstPort+leastPorts {
		t.Skipf("this kernel gives connections ports from %d on", kernels)
	}
	seen := map[int]bool{}
	for range 500 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if port < firstPort || port >= kernels {
			t.Fatalf("port %d, want one from %d to %d", port, firstPort, kernels-1)
		}
		if seen[port] {
			t.Fatalf("port %d twice", port)
		}
		seen[port] = true
	}
}
