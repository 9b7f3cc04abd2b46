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
		"pull":                           "name a scenario (nodestorm list shows them)",
		"pull|x@y@z":                     `"x@y@z" names no target`,
		"pull|nothing-like-that":         "nothing-like-that",
		"pull|karpenter@v1.7.0":          "karpenter@v1.7.0 has to be built: its project publishes no image of it with the provider kwok; nodestorm target build karpenter@v1.7.0",
		"pull|other@v1":                  "no images of other are known",
		"pull|cluster-autoscaler@1.33.0": "no registry is asked, since --mirror or NODESTORM_MIRROR is off",
		"pull|cluster-autoscaler@1.33.0|--mirror|127.0.0.1:1": "127.0.0.1:1 cannot be reached (dial tcp 127.0.0.1:1: connect: connection refused): nodestorm setup builds what has a Go module, and --mirror names another place to ask",
		"pull|cluster-autoscaler@1.33.0|--mirror|team/x":      "is no place of a mirror: want HOST[:PORT][/PREFIX]",
		"pull|karpenter@v1.7.0|--from|x":                      "is no repository: want one that nodestorm target push has written to",
	} {
		t.Run(args, func(t *testing.T) { b.refuses(t, want, strings.Split(args, "|")...) })
	}
}

// What a team has pushed is reported with its size before it is pulled, and not pulled again.
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
	code, stdout, stderr := nodestorm(t, "pull", "karpenter@v1.7.0", "--from", repository, "--lock", lock)
	before, after, _ := strings.Cut(stdout, "1 image, ")
	if code != cli.AsExpected || !strings.Contains(before, "karpenter@v1.7.0") || !strings.Contains(before, " MB  "+repository+":karpenter-v1.7.0-kwok-") || !strings.Contains(after, "karpenter@v1.7.0 is ready: ") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if text, err := os.ReadFile(lock); err != nil || !strings.HasPrefix(string(text), repository+":karpenter-v1.7.0-kwok-") || !strings.Contains(string(text), " sha256:") {
		t.Errorf("the lock is %q, %v", text, err)
	}
	code, stdout, stderr = nodestorm(t, "pull", "karpenter-7515-not-ready-noexecute", "--from", repository, "-o", "json")
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
