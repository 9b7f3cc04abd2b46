package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/statefile"
	"nodestorm/harness/run/exit"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// Standalone is how a kind of clouds is served without a world, to any client, in real time.
type Standalone struct {
	// Command is what it is called, for which the rest are the help. What are its instances.
	Command, Short, Long, Example, What string
	// Begins is that a file says how the cloud begins, and none keeps it: New has --state itself.
	Begins bool
	// New has further flags, and returns what they say when they are read.
	New func(*pflag.FlagSet) Serving
}

// Serving is a cloud to be served, as its flags have it.
type Serving interface {
	// Check finds what is wrong with the flags. Files are only checked where nothing is to be served.
	Check(read func(file string) ([]byte, error), files bool) error
	// Config is that of the cloud. It is asked for once the flags are checked.
	Config() fakecloud.Config
	// Begin is what makes what is there at the start; nil: there is nothing.
	Begin() func(*fakecloud.Tx) error
	// Serve serves it to clients of the listener.
	Serve(context.Context, *fakecloud.Cloud, net.Listener, Options) (Served, error)
}

// Served is an API that is up. Says is how clients get at it, for which Environment are the variables, as NAME=VALUE.
type Served struct {
	io.Closer
	Endpoint, Says string
	Environment    []string
}

// Options are those of all clouds that are served alone.
type Options struct {
	Listen, State, Faults, History string
	Everywhere, Check              bool
	Seed                           uint64
}

// Serve serves a cloud until the end of ctx. Up is called when clients can come, or with no closer where the files were only
// to be checked. The names of faults that made no difference are returned at the end.
func (k *Kind) Serve(ctx context.Context, o Options, s Serving, up func(Served) error) (unmet []string, err error) {
	cfg, faults, err := k.read(o, s)
	if err != nil {
		return nil, err
	}
	if log, is := cfg.Recorder.(*history.Log); is {
		defer func() { _ = log.Close() }() // Record has the error of a full disk
	}
	c, err := fakecloud.New(cfg)
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("--state %s: %w; move it away to begin anew", o.State, err))
	}
	defer c.Close()
	for _, f := range faults {
		if err := c.Inject(f); err != nil {
			return nil, exit.UsageError(fmt.Errorf("--faults %s: %w", o.Faults, err))
		}
	}
	if begin := s.Begin(); begin != nil {
		if err := c.Update(begin); err != nil {
			return nil, exit.UsageError(err)
		}
	}
	if o.Check {
		return nil, up(Served{Says: fmt.Sprintf("good: %d fault(s), %d %s", len(faults), len(c.Instances()), k.Alone.What)})
	}
	l, err := net.Listen("tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is taken by another program: take another port, or 0 for a free one", o.Listen)
	}
	if err != nil {
		return nil, exit.UsageError(fmt.Errorf("--listen: %w", err))
	}
	served, err := s.Serve(ctx, c, l, o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := up(served); err != nil {
		return nil, errors.Join(err, served.Close())
	}
	err = saveChanges(ctx, c, o.State)
	return c.Unmet(), errors.Join(err, served.Close())
}

// read reads the files.
func (k *Kind) read(o Options, s Serving) (cfg fakecloud.Config, faults []fault.Fault, err error) {
	if o.Faults != "" {
		if faults, err = cloudfault.Load(o.Faults, k.Operations()); err != nil {
			return cfg, nil, exit.UsageError(fmt.Errorf("--faults: %w", err))
		}
	}
	cfg = s.Config()
	cfg.Clock, cfg.Seed = clock.RealClock{}, o.Seed
	if o.State != "" {
		if cfg.State, err = readState(o.State); err != nil {
			return cfg, nil, exit.UsageError(err)
		}
	}
	if o.History != "" && !o.Check {
		log, err := history.Create(o.History, time.Time{}, cfg.Clock)
		if err != nil {
			return cfg, nil, exit.UsageError(fmt.Errorf("--history: %w", err))
		}
		cfg.Recorder = log
	}
	return cfg, faults, nil
}

// readState reads the project, and finds out now whether it can be written later.
func readState(file string) ([]byte, error) {
	state, err := statefile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--state %s: there is no folder %s", file, filepath.Dir(file))
	}
	return state, nil
}

// saveChanges writes the project after changes, at most once a second, and at the end of ctx.
func saveChanges(ctx context.Context, c *fakecloud.Cloud, file string) error {
	if file == "" {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var written uint64
	for {
		select {
		case <-ctx.Done():
			return saved(statefile.Save(c, file), file)
		case <-ticker.C:
			if now := c.Generation(); now != written {
				if err := saved(statefile.Save(c, file), file); err != nil {
					return err
				}
				written = now
			}
		}
	}
}

func saved(err error, file string) error {
	if err != nil {
		return fmt.Errorf("writing state %s: %w", file, err)
	}
	return nil
}
