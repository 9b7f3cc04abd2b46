package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports/table"
	"nodestorm/sim/time/lag"
)

// workers are the processes that play for this one, as many as play at a time. Each is started
// when it is needed.
type workers struct {
	queue *Queue
	board *board
	of    int

	mu      sync.Mutex
	all     map[int]*workerProcess
	folders map[int]string // of the run that each has begun last
	stuck   []error
}

// workerProcess is one of them.
type workerProcess struct {
	cmd    *exec.Cmd
	end    context.CancelFunc // whatever it does
	in     io.WriteCloser
	out    *json.Decoder
	stderr tail
}

// crash is the end of a worker that was to play on.
type crash struct{ text string }

func (c *crash) Error() string { return "the process that played it has ended: " + c.text }

// patience is how long a worker may take to end its world when it is asked to.
const patience = 2 * time.Minute

func (w *workers) start(ctx context.Context, nth int) (*workerProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own, end := context.WithCancel(context.WithoutCancel(ctx)) // it plays more than this, each as long as who asks wants it
	p := &workerProcess{cmd: exec.CommandContext(own, program, w.queue.Args...), end: end}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", EnvWorker, nth, w.of))
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C comes to us, and from us to each once
	// mutant: at a time, a signal ends players and leaves their worlds
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGINT) }
	p.cmd.WaitDelay = patience
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process that plays: %w", err)
	}
	return p, nil
}

// acquire returns a worker, which is started if it is not there.
func (w *workers) acquire(ctx context.Context, nth int) (*workerProcess, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.all[nth]; p != nil {
		return p, nil
	}
	p, err := w.start(ctx, nth)
	if err != nil {
		return nil, err
	}
	if w.all == nil {
		w.all = map[int]*workerProcess{}
	}
	w.all[nth] = p
	return p, nil
}

// began notes the folder of the run that a worker has begun; empty: none yet.
func (w *workers) began(nth int, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders == nil {
		w.folders = map[int]string{}
	}
	w.folders[nth] = dir
}

// folder is that of the run which a worker was last asked for; empty if it has not begun it.
func (w *workers) folder(nth int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.folders[nth]
}

// play has a worker play a task, see request. If the worker crashes the replay is inconclusive.
func (w *workers) play(ctx context.Context, nth int, t Task, r workRequest) (table.Row, error) {
	r.AtOnce = w.of
	row, err := w.request(ctx, nth, t.Label, r)
	var end *crash
	// mutant: at a time, one crash ends all
	if errors.As(err, &end) && ctx.Err() == nil {
		return crashed(t.Record, r, end), nil
	}
	return row, err
}

// request has a worker play a job. The error is a *crash if the worker has ended instead.
func (w *workers) request(ctx context.Context, nth int, label string, r workRequest) (table.Row, error) {
	w.began(nth, "")
	p, err := w.acquire(ctx, nth)
	if err != nil {
		return table.Row{}, err
	}
	defer w.board.ended(nth)
	stop := context.AfterFunc(ctx, p.end)
	row, err := w.await(p, nth, label+r.ID+" "+r.Target, r)
	var failed *exit.Error
	if stop() && (err == nil || errors.As(err, &failed)) {
		return row, err
	}
	w.mu.Lock()
	delete(w.all, nth)
	w.mu.Unlock()
	_ = p.in.Close()
	ended := p.cmd.Wait()
	p.end()
	if ctx.Err() != nil {
		return table.Row{}, context.Cause(ctx)
	}
	return table.Row{}, &crash{p.stderr.explain(ended)}
}

// await waits for the result of a request. After an error that is no *exit.Error the worker plays
// no more.
func (w *workers) await(p *workerProcess, nth int, what string, r workRequest) (table.Row, error) {
	w.board.step(nth, what, "", lag.Figures{})
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		return table.Row{}, err
	}
	for {
		var m workerMessage
		if err := p.out.Decode(&m); err != nil {
			return table.Row{}, err
		}
		switch {
		case m.Say != "":
			w.board.message("%s", m.Say)
		case m.Begun != "":
			w.began(nth, m.Begun)
		case m.Row != nil:
			return *m.Row, nil
		case m.Failed != "":
			if m.Stuck != "" {
				w.mu.Lock()
				w.stuck = append(w.stuck, errors.New(m.Stuck))
				w.mu.Unlock()
			}
			return table.Row{}, &exit.Error{Code: m.Code, Err: errors.New(m.Failed)}
		default:
			w.board.step(nth, what, m.Step, lag.Figures{Virtual: m.Virtual, Mean: m.Mean})
		}
	}
}

// close ends all workers. The error is what of their worlds did not end.
func (w *workers) close() error {
	for _, p := range w.all {
		_ = p.in.Close()
	}
	for _, p := range w.all {
		_ = p.cmd.Wait() // what it had to say it has said
		p.end()
	}
	w.all = nil
	if stuck := errors.Join(w.stuck...); stuck != nil {
		return &world.StopError{Err: stuck}
	}
	return nil
}
