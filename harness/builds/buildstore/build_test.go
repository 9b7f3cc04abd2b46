package buildstore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds"
)

func TestBuildModule(t *testing.T) {
	serveModule(t, tinySource(t))
	s := openStore(t)
	r := Recipe{Ref: builds.Ref{Name: tiny.Name, Version: tiny.Version, Provider: "kwok"}, Module: "example.com/tiny", Package: "./cmd",
		LDFlags: "-X main.version=v1.0.0", Assets: []string{"crds"}, Faces: []string{"small"}}
	var stages []Stage
	var last Update
	got, err := s.Build(context.Background(), r, func(u Update) { stages, last = append(stages, u.Stage), u })
	ok(t, err)

	for _, program := range []string{got.Binary(), filepath.Join(got.Bin(), "small")} {
		if out := output(t, program); out != "tiny v1.0.0" {
			t.Errorf("%s prints %q", program, out)
		}
	}
	if _, err := os.Stat(got.Asset("crds/things.yaml")); err != nil {
		t.Errorf("asset: %v", err)
	}
	m := got.Manifest
	if m.Ref.String() != tiny.String() || m.Provider != "kwok" || m.Source.Kind != builds.FromModule || m.Source.Module != "example.com/tiny" ||
		m.Source.Version != "v1.0.0" || !strings.HasPrefix(m.Source.Sum, "h1:") || m.GoVersion != runtime.Version() ||
		m.OverlayHash != "clock-1" || m.Size == 0 || m.BuiltAt.IsZero() || !got.Virtual() {
		t.Errorf("manifest: %+v", m)
	}
	if last.Stage != Linking || last.Total < 10 || last.Done != last.Total || last.Package != "example.com/tiny/cmd" || last.Ref.String() != tiny.String() || last.Elapsed <= 0 {
		t.Errorf("last update: %+v", last)
	}
	if took := s.Expected(tiny); took <= 0 || took > last.Elapsed+time.Minute {
		t.Errorf("the next build is expected to take %s, and this one took %s", took, last.Elapsed)
	}
	if s.Expected(builds.Ref{Name: "karpenter", Version: "v1"}) <= 0 || s.Expected(builds.Ref{Name: "other", Version: "v1"}) != 0 {
		t.Error("what is expected of a first build")
	}
	if stored, err := s.Get(tiny); err != nil || stored.Dir != got.Dir || stored.SHA256 != m.SHA256 {
		t.Errorf("Get = %+v, %v", stored, err)
	}

	again, err := s.Build(context.Background(), r, func(u Update) {
		if u.Stage == Compiling {
			t.Error("compiled what was in the store")
		}
	})
	if err != nil || again.Dir != got.Dir || !again.BuiltAt.Equal(got.BuiltAt) {
		t.Errorf("second build: %v, %v", again.Dir, err)
	}
}

// An entry belongs to what it was built with: each change makes another.
func TestBuildAgain(t *testing.T) {
	serveModule(t, tinySource(t))
	s := openStore(t)
	r := Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd"}
	dirs := map[string]string{build(t, s, r).Dir: "first"}
	// In this order: what is plain is built without the clock.
	for _, tc := range []struct {
		name   string
		change func()
	}{
		{"flags", func() { r.LDFlags = "-X main.version=other" }},
		{"overlay", func() { s.Overlay = overlayOf("clock-2") }},
		{"plain", func() { r.Plain = true }},
	} {
		tc.change()
		got := build(t, s, r)
		if old, found := dirs[got.Dir]; found {
			t.Errorf("%s: got the entry of %s", tc.name, old)
		}
		dirs[got.Dir] = tc.name
		if got.Virtual() == r.Plain {
			t.Errorf("%s: virtual = %v", tc.name, got.Virtual())
		}
	}
}

