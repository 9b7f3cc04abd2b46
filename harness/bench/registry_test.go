package bench

import (
	"context"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
)

// BenchmarkRegistry pushes the control plane's build to a registry on loopback that keeps all
// in memory, and pulls it into an empty store.
func BenchmarkRegistry(b *testing.B) {
	kubernetes := targettest.Get(b, target.Kubernetes)
	b.Setenv("DOCKER_CONFIG", b.TempDir())
	from, err := target.Open("")
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
			to, err := target.Open(b.TempDir())
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
