package cli_test

import (
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"nodestorm/harness/cli"
)

func TestPullArguments(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]string{
		"target|get":                                                "name a scenario (nodestorm list shows them)",
		"target|get|x@y@z":                                          `"x@y@z" names no target`,
		"target|get|nothing-like-that":                              "nothing-like-that",
		"target|get|karpenter@v1.7.0|--pull":                        "karpenter@v1.7.0 has to be built: its project publishes no image of it with the provider kwok; nodestorm target build karpenter@v1.7.0",
		"target|get|other@v1":                                       "other@v1 is not in the store; get it with: nodestorm target build other@v1 --source DIR",
		"target|get|karpenter@v1.7.0|--pull|--build":                "--pull and --build exclude each other",
		"target|get|cluster-autoscaler@1.33.0|--build":              "cluster-autoscaler@1.33.0 is not in the store; get it with: nodestorm target build",
		"target|get|cluster-autoscaler@1.33.0|--pull":               "no registry is asked, since --mirror or NODESTORM_MIRROR is off",
		"target|get|cluster-autoscaler@1.33.0|--mirror|127.0.0.1:1": "127.0.0.1:1 cannot be reached (dial tcp 127.0.0.1:1: connect: connection refused): --build builds what has a Go module, and --mirror names another place to ask",
		"target|get|cluster-autoscaler@1.33.0|--mirror|team/x":      "is no place of a mirror: want HOST[:PORT][/PREFIX]",
		"target|get|karpenter@v1.7.0|--from|x":                      "is no repository: want one that nodestorm target push has written to",
	} {
		t.Run(args, func(t *testing.T) { b.refuses(t, want, strings.Split(args, "|")...) })
	}
}

// An old name of a command or a flag works, and says the new one.
func TestRenamed(t *testing.T) {
	newBench(t)
	for args, want := range map[string]string{
		"pull|x@y@z":     `pull is now target get --pull;`,
		"-v|merge":       `merge is now nightly merge;`,
		"image":          `image is now target image;`,
		"fault|clear|x":  `fault is now up fault;`,
		"setup|--all|-x": "",
	} {
		code, stdout, stderr := nodestorm(t, strings.Split(args, "|")...)
		if code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q; want %q", args, code, stdout, stderr, want)
		}
	}
	if code, stdout, _ := nodestorm(t, "help", "setup"); code != cli.AsExpected || !strings.Contains(stdout, "nodestorm target get") {
		t.Errorf("help setup: status %d, %q", code, stdout)
	}
}

// What a team has pushed is listed with its size before it is pulled, and not pulled again.
func TestPull(t *testing.T) {
	newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/builds"
	if code, _, stderr := nodestorm(t, "target", "add", "karpenter@v1.7.0", "/bin/true", "--source", karpenterSource(t)); code != cli.AsExpected || !strings.Contains(stderr, "it is called as a release is, and stands for none") {
		t.Fatal(stderr)
	}
	if code, _, stderr := nodestorm(t, "target", "push", "karpenter@v1.7.0", repository); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	t.Setenv("NODESTORM_CACHE", filepath.Join(t.TempDir(), "other"))
	lock := filepath.Join(t.TempDir(), "images.lock")
	code, stdout, stderr := nodestorm(t, "target", "get", "karpenter@v1.7.0", "--from", repository, "--lock", lock)
	before, after, _ := strings.Cut(stdout, "1 image, ")
	if code != cli.AsExpected || !strings.Contains(before, "karpenter@v1.7.0") || !strings.Contains(before, " MB  "+repository+":karpenter-v1.7.0-kwok-") || !strings.Contains(after, "karpenter@v1.7.0 is ready: ") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if text, err := os.ReadFile(lock); err != nil || !strings.HasPrefix(string(text), repository+":karpenter-v1.7.0-kwok-") || !strings.Contains(string(text), " sha256:") {
		t.Errorf("the lock is %q, %v", text, err)
	}
	code, stdout, stderr = nodestorm(t, "target", "get", "karpenter-7515-not-ready-noexecute", "--pull", "--from", repository, "-o", "json")
	var rows []struct{ Name, Version, Built, Dir string }
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || code != cli.AsExpected {
		t.Fatalf("status %d, %v: %s %s", code, err, stdout, stderr)
	}
	for _, row := range rows {
		if row.Built == "" || row.Name == "karpenter" && row.Version == "v1.7.0" {
			t.Errorf("it is pulled again, or its origin is not known: %+v", row)
		}
	}
	if len(rows) != 2 {
		t.Errorf("the rows are %+v", rows)
	}
}
