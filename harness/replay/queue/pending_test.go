package queue

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay/supply"
	"nodestorm/reports/table"
	"nodestorm/scenarios"

	"github.com/google/go-containerregistry/pkg/registry"
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
	older   = builds.Ref{Name: "karpenter", Version: "v1.6.4"}
	newer   = builds.Ref{Name: "karpenter", Version: "v1.7.0"}
	nowhere = builds.Ref{Name: "cluster-autoscaler", Version: "1.33.0", Provider: "hetzner"}
)

func keepNothing([]table.Row) error { return nil }

// noBuilds is a go command that builds nothing.
func noBuilds(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho this go builds nothing >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
}

func tasksFor(refs ...builds.Ref) (tasks []Task) {
	for i, ref := range refs {
		j := Job{Record: scenarios.Record{ID: ref.String()}, Target: builds.Target{Manifest: builds.Manifest{Ref: ref}}, pending: true, needs: []builds.Ref{ref}}
		tasks = append(tasks, Task{Job: j, Index: i})
	}
	return tasks
}

// What a repository has comes from there, whose replay does not wait for what follows; what is
// nowhere to be had is skipped and says how to get it; and a build that fails ends all, with the
// rows there are.
func TestPending(t *testing.T) {
	noBuilds(t)
	from := pushed(t, builds.Ref{Name: older.Name, Version: older.Version})
	silent := words{&bytes.Buffer{}}
	s := &supply.Supplier{Store: storeIn(t), Registries: buildstore.Registries{From: from, Mirror: buildstore.NoRegistry}, Output: silent}
	p := s.Begin(t.Context(), silent.NewLine(), []builds.Ref{nowhere, older})
	var kept int
	play := func(context.Context, *supply.Pending, Task) (table.Row, error) { return table.Row{}, nil }
	w := waiting{pending: p, play: play, keep: func(rows []table.Row) error { kept = len(rows); return nil }, skipped: map[int]bool{}}
	rest, rows, err := w.run(t.Context(), tasksFor(nowhere, older, nowhere))
	p.Stop()
	if err != nil || len(rest)+len(rows) != 3 || kept > len(rows) {
		t.Fatalf("%v, left %d, rows %+v of which %d are kept", err, len(rest), rows, kept)
	}
	for _, row := range rows[:2] {
		if row.Verdict != table.Skipped || row.Target != nowhere.String() || !strings.Contains(row.Reason, "nodestorm target build cluster-autoscaler@1.33.0") {
			t.Errorf("the row is %+v", row)
		}
	}
	if got, err := s.Store.Get(older); err != nil || got.Source.Image != from {
		t.Errorf("the store has %+v, %v", got.Manifest, err)
	}

	s.Store = storeIn(t)
	p = s.Begin(t.Context(), silent.NewLine(), []builds.Ref{older, newer})
	var played []string
	w = waiting{pending: p, keep: keepNothing, skipped: map[int]bool{}, play: func(_ context.Context, _ *supply.Pending, t Task) (table.Row, error) {
		played = append(played, t.Record.ID)
		return table.Row{ID: t.Record.ID}, nil
	}}
	_, rows, err = w.run(t.Context(), tasksFor(newer, older))
	p.Stop()
	if err == nil || !strings.Contains(err.Error(), "building karpenter@v1.7.0") || len(rows) != len(played) || slices.Contains(played, newer.String()) {
		t.Errorf("with a build that fails: %v, rows %+v, played %q", err, rows, played)
	}
}

// Another Kubernetes than nodestorm's own is built for no replay: the one that begins with it is skipped, with the command.
func TestOtherKubernetes(t *testing.T) {
	noBuilds(t)
	t.Setenv("NODESTORM_CACHE", t.TempDir())
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-4403-control-plane")
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	silent := words{&said}
	q := &Queue{Catalogue: catalogue, Features: features.Files, Output: silent,
		Supply: &supply.Supplier{Store: storeIn(t), Registries: buildstore.Registries{Mirror: buildstore.NoRegistry}, Output: silent}}
	jobs, pending, err := q.Pending(t.Context(), []scenarios.Record{record})
	if err != nil {
		t.Fatal(err)
	}
	pending.Stop()
	if !strings.Contains(said.String(), "getting 3 targets") || strings.Contains(said.String(), "v1.35.4") {
		t.Errorf("it says %q", said.String())
	}
	play, without := q.Playable(t.Context(), jobs)
	if len(play) > 0 || len(without) != len(record.Targets) || !strings.Contains(without[0].Reason, "build it: nodestorm target build kubernetes@v1.35.4") {
		t.Errorf("%d are played, and of those that are not: %+v", len(play), without)
	}
}

// A replay begins as soon as what it needs is there, while the rest is under way.
func TestPlaysBeforeAllIsThere(t *testing.T) {
	p := supply.NewPending(&supply.Supplier{}, nil, []builds.Ref{older, newer})
	var order []string
	go p.Settle(newer, nil, nil)
	w := waiting{pending: p, keep: keepNothing, skipped: map[int]bool{}, play: func(_ context.Context, p *supply.Pending, t Task) (table.Row, error) {
		order = append(order, t.Record.ID)
		now, _ := p.State()
		order = append(order, supply.Names(now.Left))
		p.Settle(older, nil, nil)
		return table.Row{ID: t.Record.ID}, nil
	}}
	rest, rows, err := w.run(t.Context(), tasksFor(older, newer))
	if err != nil || len(rows) != 1 || len(rest) != 1 || rest[0].Record.ID != older.String() || !slices.Equal(order, []string{newer.String(), older.String()}) {
		t.Errorf("%v: played %q, rows %+v, left %+v", err, order, rows, rest)
	}
}
