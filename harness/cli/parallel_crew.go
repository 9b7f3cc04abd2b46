package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports"
	"nodestorm/sim/time/lag"
)

// Worlds that play at a time have a process of nodestorm's each: the clock of a world waits
// for all that its own process does, and what ends one ends no other. Such a process is
// started with the same arguments, comes to the same jobs, and plays those that it is asked for
// on its standard input, a line of JSON each; what it says of them is on its standard output.
// When its standard input ends, so does it.

// envPlayer makes this process one that plays for another: "1/4", the second of four.
const envPlayer = "NODESTORM_PLAYER"

// order asks a player to play a job.
type order struct {
	Job int `json:"job"` // index, by which both know it
	// Feature is played in place of a job, where jobs are not known before.
	Feature string `json:"feature,omitempty"`
	ID      string `json:"id"` // both to be sure
	Target  string `json:"target"`
	// Alone says that nobody plays beside it; then it is played again while it is late.
	Alone     bool   `json:"alone,omitempty"`
	AtOnce    int    `json:"atOnce"`
	InPlaceOf string `json:"inPlaceOf,omitempty"`
}

// word is what a player says: what is going on, a message, or how a job ended: by a row or
// by an error.
type word struct {
	Step    string        `json:"step,omitempty"`
	Virtual time.Duration `json:"virtual,omitempty"`
	Mean    float64       `json:"mean,omitempty"`
	Say     string        `json:"say,omitempty"`
	Row     *reports.Row  `json:"row,omitempty"`
	Failed  string        `json:"failed,omitempty"`
	Code    int           `json:"code,omitempty"`  // exit status for Failed
	Stuck   string        `json:"stuck,omitempty"` // what of its world did not end
}

// player is the side that plays.
type player struct {
	mu  sync.Mutex
	out *json.Encoder
}

// newPlayer is nil for a command of a user's.
func newPlayer(stdout io.Writer) *player {
	var nth, of int
	if n, err := fmt.Sscanf(os.Getenv(envPlayer), "%d/%d", &nth, &of); n != 2 || err != nil || nth < 0 || nth >= of || of > mostAtOnce {
		return nil
	}
	world.SharePorts(nth, of)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // who asks may be gone: our worlds end in order
	return &player{out: json.NewEncoder(stdout)}
}

func (p *player) send(w word) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(w) // nobody there: the standard input has ended, too
}

var errGone = errors.New("the command that had this played is gone")

