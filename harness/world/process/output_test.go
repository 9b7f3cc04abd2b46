package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Why a program ended is said before the dump of its stacks, which may be long.
func TestLastWords(t *testing.T) {
	stacks := strings.Repeat("goroutine 7 [select]:\nmain.run(0x1)\n\t/src/main.go:12 +0x2b\ncreated by main.main in goroutine 1\n\t/src/main.go:9 +0x1f\n\n", 300)
	for name, test := range map[string]struct{ log, want string }{
		"klog":      {"I1122 10:00:00.000000       1 main.go:1] fine\nF1122 10:00:01.000000       1 main.go:500] lost leader election\n" + stacks, "F1122 10:00:01.000000       1 main.go:500] lost leader election"},
		"panic":     {"working\npanic: leader election lost\n\n" + stacks, "panic: leader election lost"},
		"zap":       {`{"level":"FATAL","message":"no credentials"}` + "\n" + stacks, `{"level":"FATAL","message":"no credentials"}`},
		"plain":     {"working\nError: unknown flag: --foo\n", "Error: unknown flag: --foo"},
		"a quit":    {"working\nSIGQUIT: quit\n\n" + stacks + "rax    0xca\ncs     0x33\n", "SIGQUIT: quit"},
		"no output": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(test.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Ended("x", "exit status 2", path); got.Cause != test.want {
				t.Errorf("cause %q, want %q", got.Cause, test.want)
			}
		})
	}
	if got := Ended("x", "signal: killed", "/nowhere").Error(); !strings.HasPrefix(got, "x ended (signal: killed)\n") {
		t.Errorf("without a log: %q", got)
	}
}