// A build with the race detector finds what one without it does not.
func TestBuildRace(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("Go's race detector needs a C compiler, and there is no gcc")
	}
	dir := tinySource(t)
	write(t, filepath.Join(dir, "cmd", "main.go"), `package main

func main() {
	n, done := 0, make(chan bool)
	go func() { n++; done <- true }()
	n++
	<-done
}
`)
	s, r := openStore(t), fromFolderRecipe(dir)
	r.LDFlags = ""
	without := build(t, s, r)
	r.Race = true
	with := build(t, s, r)
	if with.Dir == without.Dir || with.Virtual() || !without.Virtual() {
		t.Errorf("they are %+v and %+v", with, without)
	}
	if got, err := s.Get(r.Ref); err != nil || got.Dir != with.Dir {
		t.Errorf("asked for it with the detector, the store has %v, %v", got.Dir, err)
	}
	r.Race = false
	if got, err := s.Get(r.Ref); err != nil || got.Dir != without.Dir { // which was built earlier
		t.Errorf("asked for it without, the store has %v, %v", got.Dir, err)
	}
	for _, ref := range []builds.Ref{{Name: "other", Version: r.Version, Race: true}, {Name: r.Name, Version: "mine", Race: true}} {
		none := (*NotFoundError)(nil)
		if _, err := s.Get(ref); !errors.As(err, &none) || !strings.HasSuffix(none.Command(), " --race") || !strings.Contains(err.Error(), "with Go's race detector") {
			t.Errorf("of %+v: %v", ref, err)
		}
	}
	if added, err := s.Add(t.Context(), Recipe{Ref: builds.Ref{Name: "given", Version: "v1"}}, with.Binary()); err != nil || !added.Race {
		t.Errorf("the program as given is %+v, %v", added, err)
	}
	if out, err := exec.Command(without.Binary()).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("without the detector: %v, %s", err, out)
	}
	if out, err := exec.Command(with.Binary()).CombinedOutput(); err == nil || !strings.Contains(string(out), "WARNING: DATA RACE") {
		t.Errorf("with the detector: %v, %s", err, out)
	}
}

