package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports/table"
	"nodestorm/sim/time/lag"
)

// Worlds that play at a time have a process of nodestorm's each: the clock of a world waits
// for all that its own process does, and what ends one ends no other. Such a process is
// started with the same arguments, comes to the same jobs, and plays those that it is asked for
// on its standard input, a line of JSON each; what it says of them is on its standard output.
// When its standard input ends, so does it.

// EnvWorker makes a process one that plays for another: "1/4", the second of four.
const EnvWorker = "NODESTORM_PLAYER"

// workRequest asks a worker to play a job.
type workRequest struct {
	Job int `json:"job"` // index, by which both know it
	// Feature is played in place of a job, where jobs are not known before.
	Feature string `json:"feature,omitempty"`
	ID      string `json:"id"` // both to be sure
	Target  string `json:"target"`
	Out     string `json:"out,omitempty"` // in place of the settings'
	// Alone says that nothing plays beside it; then it is played again while it is late.
	Alone     bool   `json:"alone,omitempty"`
	AtOnce    int    `json:"atOnce"`
	InPlaceOf string `json:"inPlaceOf,omitempty"`
}

// workerMessage is what a worker says: what is going on, a message, where the run is, or how a
// job ended: by a row or by an error.
type workerMessage struct {
	Step    string        `json:"step,omitempty"`
	Virtual time.Duration `json:"virtual,omitempty"`
	Mean    float64       `json:"mean,omitempty"`
	Say     string        `json:"say,omitempty"`
	Begun   string        `json:"begun,omitempty"` // the folder of the run
	Row     *table.Row    `json:"row,omitempty"`
	Failed  string        `json:"failed,omitempty"`
	Code    int           `json:"code,omitempty"`  // exit status for Failed
	Stuck   string        `json:"stuck,omitempty"` // what of its world did not end
}

// Worker is the side that plays.
type Worker struct {
	mu  sync.Mutex
	out *json.Encoder
}

// NewWorker returns the worker that this process is by the value of EnvWorker, and nil for a
// command of a user's.
func NewWorker(value string, stdout io.Writer) *Worker {
	var nth, of int
	if n, err := fmt.Sscanf(value, "%d/%d", &nth, &of); n != 2 || err != nil || nth < 0 || nth >= of || of > Most {
		return nil
	}
	world.SharePorts(nth, of)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // who asks may be gone: our worlds end in order
	return &Worker{out: json.NewEncoder(stdout)}
}

func (w *Worker) send(m workerMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(m) // if nothing reads it, the standard input has ended, too
}

// Lookup finds the job that a worker is asked for.
type Lookup func(context.Context, workRequest) (Job, error)

var errGone = errors.New("the command that had this played is gone")

// Serve plays jobs of the queue until the standard input ends.
func (w *Worker) Serve(ctx context.Context, in io.Reader, q *Queue, find Lookup) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	requests := make(chan workRequest)
	go func() {
		defer close(requests)
		lines := json.NewDecoder(in)
		for {
			var r workRequest
			if err := lines.Decode(&r); err != nil {
				cancel(errGone)
				return
			}
			select {
			case requests <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	for r := range requests {
		w.send(w.play(ctx, q, find, r))
	}
	return nil
}

// LookupIn finds a job among those of the queue.
func (q *Queue) LookupIn(jobs []Job) Lookup {
	return func(ctx context.Context, r workRequest) (Job, error) {
		if r.Job < 0 || r.Job >= len(jobs) || jobs[r.Job].Record.ID != r.ID || jobs[r.Job].Target.Ref.String() != r.Target {
			return Job{}, fmt.Errorf("%s on %s was to be played, and this process has another sequence: has the catalogue or the "+
				"store changed since then?", r.ID, r.Target)
		}
		j := jobs[r.Job]
		j.Out = r.Out
		return q.resolve(ctx, j)
	}
}

// FeaturesOn reads the feature that is asked for, which is played on one of the builds.
func FeaturesOn(targets ...builds.Target) Lookup {
	return func(_ context.Context, r workRequest) (Job, error) {
		for _, on := range targets {
			if on.Ref.String() == r.Target {
				return FeatureJob(r.Feature, on, r.Out)
			}
		}
		return Job{}, fmt.Errorf("%s was to be played on %s, which this process does not know: has the store changed since then?",
			r.ID, r.Target)
	}
}

func (w *Worker) play(ctx context.Context, q *Queue, find Lookup, r workRequest) workerMessage {
	j, err := find(ctx, r)
	if err != nil {
		return workerMessage{Failed: err.Error(), Code: exit.Inconclusive}
	}
	request := q.request(j)
	request.AtOnce = r.AtOnce
	request.Begun = func(dir string) { w.send(workerMessage{Begun: dir}) }
	playing := replay.Run
	if r.Alone {
		request.AtOnce = 0
		if r.InPlaceOf != "" {
			request.InPlaceOf = filepath.Base(r.InPlaceOf)
		}
		playing = q.undistorted(func(text string) { w.send(workerMessage{Say: text}) })
	}
	watch, stop := watching(func(step string, f lag.Figures) {
		w.send(workerMessage{Step: step, Virtual: f.Virtual, Mean: f.Mean})
	})
	_, row, err := q.replay(ctx, request, watch, playing)
	stop()
	if err == nil {
		return workerMessage{Row: &row}
	}
	m := workerMessage{Failed: err.Error(), Code: exit.CodeOf(err)}
	var stuck *world.StopError
	if errors.As(err, &stuck) {
		m.Stuck = stuck.Err.Error()
	}
	return m
}