// serve plays jobs until the standard input ends.
func (p *player) serve(ctx context.Context, in io.Reader, find func(order) (job, *session, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	orders := make(chan order)
	go func() {
		defer close(orders)
		lines := json.NewDecoder(in)
		for {
			var o order
			if err := lines.Decode(&o); err != nil {
				cancel(errGone)
				return
			}
			select {
			case orders <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	for o := range orders {
		w := p.played(ctx, find, o)
		p.send(w)
	}
	return nil
}

// among finds an order among the jobs of a session.
func among(ctx context.Context, s *session, jobs []job) func(order) (job, *session, error) {
	return func(o order) (job, *session, error) {
		if o.Job < 0 || o.Job >= len(jobs) || jobs[o.Job].record.ID != o.ID || jobs[o.Job].target.Ref.String() != o.Target {
			return job{}, nil, fmt.Errorf("%s on %s was to be played, and this process has another sequence: has the catalogue or the store changed meanwhile?", o.ID, o.Target)
		}
		j := jobs[o.Job]
		if j.coming { // it has come since
			if err := s.there(ctx, &j); err != nil {
				return job{}, nil, err
			}
		}
		return j, s, nil
	}
}

func (p *player) played(ctx context.Context, find func(order) (job, *session, error), o order) (w word) {
	j, s, err := find(o)
	if err != nil {
		return word{Failed: err.Error(), Code: Inconclusive}
	}
	s.AtOnce, s.InPlaceOf = o.AtOnce, ""
	playing := replay.Run
	if o.Alone {
		s.AtOnce = 0
		if o.InPlaceOf != "" {
			s.InPlaceOf = filepath.Base(o.InPlaceOf)
		}
		playing = s.undistorted(func(text string) { p.send(word{Say: text}) })
	}
	watch, stop := watching(func(step string, f lag.Figures) { p.send(word{Step: step, Virtual: f.Virtual, Mean: f.Mean}) })
	_, row, err := s.replayed(ctx, j.record, j.target, watch, playing)
	stop()
	if err == nil {
		return word{Row: &row}
	}
	w = word{Failed: err.Error(), Code: exit.CodeOf(err)}
	var stuck *world.StopError
	if errors.As(err, &stuck) {
		w.Stuck = stuck.Err.Error()
	}
	return w
}

// crew are the players of a command, as many as play at a time. Each is started when it is
// needed.
type crew struct {
	session *session
	board   *board
	of      int
	mu      sync.Mutex
	hands   map[int]*hand
	stuck   []error
}

// hand is one of them.
type hand struct {
	cmd   *exec.Cmd
	end   context.CancelFunc // whatever it does
	in    io.WriteCloser
	out   *json.Decoder
	cries tail
}

// crash is the end of a player that was to play on.
type crash struct{ text string }

func (c *crash) Error() string { return "the process that played it has ended: " + c.text }

// patience is how long a player may take to end its world when it is told to.
const patience = 2 * time.Minute

func (c *crew) start(ctx context.Context, nth int) (*hand, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own, end := context.WithCancel(context.WithoutCancel(ctx)) // it plays more than this, each as long as who asks wants it
	h := &hand{cmd: exec.CommandContext(own, program, c.session.args...), end: end}
	h.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", envPlayer, nth, c.of))
	h.cmd.Stderr = &h.cries
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C comes to us, and from us to each once
	h.cmd.Cancel = func() error { return h.cmd.Process.Signal(syscall.SIGINT) }
	h.cmd.WaitDelay = patience
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = json.NewDecoder(out)
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process that plays: %w", err)
	}
	return h, nil
}

// play has a player play a job. The error is a *crash if the player has ended instead.
func (c *crew) play(ctx context.Context, nth int, t task, o order) (reports.Row, error) {
	c.mu.Lock()
	h := c.hands[nth]
	c.mu.Unlock()
	if h == nil {
		var err error
		if h, err = c.start(ctx, nth); err != nil {
			return reports.Row{}, err
		}
		c.mu.Lock()
		if c.hands == nil {
			c.hands = map[int]*hand{}
		}
		c.hands[nth] = h
		c.mu.Unlock()
	}
	defer c.board.ended(nth)
	stop := context.AfterFunc(ctx, h.end)
	row, err := c.ask(h, nth, t.label+o.ID+" "+o.Target, o)
	var failed *exit.Error
	if stop() && (err == nil || errors.As(err, &failed)) {
		return row, err
	}
	c.mu.Lock()
	delete(c.hands, nth)
	c.mu.Unlock()
	_ = h.in.Close()
	ended := h.cmd.Wait()
	h.end()
	if ctx.Err() != nil {
		return reports.Row{}, context.Cause(ctx)
	}
	return reports.Row{}, &crash{h.cries.told(ended)}
}

// ask waits for what becomes of an order. An error that is no *exit.Error: the player plays no more.
func (c *crew) ask(h *hand, nth int, what string, o order) (reports.Row, error) {
	c.board.sees(nth, what, word{})
	if err := json.NewEncoder(h.in).Encode(o); err != nil {
		return reports.Row{}, err
	}
	for {
		var w word
		if err := h.out.Decode(&w); err != nil {
			return reports.Row{}, err
		}
		switch {
		case w.Say != "":
			c.board.aside(c.session.say, "%s", w.Say)
		case w.Row != nil:
			return *w.Row, nil
		case w.Failed != "":
			if w.Stuck != "" {
				c.mu.Lock()
				c.stuck = append(c.stuck, errors.New(w.Stuck))
				c.mu.Unlock()
			}
			return reports.Row{}, &exit.Error{Code: w.Code, Err: errors.New(w.Failed)}
		default:
			c.board.sees(nth, what, w)
		}
	}
}

// close ends all players, and returns what of their worlds did not end.
func (c *crew) close() error {
	for _, h := range c.hands {
		_ = h.in.Close()
	}
	for _, h := range c.hands {
		_ = h.cmd.Wait() // what it had to say it has said
		h.end()
	}
	c.hands = nil
	return errors.Join(c.stuck...)
}

// tail keeps the last of what a player says on standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailKept = 16 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if more := len(t.text) - tailKept; more > 0 {
		t.text = bytes.Clone(t.text[more:])
	}
	return len(text), nil
}

// told is how it ended, with the line that says why, if there is one.
func (t *tail) told(ended error) string {
	how := "exit status 0"
	if ended != nil {
		how = ended.Error()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	why := lines[len(lines)-1]
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			why = line // what follows is where
			break
		}
	}
	if why == "" {
		return how
	}
	return how + ": " + strings.TrimPrefix(why, "nodestorm: ")
}
