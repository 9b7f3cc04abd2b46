package api

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const prefix = "world-"

// worldIn serves a world in a folder of its own, which greets and refuses.
func worldIn(t *testing.T, temp string, name string) string {
	t.Helper()
	dir := filepath.Join(temp, prefix+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /greet", Handle(func(name string) (string, error) {
		if name == "" {
			return "", errors.New("no name to greet")
		}
		return "hello " + name, nil
	}))
	s, err := Serve(dir, mux)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return dir
}

func TestCall(t *testing.T) {
	temp := t.TempDir()
	dir := worldIn(t, temp, "a")
	found, err := Find(t.Context(), "", temp, prefix)
	if err != nil || found != dir {
		t.Fatalf("found %q, %v", found, err)
	}
	var said string
	if err := Call(t.Context(), found, http.MethodPost, "/greet", "web", &said); err != nil || said != "hello web" {
		t.Errorf("%q, %v", said, err)
	}
	if err := Call(t.Context(), found, http.MethodPost, "/greet", "", &said); err == nil || err.Error() != "no name to greet" {
		t.Errorf("a refused question: %v", err)
	}
}

func TestFind(t *testing.T) {
	temp := t.TempDir()
	wrong := func(kubeconfig, want string) {
		t.Helper()
		if _, err := Find(t.Context(), kubeconfig, temp, prefix); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	wrong("", "no world is running")
	wrong(filepath.Join(temp, prefix+"gone", "kubeconfig"), "is over")
	dir := worldIn(t, temp, "a")
	worldIn(t, temp, "b")
	wrong("", "2 worlds are running")
	if found, err := Find(t.Context(), filepath.Join(dir, "kubeconfig"), temp, prefix); err != nil || found != dir {
		t.Errorf("by its kubeconfig found %q, %v", found, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // as another user's would be
		t.Fatal(err)
	}
	wrong(filepath.Join(dir, "kubeconfig"), "is over")
	if _, err := Serve(dir, http.NotFoundHandler()); err == nil || !strings.Contains(err.Error(), "no folder of yours alone") {
		t.Errorf("serving where others can look: %v", err)
	}
}
