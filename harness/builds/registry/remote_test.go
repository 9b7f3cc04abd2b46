package registry

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// faulty is a registry on loopback, before which a handler may answer in its place.
func faulty(t *testing.T, before func(w http.ResponseWriter, r *http.Request, inner http.Handler) bool) (host string) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !before(w, r, inner) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// large is an image with a program of some hundred kB that no compression makes small.
func large(t *testing.T) (im v1.Image, program string) {
	t.Helper()
	text := make([]byte, 300_000)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(text)
	program = base64.StdEncoding.EncodeToString(text)
	im = imageOf(t, v1.Config{Entrypoint: []string{"/autoscaler"}})
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	ok(t, w.WriteHeader(&tar.Header{Name: "autoscaler", Mode: 0o755, Size: int64(len(program))}))
	_, err := io.WriteString(w, program)
	ok(t, err)
	ok(t, w.Close())
	im, err = mutate.AppendLayers(im, layerOf(t, b.Bytes()))
	ok(t, err)
	return im, program
}

func pushed(t *testing.T, host string, im v1.Image) string {
	t.Helper()
	ref, err := name.ParseReference(host + "/autoscaling/autoscaler:v1")
	ok(t, err)
	ok(t, remote.Write(ref, im))
	return ref.String()
}

// quickly shortens what tests would have to wait for.
func quickly(t *testing.T) {
	before, within := pause, silence
	pause = time.Millisecond
	t.Cleanup(func() { pause, silence = before, within })
}

// asked are the requests for blobs that a registry has had, by their range.
type asked struct {
	mu     sync.Mutex
	ranges []string
}

// all are the ranges so far.
func (a *asked) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ranges)
}

// about notes a request for a layer, and returns how many there were before; -1 if it is for
// something small, such as a configuration.
func (a *asked) about(r *http.Request, inner http.Handler) (nth int, whole *httptest.ResponseRecorder) {
	if !strings.Contains(r.URL.Path, "/blobs/") {
		return -1, nil
	}
	whole = httptest.NewRecorder()
	plain := r.Clone(r.Context())
	plain.Header.Del("Range")
	inner.ServeHTTP(whole, plain)
	if whole.Body.Len() < 10_000 {
		return -1, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranges = append(a.ranges, r.Header.Get("Range"))
	return len(a.ranges) - 1, whole
}

// half sends half of what was asked for, and then nothing.
func half(w http.ResponseWriter, whole *httptest.ResponseRecorder) {
	w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	w.(http.Flusher).Flush()
}

func broken() { panic(http.ErrAbortHandler) }

// A connection that is cut in the midst of a layer, or falls silent, is taken up again where
// it was, also by a registry that knows no ranges; what comes of it is what was pushed.
func TestResumes(t *testing.T) {
	im, program := large(t)
	for how, c := range map[string]struct {
		first func(w http.ResponseWriter, r *http.Request, whole *httptest.ResponseRecorder)
		then  func(w http.ResponseWriter, whole *httptest.ResponseRecorder) bool
	}{
		"cut": {
			func(w http.ResponseWriter, _ *http.Request, whole *httptest.ResponseRecorder) {
				half(w, whole)
				broken()
			},
			func(http.ResponseWriter, *httptest.ResponseRecorder) bool { return false },
		},
		"cut, by one that knows no ranges": {
			func(w http.ResponseWriter, _ *http.Request, whole *httptest.ResponseRecorder) {
				half(w, whole)
				broken()
			},
			func(w http.ResponseWriter, whole *httptest.ResponseRecorder) bool {
				_, _ = w.Write(whole.Body.Bytes())
				return true
			},
		},
		"silent": {
			func(w http.ResponseWriter, r *http.Request, whole *httptest.ResponseRecorder) {
				half(w, whole)
				<-r.Context().Done()
			},
			func(http.ResponseWriter, *httptest.ResponseRecorder) bool { return false },
		},
	} {
		t.Run(how, func(t *testing.T) {
			quickly(t)
			if how == "silent" {
				silence = 200 * time.Millisecond
			}
			var requests asked
			host := faulty(t, func(w http.ResponseWriter, r *http.Request, inner http.Handler) bool {
				switch nth, whole := requests.about(r, inner); nth {
				case -1:
					return false
				case 0:
					c.first(w, r, whole)
					return true
				default:
					return c.then(w, whole)
				}
			})
			found, err := Query(t.Context(), pushed(t, host, im), "amd64")
			ok(t, err)
			var last, of int64
			got, err := found.Open(t.Context(), t.TempDir(), func(done, total int64) {
				if done < last {
					t.Errorf("progress went back from %d to %d", last, done)
				}
				last, of = done, total
			})
			ok(t, err)
			if read(t, got, "/autoscaler") != program {
				t.Error("it is not the program that was pushed")
			}
			if last != of || of != found.Size() || of < 300_000 {
				t.Errorf("progress ended at %d of %d; the reported size is %d", last, of, found.Size())
			}
			if ranges := requests.all(); len(ranges) != 2 || ranges[0] != "" || !strings.HasPrefix(ranges[1], "bytes=") || strings.HasPrefix(ranges[1], "bytes=0-") {
				t.Errorf("the layer was asked for with the ranges %q", ranges)
			}
		})
	}
}

// A registry that breaks off whenever it is asked is given up, after as many tries as are
// said; what has come is dropped.
func TestGivesUp(t *testing.T) {
	quickly(t)
	im, _ := large(t)
	var requests asked
	host := faulty(t, func(w http.ResponseWriter, r *http.Request, inner http.Handler) bool {
		nth, whole := requests.about(r, inner)
		if nth < 0 {
			return false
		}
		if nth == 0 {
			half(w, whole)
		}
		broken()
		return true
	})
	found, err := Query(t.Context(), pushed(t, host, im), "amd64")
	ok(t, err)
	dir := t.TempDir()
	_, err = found.Open(t.Context(), dir, nil)
	wantError(t, err, host, "layer 1 of 1", "further tries", "the registry broke off", "try again")
	if n := len(requests.all()); n != 1+mostBreaks {
		t.Errorf("it was asked %d times, want %d", n, 1+mostBreaks)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "blobs", "*", "*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

// Bytes of another layer, in the midst of a resumed one or as a whole, are never taken.
func TestOtherBytes(t *testing.T) {
	quickly(t)
	im, _ := large(t)
	for how, send := range map[string]func(w http.ResponseWriter, nth int, whole *httptest.ResponseRecorder){
		"as a whole": func(w http.ResponseWriter, _ int, whole *httptest.ResponseRecorder) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), whole.Body.Len()))
		},
		"when resumed": func(w http.ResponseWriter, nth int, whole *httptest.ResponseRecorder) {
			if nth == 0 {
				half(w, whole)
				broken()
			}
			at, size := whole.Body.Len()/2, whole.Body.Len()
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, size-1, size))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(bytes.Repeat([]byte("x"), size-at))
		},
	} {
		t.Run(how, func(t *testing.T) {
			var requests asked
			host := faulty(t, func(w http.ResponseWriter, r *http.Request, inner http.Handler) bool {
				nth, whole := requests.about(r, inner)
				if nth >= 0 {
					send(w, nth, whole)
				}
				return nth >= 0
			})
			found, err := Query(t.Context(), pushed(t, host, im), "amd64")
			ok(t, err)
			_, err = found.Open(t.Context(), t.TempDir(), nil)
			wantError(t, err, "layer 1 of 1")
		})
	}
}

