package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/sim/history"
)

// envToken is where the hcloud command and its kin look for a token.
const envToken = "HCLOUD_TOKEN"

func (e *env) cloud() *cobra.Command {
	c := group(&cobra.Command{Use: "cloud", Short: "Serve a fake cloud alone, for any client"})
	c.AddCommand(e.hcloud())
	return c
}

func (e *env) hcloud() *cobra.Command {
	var o hcloudOptions
	c := &cobra.Command{
		Use:   "hcloud",
		Short: "Serve the Hetzner Cloud API on loopback",
		Long: `Serve the Hetzner Cloud API on loopback: servers, networks, load balancers,
volumes and all that belongs to them, in real time, until Ctrl-C.
Status 3: a fault made no difference.`,
		Example: `  HCLOUD_TOKEN=anything nodestorm cloud hcloud --listen 127.0.0.1:8080
  nodestorm cloud hcloud --token-file token --state project.json --faults faults.yaml`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return e.serveHcloud(c.Context(), o) },
	}
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` on loopback to listen on; port 0 is a free one")
	c.Flags().StringVar(&o.tokenFile, "token-file", "", "`file` with the token that clients have to show; empty: "+envToken)
	c.Flags().StringVar(&o.state, "state", "", "`file` that keeps the project; it is written where there is none")
	c.Flags().StringVar(&o.faults, "faults", "", "`file` with faults")
	c.Flags().BoolVar(&o.check, "check", false, "check the files and end")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "what all randomness derives from")
	c.Flags().IntVar(&o.limit, "rate-limit", 0, "calls an hour that are served; 0: all, and headers say 3600")
	c.Flags().StringVar(&o.history, "history", "", "new `file` for the record of all calls and what the cloud did")
	c.Flags().BoolVar(&o.json, "json", false, "print the endpoint as JSON")
	return c
}

type hcloudOptions struct {
	listen, tokenFile, state, faults, history string
	check, json                               bool
	seed                                      uint64
	limit                                     int
}

func (e *env) serveHcloud(ctx context.Context, o hcloudOptions) (err error) {
	if err := loopback(o.listen); err != nil {
		return usage(err)
	}
	if o.limit < 0 {
		return usage(fmt.Errorf("--rate-limit %d: want zero or more", o.limit))
	}
	token, err := readToken(o.tokenFile)
	if err != nil && !o.check {
		return usage(err)
	}
	var faults []fault.Fault
	if o.faults != "" {
		if faults, err = fault.Load(o.faults, hcloud.Operations()); err != nil {
			return usage(fmt.Errorf("--faults: %w", err))
		}
	}
	cfg := fakecloud.Config{Clock: clock.RealClock{}, Seed: o.seed}
	if o.state != "" {
		if cfg.State, err = readState(o.state); err != nil {
			return usage(err)
		}
	}
	if o.history != "" && !o.check {
		log, err := history.Create(o.history, time.Time{}, cfg.Clock)
		if err != nil {
			return usage(fmt.Errorf("--history: %w", err))
		}
		defer func() { _ = log.Close() }() // Record has the error of a full disk
		cfg.Recorder = log
	}
	c, err := fakecloud.New(cfg)
	if err != nil {
		return usage(fmt.Errorf("--state %s: %w; move it away to begin anew", o.state, err))
	}
	defer c.Close()
	for _, f := range faults {
		if err := c.Inject(f); err != nil {
			return usage(fmt.Errorf("--faults %s: %w", o.faults, err))
		}
	}
	if o.check {
		fmt.Fprintf(e.stdout, "good: %d fault(s), %d server(s)\n", len(faults), len(c.Instances()))
		return nil
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return usage(fmt.Errorf("--listen: %w", err))
	}
	s, err := hcloud.Serve(ctx, hcloud.Config{Cloud: c, Token: token, Listener: l, RateLimit: o.limit})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := e.showEndpoint(s, o.json); err != nil {
		return errors.Join(err, s.Close())
	}
	err = keepState(ctx, c, o.state)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return e.unmetFaults(c)
}

func (e *env) showEndpoint(s *hcloud.Server, asJSON bool) error {
	if asJSON {
		return e.json(map[string]string{"endpoint": s.URL()})
	}
	fmt.Fprintf(e.stdout, "The Hetzner Cloud API is up. Use it with\n\n  export HCLOUD_ENDPOINT=%s\n\nCtrl-C ends it.\n", s.URL())
	return nil
}

func (e *env) unmetFaults(c *fakecloud.Cloud) error {
	unmet := c.Unmet()
	for _, name := range unmet {
		e.say("fault %q made no difference", name)
	}
	if len(unmet) > 0 {
		return &exit{code: Inconclusive, asked: true}
	}
	return nil
}

// readToken reads the token from a file or, with none given, from the environment. Errors do not show
// it.
func readToken(file string) (string, error) {
	if file == "" {
		if token := os.Getenv(envToken); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("no token: set %s, or name a file with --token-file; any text will do", envToken)
	}
	text, err := readFile(file)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, "\r\n\t ") {
		return "", fmt.Errorf("--token-file %s: want one word", file)
	}
	return token, nil
}

// readState reads the project, and finds out now whether it can be written later.
func readState(file string) ([]byte, error) {
	state, err := fakecloud.ReadState(file)
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--state %s: there is no folder %s", file, filepath.Dir(file))
	}
	return state, nil
}

// keepState writes the project after changes, at most once a second, and at the end of ctx.
func keepState(ctx context.Context, c *fakecloud.Cloud, file string) error {
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
			return saved(c.SaveFile(file), file)
		case <-ticker.C:
			if now := c.Generation(); now != written {
				if err := saved(c.SaveFile(file), file); err != nil {
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
