package history_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"nodestorm/sim/history"
)

var start = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

func created(name string) history.Event {
	return history.Event{
		Source: history.API, Verb: "create", Actor: "karpenter", Code: 201,
		Object: history.Object{Resource: "nodeclaims", Name: name},
		Detail: map[string]any{"pool": "default"},
	}
}

func TestLogStampsAndOrders(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(start)
	log := history.New(time.Time{}, clk)
	clk.SetTime(start.Add(3 * time.Second))
	log.Record(created("second"))
	early := created("first")
	early.At = start.Add(time.Second)
	log.Record(early)

	events := log.Events()
	if len(events) != 2 || events[0].Object.Name != "first" || events[0].Virtual != time.Second || events[0].Seq != 2 {
		t.Fatalf("events are not in the order of virtual time: %+v", events)
	}
	if r := events[1]; r.Virtual != 3*time.Second || !r.At.Equal(start.Add(3*time.Second)) || r.Real <= 0 || r.Real > time.Minute {
		t.Errorf("an event without a time was stamped %+v", r)
	}
	if since := log.Since(1); len(since) != 1 || since[0].Seq != 2 {
		t.Errorf("Since(1) = %+v, want the event 2 only", since)
	}
	if since := log.Since(99); len(since) != 0 {
		t.Errorf("Since beyond the end = %+v", since)
	}
}

func TestLogFileReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.ndjson")
	clk := clocktesting.NewFakePassiveClock(start)
	log, err := history.Create(path, start, clk)
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 250 {
				log.Record(created("claim"))
			}
		})
	}
	writers.Wait()
	log.Record(history.Event{Source: history.Harness, Verb: "odd", Detail: map[string]any{"f": func() {}}})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log.Record(created("late"))
	if err := log.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := log.Digest(), (history.Digest{Events: 1001, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}); got != want {
		t.Errorf("the digest is %+v, of the file it is %+v", got, want)
	}
	events, problems := history.Read(bytes.NewReader(text))
	if len(problems) != 0 || len(events) != 1001 || len(log.Events()) != 1001 {
		t.Fatalf("%d events read, %d in memory, problems %v; want 1001 and none", len(events), len(log.Events()), problems)
	}
	if r := events[0]; r.Seq != 1 || r.Code != 201 || r.Object.String() != "nodeclaims/claim" || r.Detail["pool"] != "default" {
		t.Errorf("event reads back as %+v", r)
	}
	if text, _ := events[1000].Detail["unwritable"].(string); !strings.Contains(text, "func()") {
		t.Errorf("a detail that JSON cannot express became %v", events[1000].Detail)
	}
	if _, err := history.Create(path, start, clk); !errors.Is(err, os.ErrExist) {
		t.Errorf("creating over a stored history: %v, want ErrExist", err)
	}
}

func TestLogFlushesWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.ndjson")
	log, err := history.Create(path, start, clocktesting.NewFakePassiveClock(start))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	log.Record(created("a"))
	deadline := time.Now().Add(20 * time.Second)
	for {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(string(text), "}\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no event in the file of an open log")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestWait(t *testing.T) {
	log := history.New(start, clocktesting.NewFakePassiveClock(start))
	log.Record(created("a"))
	named := func(name string) func(history.Entry) bool {
		return func(r history.Entry) bool { return r.Object.Name == name }
	}
	if r, err := log.Wait(t.Context(), named("a")); err != nil || r.Seq != 1 {
		t.Fatalf("waiting for a past event: %+v, %v", r, err)
	}
	go log.Record(created("b"))
	if r, err := log.WaitAfter(t.Context(), 1, named("b")); err != nil || r.Seq != 2 {
		t.Fatalf("waiting for a later event: %+v, %v", r, err)
	}
	cause := errors.New("15m are over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := log.WaitAfter(ctx, 1, named("a")); !errors.Is(err, cause) {
		t.Errorf("waiting in vain: %v, want the context's cause", err)
	}
	go log.Close()
	if _, err := log.Wait(t.Context(), named("c")); !errors.Is(err, history.ErrClosed) {
		t.Errorf("waiting on a closed log: %v", err)
	}
}
