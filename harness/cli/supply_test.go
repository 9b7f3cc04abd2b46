package cli

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/reports"
	"nodestorm/scenarios"
)

// pushed is a repository on loopback that has builds of the targets, which are no more than a
// program.
func pushed(t *testing.T, refs ...builds.Ref) (repository string) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository = strings.TrimPrefix(server.URL, "http://") + "/team/builds"
	store := storeIn(t)
	for _, ref := range refs {
		if _, err := store.Add(t.Context(), buildstore.Recipe{Ref: ref}, "/bin/true"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Push(t.Context(), ref, repository, nil); err != nil {
			t.Fatal(err)
		}
	}
	return repository
}

func storeIn(t *testing.T) *buildstore.Store {
	t.Helper()
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

var (
	older  = builds.Ref{Name: "karpenter", Version: "v1.6.4"}
	newer  = builds.Ref{Name: "karpenter", Version: "v1.7.0"}
	nobody = builds.Ref{Name: "cluster-autoscaler", Version: "1.33.0", Provider: "hetzner"}
)

// noBuilds is a go command that builds nothing.
func noBuilds(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho this go builds nothing >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
}

func tasksFor(refs ...builds.Ref) (tasks []task) {
	for i, ref := range refs {
		j := job{record: scenarios.Record{ID: ref.String()}, target: builds.Target{Manifest: builds.Manifest{Ref: ref}}, coming: true, needs: []builds.Ref{ref}}
		tasks = append(tasks, task{job: j, index: i})
	}
	return tasks
}

// What a repository has comes from there, whose replay does not wait for what follows; what is
// nowhere to be had is skipped and says how to get it; and a build that fails ends all, with the
// rows there are.
func TestSupply(t *testing.T) {
	noBuilds(t)
	t.Setenv(buildstore.EnvMirror, buildstore.NoRegistry)
	t.Setenv(buildstore.EnvFrom, pushed(t, builds.Ref{Name: older.Name, Version: older.Version}))
	var said bytes.Buffer
	e := &env{stdout: io.Discard, stderr: &said, store: storeIn(t)}
	s := e.newSupply(t.Context(), newStatus(io.Discard), []builds.Ref{nobody, older})
	var kept int
	rest, rows, err := s.play(t.Context(), tasksFor(nobody, older, nobody), func(task) (reports.Row, error) { return reports.Row{}, nil }, func(rows []reports.Row) error { kept = len(rows); return nil })
	s.end()
	if err != nil || len(rest)+len(rows) != 3 || kept > len(rows) {
		t.Fatalf("%v, left %d, rows %+v of which %d are kept", err, len(rest), rows, kept)
	}
	for _, row := range rows[:2] {
		if row.Verdict != skipped || row.Target != nobody.String() || !strings.Contains(row.Reason, "nodestorm target build cluster-autoscaler@1.33.0") {
			t.Errorf("the row is %+v", row)
		}
	}
	if got, err := e.store.Get(older); err != nil || got.Source.Image != os.Getenv(buildstore.EnvFrom) {
		t.Errorf("the store has %+v, %v", got.Manifest, err)
	}

	e.store = storeIn(t)
	s = e.newSupply(t.Context(), newStatus(io.Discard), []builds.Ref{older, newer})
	var played []string
	_, rows, err = s.play(t.Context(), tasksFor(newer, older), func(t task) (reports.Row, error) {
		played = append(played, t.record.ID)
		return reports.Row{ID: t.record.ID}, nil
	}, func([]reports.Row) error { return nil })
	s.end()
	if err == nil || !strings.Contains(err.Error(), "building karpenter@v1.7.0") || len(rows) != len(played) || slices.Contains(played, newer.String()) {
		t.Errorf("with a build that fails: %v, rows %+v, played %q", err, rows, played)
	}
}

// A replay begins as soon as what it needs is there, while the rest is under way.
func TestPlaysAsTheyCome(t *testing.T) {
	s := &supply{env: &env{}, left: []builds.Ref{older, newer}, cannot: map[builds.Ref]error{}, skipped: map[int]bool{}, changed: make(chan struct{}), cancel: func() {}}
	var order []string
	go s.settle(newer, nil, nil)
	rest, rows, err := s.play(t.Context(), tasksFor(older, newer), func(t task) (reports.Row, error) {
		order = append(order, t.record.ID)
		left, _, _, _ := s.now()
		order = append(order, targetNames(left))
		s.settle(older, nil, nil)
		return reports.Row{ID: t.record.ID}, nil
	}, func([]reports.Row) error { return nil })
	if err != nil || len(rows) != 1 || len(rest) != 1 || rest[0].record.ID != older.String() || !slices.Equal(order, []string{newer.String(), older.String()}) {
		t.Errorf("%v: played %q, rows %+v, left %+v", err, order, rows, rest)
	}
}

// Registries are asked until one gives no answer, which is said once.
func TestGivenUp(t *testing.T) {
	t.Setenv(buildstore.EnvMirror, "127.0.0.1:1")
	t.Setenv(buildstore.EnvFrom, "")
	var said bytes.Buffer
	e := &env{stderr: &said, store: storeIn(t)}
	for range 2 {
		if offer, err := e.offered(t.Context(), nobody); offer != nil || err != nil {
			t.Errorf("%v, %v", offer, err)
		}
	}
	if text := said.String(); strings.Count(text, "127.0.0.1:1 cannot be reached") != 1 || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %q", text)
	}
}

// The programs that are in official images are no Kubernetes for worlds, which take more of it.
func TestOfficialKubernetes(t *testing.T) {
	if got := asked(builds.Kubernetes, buildstore.Registries{From: "x", Mirror: "y"}); got.From != "x" || got.Mirror != buildstore.NoRegistry {
		t.Errorf("Kubernetes is asked for at %+v", got)
	}
	if got := asked(nobody, buildstore.Registries{Mirror: "y"}); got.Mirror != "y" {
		t.Errorf("others are asked for at %+v", got)
	}
}
