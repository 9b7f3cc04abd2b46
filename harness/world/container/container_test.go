package container

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/moby/moby/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/time/clock"
)

const (
	busybox   = "/usr/bin/busybox"
	noBusybox = "no static busybox, of which the image is made: apt-get install busybox-static"
)

// archive writes an image of a shell for arch, in which entry is what runs, as docker save does.
func archive(t *testing.T, arch, entry string, change ...func(*v1.Config)) string {
	t.Helper()
	shell, err := os.ReadFile(busybox)
	if err != nil {
		t.Skip(noBusybox)
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
	for _, change := range change {
		change(&config.Config)
	}
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
func wrapped(t *testing.T, script string, change ...func(*v1.Config)) builds.Target {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	of, err := store.AddImage(t.Context(), buildstore.Recipe{Ref: builds.Ref{Name: "wrapped", Version: "v1"}}, archive(t, runtime.GOARCH, "#!/bin/sh\n"+script, change...), "/bin/sh", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// volumes are those of the containers that a test has started.
var volumes []string

// docker skips the test without Docker, and fails it if it leaves a container or a volume.
func docker(t *testing.T) client.APIClient {
	t.Helper()
	found, err := connect(t.Context())
	if err != nil {
		t.Skip(err)
	}
	c := found.Client()
	volumes = nil
	t.Cleanup(func() {
		list, err := c.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", Owner+"="+process.Self())})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("containers are left: %v, %v", list.Items, err)
		}
		there, err := c.VolumeList(context.Background(), client.VolumeListOptions{})
		if err != nil {
			t.Error(err)
		}
		for _, v := range there.Items {
			if slices.Contains(volumes, v.Name) {
				t.Errorf("volume %s is left", v.Name)
			}
		}
	})
	return c
}

// started runs the target as a world does.
func started(t *testing.T, of builds.Target, spec process.Spec) *process.Process {
	t.Helper()
	return startedBy(t, of, Settings{}, spec, nil)
}

// startedBy starts a container and calls made with its ID before.
func startedBy(t *testing.T, of builds.Target, settings Settings, spec process.Spec, made func(string) error) *process.Process {
	t.Helper()
	at, err := ensure(t.Context(), of, settings)
	if err != nil {
		t.Fatal(err)
	}
	removeLater(t, at.image)
	spec.Name, spec.Log = "wrapped", filepath.Join(t.TempDir(), "log")
	at.world, at.made = spec.Dir, func(id string) error {
		found, err := connect(context.Background())
		if err != nil {
			return err
		}
		of, err := found.Client().ContainerInspect(context.Background(), id, client.ContainerInspectOptions{})
		if err != nil {
			return err
		}
		if len(of.Container.Mounts) != 1 {
			t.Errorf("want the image's one volume: %v", of.Container.Mounts)
		}
		for _, m := range of.Container.Mounts {
			volumes = append(volumes, m.Name)
		}
		if made != nil {
			return made(id)
		}
		return nil
	}
	spec.Elsewhere = func(ctx context.Context, spec process.Spec, out io.Writer) (process.Running, error) {
		return run(ctx, at, spec, out)
	}
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// removeLater removes an image when the test is over.
func removeLater(t *testing.T, image string) {
	t.Cleanup(func() {
		if found, err := connect(context.Background()); err == nil {
			_, _ = found.Client().ImageRemove(context.Background(), image, client.ImageRemoveOptions{Force: true})
		}
	})
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
// world that it is given and no others, and what it says and how it ends are as of a process.
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
	if err := p.Signal(syscall.SIGKILL); err != nil { // by another process
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
	var ids []string
	note := func(id string) error { ids = append(ids, id); return nil }
	p := startedBy(t, of, Settings{}, process.Spec{Dir: t.TempDir()}, note)
	owner = func() string { return strings.Replace(process.Self(), " ", " 1", 1) } // its number is another's now
	defer func() { owner = process.Self }()
	left := started(t, of, process.Spec{Dir: t.TempDir()})
	owner = func() string { return process.Self() + "x" } // in a container of its own
	foreign := startedBy(t, of, Settings{}, process.Spec{Dir: t.TempDir()}, note)
	removed, err := Sweep(t.Context())
	if err != nil || len(removed) != 1 {
		t.Errorf("%q, %v", removed, err)
	}
	for i, other := range []*process.Process{p, foreign} {
		if _, err := c.ContainerInspect(t.Context(), ids[i], client.ContainerInspectOptions{}); err != nil || other.Exit() != nil {
			t.Error(err, other.Exit())
		}
	}
	if said := ended(t, left); said == "" {
		t.Error("what was left behind has not ended")
	}
}

// leftEnv has a test do what its nodestorm, which is killed, did: the folder of its world.
const leftEnv = "NODESTORM_TEST_LEFT"

// A container does not outlive a nodestorm that was killed: its guard removes it.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(leftEnv); dir != "" {
		g, err := process.NewGuard(dir)
		if err != nil {
			t.Fatal(err)
		}
		of := wrapped(t, `while :; do :; done`)
		startedBy(t, of, Settings{}, process.Spec{Dir: dir}, func(id string) error {
			fmt.Println("container", id)
			return g.WatchContainer(id)
		})
		fmt.Println("it runs")
		select {}
	}
	c := docker(t)
	if _, err := os.Stat(busybox); err != nil { // the test that is started would be skipped, and never run
		t.Skip(noBusybox)
	}
	dir := filepath.Join(t.TempDir(), "world")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.v")
	cmd.Env = append(os.Environ(), leftEnv+"="+dir, "TMPDIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	id, runs := "", false
	for lines := bufio.NewScanner(out); !runs && lines.Scan(); {
		if _, of, is := strings.Cut(lines.Text(), "container "); is {
			id = of
		}
		runs = strings.Contains(lines.Text(), "it runs")
	}
	found, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if !runs || err != nil || !found.Container.State.Running {
		t.Fatalf("it runs: %t, %v", runs, err)
	}
	removeLater(t, found.Container.Image)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
		if errdefs.IsNotFound(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the container is still there: %v", err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// One that has more memory than its limit says so as it ends.
func TestOutOfMemory(t *testing.T) {
	docker(t)
	of := wrapped(t, `text=0123456789; while :; do text=$text$text; done`)
	p := startedBy(t, of, Settings{Memory: 32 << 20}, process.Spec{Dir: t.TempDir()}, nil)
	if said := ended(t, p); !strings.Contains(said, "wrapped ended (exit status 137, ") || !strings.Contains(said, "out of memory: its limit is 32Mi)") {
		t.Error(said)
	}
}

// A Deployment's command replaces the entry point, its args the CMD, as in Kubernetes.
func TestSettings(t *testing.T) {
	docker(t)
	none := func(c *v1.Config) { c.Entrypoint, c.Cmd = nil, []string{"/entry", "of the image"} }
	for name, of := range map[string]struct {
		change   []func(*v1.Config)
		settings Settings
		want     string
	}{
		"nothing":                     {nil, Settings{}, "got --flag"},
		"args":                        {nil, Settings{Args: []string{"run"}, Arguments: true}, "got run --flag"},
		"command":                     {nil, Settings{Command: []string{"/bin/sh", "/entry", "by command"}}, "got by command --flag"},
		"no entry point":              {[]func(*v1.Config){none}, Settings{}, "got of the image --flag"},
		"no entry point, but args":    {[]func(*v1.Config){none}, Settings{Args: []string{"/entry", "by args"}, Arguments: true}, "got by args --flag"},
		"no entry point, but command": {[]func(*v1.Config){none}, Settings{Command: []string{"/entry"}, Arguments: true}, "got --flag"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			p := startedBy(t, wrapped(t, `echo "got $*"; exit 3`, of.change...), of.settings,
				process.Spec{Dir: t.TempDir(), Args: []string{"--flag"}, Lines: func(line []byte) { lines = append(lines, string(line)) }}, nil)
			if said := ended(t, p); p.Code() != 3 || !slices.Equal(lines, []string{of.want}) {
				t.Errorf("%q, want %q: %s", lines, of.want, said)
			}
		})
	}
	of := wrapped(t, "exit 0", none)
	_, err := ensure(t.Context(), of, Settings{Arguments: true})
	if err == nil || !strings.Contains(err.Error(), "no entry point and the Deployment no command") {
		t.Error(err)
	}
	_, _ = ensure(t.Context(), of, Settings{}) // for its name
	removeLater(t, imageName(of.Source.ImageID))
}

// What Docker got for a target is removed once no target needs it, and no other image is.
func TestSweepImages(t *testing.T) {
	c := docker(t)
	of := wrapped(t, "exit 0")
	twin := of
	twin.Dir = t.TempDir()
	for _, of := range []builds.Target{of, twin, of} {
		if err := Check(t.Context(), of); err != nil {
			t.Fatal(err)
		}
	}
	name := imageName(of.Source.ImageID)
	removeLater(t, name)
	for _, step := range []struct {
		gone string
		want []string
	}{{"", nil}, {of.Dir, nil}, {twin.Dir, []string{name}}, {"", nil}} {
		if step.gone != "" {
			if err := os.RemoveAll(step.gone); err != nil {
				t.Fatal(err)
			}
		}
		removed, err := SweepImages(t.Context())
		if err != nil || !slices.Equal(removed, step.want) {
			t.Errorf("after %q: %q, %v; want %q", step.gone, removed, err, step.want)
		}
		if _, err := c.ImageInspect(t.Context(), name); errdefs.IsNotFound(err) != (twin.Dir == step.gone || step.want == nil && !there(twin.Dir)) {
			t.Errorf("after %q: %v", step.gone, err)
		}
	}
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// A world ends, starts and probes a target that is a container as any other.
func TestActs(t *testing.T) {
	if testing.Short() {
		t.Skip("a world takes some seconds")
	}
	c := docker(t)
	of := wrapped(t, `trap 'echo asked; exit 0' TERM; echo ready; while :; do :; done`)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: buildstest.Get(t, builds.Kubernetes).Bin(), Out: t.TempDir(), Clock: clock.Real, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(w.Stop)
	defer func() { _ = stop() }()
	said := make(chan string, 16)
	var unhealthy atomic.Bool
	spec := Program(w, of, Settings{}, process.Spec{
		Name: "wrapped", Lines: func(line []byte) { said <- string(line) },
		Ready: func(context.Context) error {
			if unhealthy.Swap(false) {
				return errors.New("unhealthy")
			}
			return nil
		},
	})
	says := func(want ...string) {
		t.Helper()
		for _, want := range want {
			select {
			case got := <-said:
				if got != want {
					t.Fatalf("it says %q, want %q", got, want)
				}
			case <-time.After(time.Minute):
				t.Fatalf("it does not say %q", want)
			}
		}
	}
	running := func(want int) {
		t.Helper()
		list, err := c.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", Owner+"="+process.Self())})
		if err != nil || len(list.Items) != want {
			t.Fatalf("%d containers, want %d: %v", len(list.Items), want, err)
		}
	}
	if _, err := w.StartComponent(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	removeLater(t, imageName(of.Source.ImageID))
	says("ready")
	for _, kill := range []bool{true, false} {
		if err := w.StopProgram(t.Context(), "wrapped", kill); err != nil {
			t.Fatal(err)
		}
		running(0)
		if !kill {
			says("asked")
		}
		if err := w.StartAgain(t.Context(), "wrapped"); err != nil {
			t.Fatal(err)
		}
		running(1)
		says("ready")
	}
	unhealthy.Store(true)
	w.Probe("wrapped", time.Second, 1)
	says("asked", "ready")
	if err := w.Err(); err != nil {
		t.Errorf("what was done on purpose is a death: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	running(0)
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
	for want, of := range map[string]builds.Target{"docker load": gone, "is another image now": other, "it is for linux/riscv64": foreign} {
		if err := Check(t.Context(), of); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An image is needed while one of its targets is there; what is no note of ours is left alone.
func TestUnneeded(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	one, other := filepath.Join(t.TempDir(), "one"), t.TempDir()
	for image, of := range map[string][]string{"a": {one}, "b": {one, other}} {
		for _, of := range of {
			if err := noteImage("unix:///here", imageName(image), of); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := filepath.Join(state, "nodestorm", "images")
	for name, text := range map[string]string{"broken": "{", "foreign": `{"docker": "unix:///here", "image": "busybox", "target": "/nowhere"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left, needed := unneeded()
	var images []string
	for _, note := range left {
		images = append(images, strings.TrimPrefix(note.Image, imageName("")))
	}
	slices.Sort(images)
	if !slices.Equal(images, []string{"a", "b"}) || len(needed) != 1 || !needed["unix:///here "+imageName("b")] {
		t.Errorf("of targets that are gone: %q; needed: %v", images, needed)
	}
}

// Docker may hear of an end before it hears why; what we killed was not short of memory.
func TestWhyItWasKilled(t *testing.T) {
	for want, of := range map[string]struct {
		code           int
		reported, ours bool
		memory         int64
	}{
		", out of memory: its limit is 64Mi":                 {137, true, false, 64 << 20},
		", out of memory":                                    {137, true, false, 0},
		", killed, perhaps out of memory: its limit is 64Mi": {137, false, false, 64 << 20},
		"": {137, false, true, 64 << 20},
	} {
		r := &running{memory: of.memory}
		r.killed.Store(of.ours)
		if said := r.outOfMemory(of.code, of.reported); said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
	if said := (&running{memory: 1}).outOfMemory(1, false); said != "" {
		t.Errorf("it ended by itself: %q", said)
	}
}

// Only files that are named go into a container, readable by its user, and no more than fit.
func TestNamed(t *testing.T) {
	world := t.TempDir()
	for _, name := range []string{"kubeconfig", "certs/ca.crt", "other"} {
		path := filepath.Join(world, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{"--kubeconfig=" + world + "/kubeconfig,x", "CERTS=" + world + "/certs", world + "/absent", world + "/kubeconfig"}
	files, err := named(world, texts)
	var paths []string
	for _, f := range files {
		paths = append(paths, strings.TrimPrefix(f.ContainerFilePath, world+"/"))
		if f.FileMode != 0o444 {
			t.Errorf("%s has mode %o", f.ContainerFilePath, f.FileMode)
		}
	}
	if slices.Sort(paths); err != nil || !slices.Equal(paths, []string{"certs/ca.crt", "kubeconfig"}) {
		t.Errorf("%q, %v", paths, err)
	}
	if err := os.Truncate(filepath.Join(world, "certs", "ca.crt"), most+1); err != nil {
		t.Fatal(err)
	}
	if _, err := named(world, texts); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Error(err)
	}
}

// Without Docker the error names the way out.
func TestNoDocker(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := connect(ctx); err == nil || !strings.Contains(err.Error(), "DOCKER_HOST") {
		t.Error(err)
	}
}