func TestBuildSource(t *testing.T) {
	dir := tinySource(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	s := openStore(t)
	clean := build(t, s, fromFolderRecipe(dir))
	if src := clean.Source; src.Kind != builds.FromFolder || src.Dir != dir || src.Commit != git("rev-parse", "HEAD") || src.Dirty {
		t.Errorf("source: %+v", src)
	}

	write(t, filepath.Join(dir, "cmd", "main.go"), strings.Replace(tinyMain, "tiny ", "changed ", 1))
	changed := build(t, s, fromFolderRecipe(dir))
	if !changed.Source.Dirty || output(t, changed.Binary()) != "changed v1.0.0" || output(t, clean.Binary()) != "tiny v1.0.0" {
		t.Errorf("changed: %+v", changed.Source)
	}
	write(t, filepath.Join(dir, "crds", "things.yaml"), "kind: Other\n")
	if got := build(t, s, fromFolderRecipe(dir)); got.Dir == changed.Dir {
		t.Error("a changed asset got the old entry")
	}

	git("checkout", "-q", ".")
	if got := build(t, s, fromFolderRecipe(dir)); got.Dir != clean.Dir {
		t.Errorf("unchanged source got another entry: %s, not %s", got.Dir, clean.Dir)
	}
	if got, err := s.Get(tiny); err != nil || got.Dir != clean.Dir {
		t.Errorf("Get does not return the last build: %s, %v", got.Dir, err)
	}
}

func TestTwoBuildsAtOnce(t *testing.T) {
	serveModule(t, tinySource(t))
	first := openStore(t)
	second := &Store{dir: first.dir, Overlay: first.Overlay}
	r := Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd"}
	type result struct {
		builds.Target
		error
	}
	results := make(chan result, 1)
	waiting := make(chan struct{})
	started := false
	one, err := first.Build(context.Background(), r, func(u Update) {
		if u.Stage != Compiling || started {
			return
		}
		started = true
		go func() {
			got, err := second.Build(context.Background(), r, func(u Update) {
				switch u.Stage {
				case Waiting:
					close(waiting)
				case Compiling:
					t.Error("both compiled")
				}
			})
			results <- result{got, err}
		}()
		select { // the first goes on when the second waits
		case <-waiting:
		case r := <-results:
			t.Error("the second did not wait")
			results <- r
		}
	})
	ok(t, err)
	two := <-results
	ok(t, two.error)
	if one.Dir != two.Dir {
		t.Errorf("two entries: %s and %s", one.Dir, two.Dir)
	}
}

func TestInterruptedBuild(t *testing.T) {
	s := openStore(t)
	r := fromFolderRecipe(tinySource(t))
	for _, at := range []Stage{Compiling, Linking} {
		touchSource(t, r.Dir)
		ctx, cancel := context.WithCancel(context.Background())
		_, err := s.Build(ctx, r, func(u Update) {
			if u.Stage == at {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted while %s: %v", at, err)
		}
		wantEmpty(t, s)
	}

	// A killed build can't clean up; the next one does.
	leftover := filepath.Join(s.Dir(), "tmp", tiny.String(), "entry", "bin", "half")
	write(t, leftover, "x")
	if _, err := s.Get(tiny); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("Get finds half a build: %v", err)
	}
	got := build(t, s, r)
	if files, err := os.ReadDir(got.Bin()); err != nil || len(files) != 1 {
		t.Errorf("the entry has %v, %v", files, err)
	}
}

func TestBuildFails(t *testing.T) {
	s := openStore(t)
	for name, c := range map[string]struct {
		file, content string
		change        func(*Recipe)
		want          []string
	}{
		"does not compile": {file: "cmd/main.go", content: "package main\n\nfunc main() { oops() }\n", want: []string{"building tiny@v1.0.0", "cmd/main.go", "undefined: oops", "all it said is in " + filepath.Join(s.Dir(), "logs", "tiny@v1.0.0.log")}},
		"no main package":  {change: func(r *Recipe) { r.Package = "./nowhere" }, want: []string{"nowhere"}},
		"no such asset":    {change: func(r *Recipe) { r.Assets = []string{"charts"} }, want: []string{"the source has no charts"}},
		"no such folder":   {change: func(r *Recipe) { r.Dir += "/nowhere" }, want: []string{"nowhere", "no such file"}},
		"newer Go":         {file: "go.mod", content: "module example.com/tiny\n\ngo 1.99.1\n", want: []string{"Go 1.99.1", runtime.Version(), "GOTOOLCHAIN=auto"}},
		"no recipe":        {change: func(r *Recipe) { r.Dir = "" }, want: []string{"a module or a source folder"}},
		"both ways":        {change: func(r *Recipe) { r.Module = "example.com/tiny" }, want: []string{"a module or a source folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := fromFolderRecipe(tinySource(t))
			if c.file != "" {
				write(t, filepath.Join(r.Dir, c.file), c.content)
			}
			if c.change != nil {
				c.change(&r)
			}
			_, err := s.Build(context.Background(), r, nil)
			wantError(t, err, c.want...)
			wantEmpty(t, s)
		})
	}
	t.Run("no such version", func(t *testing.T) {
		serveModule(t, tinySource(t))
		_, err := s.Build(context.Background(), Recipe{Ref: builds.Ref{Name: "tiny", Version: "v9.9.9"}, Module: "example.com/tiny"}, nil)
		wantError(t, err, "downloading example.com/tiny@v9.9.9")
		wantEmpty(t, s)
	})
}

// A full disk under the go command shows in its words only.
func TestFullDisk(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'write /tmp/x: no space left on device' >&2\nexit 1\n"
	ok(t, os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := openStore(t)
	_, err := s.Build(context.Background(), fromFolderRecipe(tinySource(t)), nil)
	wantError(t, err, "no space left on device", EnvCache)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("not ENOSPC: %v", err)
	}
	wantEmpty(t, s)
}

// An asset that is a link becomes what it leads to, so that the entry stands alone; of what
// is outside of the source nothing is kept.
func TestBuildAssetLinks(t *testing.T) {
	dir, s := tinySource(t), openStore(t)
	write(t, filepath.Join(dir, "apis", "other.yaml"), "kind: Other\n")
	link := filepath.Join(dir, "crds", "other.yaml")
	ok(t, os.Symlink(filepath.Join("..", "apis", "other.yaml"), link))
	got := build(t, s, fromFolderRecipe(dir))
	copied := filepath.Join(got.Dir, "assets", "crds", "other.yaml")
	text, err := os.ReadFile(copied)
	ok(t, err)
	if info, err := os.Lstat(copied); err != nil || !info.Mode().IsRegular() || string(text) != "kind: Other\n" {
		t.Errorf("the link is %v, %v, with %q", info.Mode(), err, text)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "hidden")
	for _, to := range []string{secret, filepath.Join("..", "crds")} {
		ok(t, os.Remove(link))
		ok(t, os.Symlink(to, link))
		touchSource(t, dir)
		_, err := s.Build(t.Context(), fromFolderRecipe(dir), nil)
		wantError(t, err, "other.yaml")
	}
}
