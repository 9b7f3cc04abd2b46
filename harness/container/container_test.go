package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/moby/moby/client"

	"nodestorm/harness/process"
	"nodestorm/harness/target"
)

const busybox = "/usr/bin/busybox"

// archive writes an image of a shell for arch, in which entry is what runs, as docker save does.
func archive(t *testing.T, arch, entry string) string {
	t.Helper()
	shell, err := os.ReadFile(busybox)
	if err != nil {
		t.Skip("no static busybox, of which the image is made: apt-get install busybox-static")
	}
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, h := range []struct {
		tar.Header
		content string
	}{
		{tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, ""},
		{tar.Header{Name: "bin/sh", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(shell))}, string(shell)},
		{tar.Header{Name: "entry", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(entry))}, entry},
	} {
		if err := w.WriteHeader(&h.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, h.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	im, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	config, err := im.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", arch
	config.Config = v1.Config{User: "65532:65532", Entrypoint: []string{"/entry"}, Cmd: []string{"of the image"}, Volumes: map[string]struct{}{"/data": {}}}
	if im, err = mutate.ConfigFile(im, config); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("wrapped:v1")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := tarball.WriteToFile(file, tag, im); err != nil {
		t.Fatal(err)
	}
	return file
}

// wrapped is a target whose image runs the script.
func wrapped(t *testing.T, script string) target.Target {
	t.Helper()
	store, err := target.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	of, err := store.AddImage(t.Context(), target.Recipe{Ref: target.Ref{Name: "wrapped", Version: "v1"}}, archive(t, runtime.GOARCH, "#!/bin/sh\n"+script), "/bin/sh", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// docker skips the test without Docker, and fails it if it leaves a container or a volume.
func docker(t *testing.T) client.APIClient {
	t.Helper()
	found, err := connect(t.Context())
	if err != nil {
		t.Skip(err)
	}
	c := found.Client()
	volumes := func() (names []string) {
		list, err := c.VolumeList(context.Background(), client.VolumeListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list.Items {
			names = append(names, v.Name)
		}
		return names
	}
	before := volumes()
	t.Cleanup(func() {
		list, err := c.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", Owner+"="+process.Self())})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("containers are left: %v, %v", list.Items, err)
		}
		for _, name := range volumes() {
			if !slices.Contains(before, name) {
				t.Errorf("volume %s is left", name)
			}
		}
	})
	return c
}

// started runs the target as a world does.
func started(t *testing.T, of target.Target, spec process.Spec) *process.Process {
	t.Helper()
	id, entrypoint, err := ensure(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if found, err := connect(context.Background()); err == nil {
			_, _ = found.Client().ImageRemove(context.Background(), id, client.ImageRemoveOptions{Force: true})
		}
	})
	spec.Name, spec.Log = "wrapped", filepath.Join(t.TempDir(), "log")
	world := spec.Dir
	spec.Elsewhere = func(ctx context.Context, spec process.Spec, out io.Writer) (process.Running, error) {
		return run(ctx, id, world, entrypoint, spec, out)
	}
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func ended(t *testing.T, p *process.Process) string {
	t.Helper()
	select {
	case <-p.Exited():
	case <-time.After(time.Minute):
		t.Fatal("it has not ended")
	}
	if err := p.Exit(); err != nil {
		return err.Error()
	}
	return ""
}

// The entry point runs with the arguments behind it and the image's user, reads the files of the
// world that it is told of and no others, and what it says and how it ends are as of a process.
func TestContainerIsAProgram(t *testing.T) {
	docker(t)
	world := t.TempDir()
	for _, name := range []string{"kubeconfig", "other"} {
		if err := os.WriteFile(filepath.Join(world, name), []byte("of "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := wrapped(t, `echo "got $*"
while read -r key value rest; do [ "$key" = Uid: ] && echo "as $value"; done < /proc/self/status
while read -r line; do echo "$line"; done < "$FILE"
[ -e "${FILE%/*}/other" ] && echo "all of the world"
echo "fatal error: enough" >&2
exit 7`)
	var lines []string
	p := started(t, of, process.Spec{Dir: world, Args: []string{"--one", "two"}, Env: []string{"FILE=" + world + "/kubeconfig"}, Lines: func(line []byte) { lines = append(lines, string(line)) }})
	said := ended(t, p)
	if !strings.Contains(said, "wrapped ended (exit status 7): fatal error: enough") || p.Code() != 7 {
		t.Errorf("%q, %d", said, p.Code())
	}
	text := strings.Join(lines, "\n")
	for want, is := range map[string]bool{"got --one two": true, "as 65532": true, "of kubeconfig": true, "of the image": false, "all of the world": false} {
		if strings.Contains(text, want) != is {
			t.Errorf("%q: want %t in\n%s", want, is, text)
		}
	}
}

// What ends it on purpose is no death, and nothing of it is left.
func TestContainerIsEnded(t *testing.T) {
	docker(t)
	of := wrapped(t, `trap 'exit 0' TERM; echo ready; while :; do :; done`)
	for what, end := range map[string]func(*process.Process) error{
		"killed": (*process.Process).Kill, "stopped": func(p *process.Process) error { return p.Stop(20 * time.Second) },
	} {
		ready := make(chan struct{}, 1)
		p := started(t, of, process.Spec{Dir: t.TempDir(), Lines: func([]byte) { ready <- struct{}{} }})
		select {
		case <-ready:
		case <-time.After(time.Minute):
			t.Fatal("it says nothing")
		}
		if err := end(p); err != nil || ended(t, p) != "" {
			t.Errorf("%s: %v, %v", what, err, p.Exit())
		}
		if want := map[string]int{"killed": 137, "stopped": 0}[what]; p.Code() != want {
			t.Errorf("%s: status %d, want %d", what, p.Code(), want)
		}
	}
	p := started(t, of, process.Spec{Dir: t.TempDir()})
	if err := p.Signal(syscall.SIGKILL); err != nil { // by somebody else
		t.Fatal(err)
	}
	if said := ended(t, p); !strings.Contains(said, "wrapped ended (exit status 137)") {
		t.Error(said)
	}
}

// Only containers of a nodestorm that is gone are swept, and with them their volumes.
func TestSweep(t *testing.T) {
	c := docker(t)
	of := wrapped(t, `while :; do :; done`)
	p := started(t, of, process.Spec{Dir: t.TempDir()})
	owner = func() string { return strings.Replace(process.Self(), " ", " 1", 1) } // its number is another's now
	defer func() { owner = process.Self }()
	left := started(t, of, process.Spec{Dir: t.TempDir()})
	owner = func() string { return process.Self() + "x" } // in a container of its own
	foreign := started(t, of, process.Spec{Dir: t.TempDir()})
	removed, err := Sweep(t.Context())
	if err != nil || len(removed) != 1 {
		t.Errorf("%q, %v", removed, err)
	}
	for _, other := range []*process.Process{p, foreign} {
		if _, err := c.ContainerInspect(t.Context(), other.Container(), client.ContainerInspectOptions{}); err != nil {
			t.Error(err)
		}
	}
	if said := ended(t, left); said == "" {
		t.Error("what was left behind has not ended")
	}
}

// What is wrong with the image is a sentence, before anything runs.
func TestImageIsWrong(t *testing.T) {
	docker(t)
	of := wrapped(t, "exit 0")
	gone := of
	gone.Source.Image = filepath.Join(t.TempDir(), "gone.tar")
	other := of
	other.Source.Image = archive(t, runtime.GOARCH, "#!/bin/sh\nexit 1")
	foreign := of
	foreign.Source.Image = archive(t, "riscv64", "")
	for want, of := range map[string]target.Target{"docker load": gone, "is another image now": other, "it is for linux/riscv64": foreign} {
		if err := Check(t.Context(), of); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Without Docker the way out is told.
func TestNoDocker(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := connect(ctx); err == nil || !strings.Contains(err.Error(), "DOCKER_HOST") {
		t.Error(err)
	}
}
