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

// Processes that share the ports never have one of another's, however many each takes.
func TestSharePorts(t *testing.T) {
	if end := firstEphemeral(); end < firstPort+leastPorts {
		t.Skipf("this kernel gives connections ports from %d on", end)
	}
	t.Cleanup(func() { SharePorts(0, 1) })
	const parts = 64
	owner := map[int]int{}
	for nth := range parts {
		SharePorts(nth, parts)
		for range 250 { // more than a part has
			port, err := FreePort()
			if err != nil {
				t.Fatal(err)
			}
			if before, taken := owner[port]; taken && before != nth {
				t.Fatalf("port %d is of part %d and of %d", port, before, nth)
			}
			owner[port] = nth
		}
	}
}
