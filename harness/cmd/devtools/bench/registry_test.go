package bench

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
)

// BenchmarkRegistry pushes the control plane's build to a registry on loopback that keeps all
// in memory, and pulls it into an empty store.
func BenchmarkRegistry(b *testing.B) {
	kubernetes := buildstest.Get(b, builds.Kubernetes)
	b.Setenv("DOCKER_CONFIG", b.TempDir())
	from, err := buildstore.Open("")
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	err = filepath.WalkDir(kubernetes.Bin(), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	var pushed, pulled time.Duration
	for range b.N {
		func() {
			server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
			defer server.Close()
			repository := strings.TrimPrefix(server.URL, "http://") + "/builds"
			began := time.Now()
			if _, err := from.Push(context.Background(), kubernetes.Ref, repository, nil); err != nil {
				b.Fatal(err)
			}
			pushed += time.Since(began)
			to, err := buildstore.Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			began = time.Now()
			if _, err := to.Pull(context.Background(), kubernetes.Ref, repository, nil); err != nil {
				b.Fatal(err)
			}
			pulled += time.Since(began)
		}()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)/1e6, "MB")
	b.ReportMetric(pushed.Seconds()/float64(b.N), "s-push")
	b.ReportMetric(pulled.Seconds()/float64(b.N), "s-pull")
}

// BenchmarkFirstVerdict is what a user waits for who has nothing but nodestorm, and a registry
// with the builds that a record needs: from an empty store to the first verdict, and to both.
// The registry is on loopback, so a network's time is not in it.
func BenchmarkFirstVerdict(b *testing.B) {
	record := replays[0]
	b.Setenv("DOCKER_CONFIG", b.TempDir())
	from, err := buildstore.Open("")
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/builds"
	for _, ref := range []builds.Ref{builds.Kubernetes, {Name: "karpenter", Version: "v1.6.4"}, {Name: "karpenter", Version: "v1.7.0"}} {
		buildstest.Get(b, ref)
		if _, err := from.Push(context.Background(), ref, repository, nil); err != nil {
			b.Fatal(err)
		}
	}
	bin := built(b)
	for b.Loop() {
		cmd := exec.Command(bin, "verify", record, "--parallel", "1", "--out", b.TempDir())
		cmd.Env = append(os.Environ(), buildstore.EnvCache+"="+b.TempDir(), buildstore.EnvMirror+"=off", buildstore.EnvFrom+"="+repository)
		said, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout // where it reports each verdict as it comes
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		var first time.Duration
		var lines []string
		for scanner := bufio.NewScanner(said); scanner.Scan(); lines = append(lines, scanner.Text()) {
			if first == 0 && strings.Contains(scanner.Text(), ", expected") {
				first = time.Since(began)
			}
		}
		if err := cmd.Wait(); err != nil || first == 0 {
			b.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
		}
		b.ReportMetric(first.Seconds(), "s-first")
		b.ReportMetric(time.Since(began).Seconds(), "s-both")
	}
	b.ReportMetric(0, "ns/op")
}
