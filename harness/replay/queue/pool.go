package queue

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

// Pool plays features as they are asked for: one by one in this process until it is known how many
// at a time the machine bears, then each by a worker that has nothing to do.
type Pool struct {
	queue *Queue

	mu      sync.Mutex
	workers *workers
	free    chan int // workers that have nothing to do
}

// NewPool returns a pool, which the caller closes.
func (q *Queue) NewPool() *Pool {
	p := &Pool{queue: q}
	p.grow()
	return p
}

// grow has workers play from now on if there are to be several.
func (p *Pool) grow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers != nil || p.queue.AtOnce <= 1 {
		return
	}
	p.workers = &workers{queue: p.queue, board: p.queue.newBoard(0), of: p.queue.AtOnce}
	p.workers.board.parallel = true
	p.free = make(chan int, p.workers.of)
	for nth := range p.workers.of {
		p.free <- nth
	}
}

// AtOnce is how many features can be played at a time.
func (p *Pool) AtOnce() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(1, cap(p.free))
}

// Play plays the scenario of a feature on a build and keeps its run below out; its progress begins
// with the label. If the process that plays it crashes the replay is inconclusive.
func (p *Pool) Play(ctx context.Context, feature string, on builds.Target, out, label string) (table.Row, error) {
	if p.AtOnce() == 1 {
		j, err := FeatureJob(feature, on, out)
		if err != nil {
			return table.Row{}, err
		}
		defer p.grow()
		return p.queue.replayAndMeasure(ctx, j, label)
	}
	id := strings.TrimSuffix(filepath.Base(feature), ".feature")
	t := Task{Job: Job{Record: scenarios.Record{ID: id}, Target: on, Out: out, feature: feature}, Label: label}
	select {
	case <-ctx.Done():
		return table.Row{}, context.Cause(ctx)
	case nth := <-p.free:
		defer func() { p.free <- nth }()
		return p.workers.play(ctx, nth, t, t.request())
	}
}

// Close ends all workers. The error is what of their worlds did not end.
func (p *Pool) Close() error {
	if p.workers == nil {
		return nil
	}
	return p.workers.close()
}

// FeatureJob reads the one scenario of a feature, in a catalogue of its own: there are many, and
// none is needed for long. Its run is kept in out.
func FeatureJob(feature string, on builds.Target, out string) (Job, error) {
	catalogue := new(scenarios.Catalogue)
	if err := catalogue.Add(replay.ReadFolder(feature).Own); err != nil {
		return Job{}, err
	}
	found := catalogue.InFile(feature)
	if len(found) != 1 {
		return Job{}, fmt.Errorf("%s has %d scenarios, and one is played", feature, len(found))
	}
	record := found[0].Record
	record.Autoscaler = on.Ref.Name
	return Job{Record: record, Features: catalogue.Features(), Own: catalogue.FilesOf(record.ID), Target: on, Out: out}, nil
}