// Layers are gzipped or zstd, in one image too; what is there already is not read again.
func TestLayersOfAllKinds(t *testing.T) {
	var requests asked
	host := faulty(t, func(w http.ResponseWriter, r *http.Request, inner http.Handler) bool {
		requests.about(r, inner)
		return false
	})
	im, program := large(t)
	content := tarOf(t, "in zstd: ", []tar.Header{{Name: "etc/motd"}, {Name: "bin/tool"}})
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd))
	ok(t, err)
	im, err = mutate.AppendLayers(im, layer)
	ok(t, err)
	found, err := Query(t.Context(), pushed(t, host, im), "amd64")
	ok(t, err)
	dir := t.TempDir()
	for range 2 {
		got, err := found.Open(t.Context(), dir, nil)
		ok(t, err)
		if read(t, got, "/autoscaler") != program || read(t, got, "/bin/tool") != "in zstd: bin/tool" {
			t.Error("its programs are others")
		}
	}
	if n := len(requests.all()); n != 1 {
		t.Errorf("the large layer was asked for %d times", n)
	}
}

// A tag that moves leads to another digest, which is that of all architectures together.
func TestMoves(t *testing.T) {
	host := strings.TrimPrefix(serve(t), "http://")
	one := imageOf(t, v1.Config{Entrypoint: []string{"/autoscaler"}}, []tar.Header{{Name: "autoscaler"}})
	two, _ := large(t)
	first, err := Query(t.Context(), pushed(t, host, one), "amd64")
	ok(t, err)
	second, err := Query(t.Context(), pushed(t, host, two), "amd64")
	ok(t, err)
	if first.Digest() == second.Digest() {
		t.Errorf("both are %s", first.Digest())
	}
}

// Who is refused reads which registry and what to do, and never what was sent to be let in,
// also where the registry says that.
func TestRefusedCredentials(t *testing.T) {
	const user, password = "robot", "hunter2-and-more"
	host := faulty(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		u, p, _ := r.BasicAuth()
		if u == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"not you, %s with %s, who sent %s"}]}`, u, p, r.Header.Get("Authorization"))
		return true
	})
	sent := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	ok(t, os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, sent)), 0o600))
	_, err := Query(t.Context(), host+"/private/autoscaler:v1", "amd64")
	wantError(t, err, "the registry refuses", "not you, "+user, "docker login "+host)
	if text := fmt.Sprint(err); strings.Contains(text, password) || strings.Contains(text, sent) {
		t.Errorf("it shows the credentials: %s", text)
	}
}

// A registry that cannot be reached is another error than one that refuses.
func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	host := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	_, err := Query(t.Context(), host+"/autoscaler:v1", "amd64")
	var none *UnreachableError
	if !errors.As(err, &none) || none.Host != host {
		t.Errorf("%v, want that %s cannot be reached", err, host)
	}
	_, err = Query(t.Context(), strings.TrimPrefix(serve(t), "http://")+"/autoscaler:v1", "amd64")
	if errors.As(err, &none) || !NotThere(err) {
		t.Errorf("%v, want that it is not there", err)
	}
}
