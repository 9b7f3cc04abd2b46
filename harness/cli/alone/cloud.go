package alone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/apiproxy"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// EnvToken is where the hcloud command and its kin look for a token.
const EnvToken = "HCLOUD_TOKEN"

func newCloud(e *console.Console) *cobra.Command {
	c := console.Group(&cobra.Command{Use: "cloud", Short: "Serve a fake cloud alone, for any client"})
	c.AddCommand(newHcloud(e), newExternalgrpc(e))
	return c
}

func newHcloud(e *console.Console) *cobra.Command {
	o := cloudOptions{operations: hcloud.Operations(), inject: (*fakecloud.Cloud).Inject, what: "server(s)"}
	var tokenFile string
	var limit int
	c := &cobra.Command{
		Use:   "hcloud",
		Short: "Serve the Hetzner Cloud API on loopback",
		Long: `Serve the Hetzner Cloud API on loopback: servers, networks, load balancers,
volumes and all that belongs to them, in real time, until Ctrl-C.
Status 3: a fault made no difference.`,
		Example: `  HCLOUD_TOKEN=anything nodestorm cloud hcloud --listen 127.0.0.1:8080
  nodestorm cloud hcloud --token-file token --state project.json --faults faults.yaml`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return exit.UsageError(fmt.Errorf("--rate-limit %d: want zero or more", limit))
			}
			token, err := readToken(tokenFile)
			if err != nil && !o.check {
				return exit.UsageError(err)
			}
			return serveCloud(e, c.Context(), o, func(ctx context.Context, cloud *fakecloud.Cloud, l net.Listener) (served, error) {
				s, err := hcloud.Serve(ctx, hcloud.Config{Cloud: cloud, Token: token, Listener: l, RateLimit: limit})
				if err != nil {
					return served{}, err
				}
				return served{Closer: s, endpoint: s.URL(), says: "The Hetzner Cloud API is up. Use it with\n\n  export HCLOUD_ENDPOINT=" + s.URL()}, nil
			})
		},
	}
	o.flags(e, c)
	c.Flags().StringVar(&tokenFile, "token-file", "", "`file` with the token that clients have to show; empty: "+EnvToken)
	c.Flags().IntVar(&limit, "rate-limit", 0, "calls an hour that are served; 0: all, and headers say 3600")
	return c
}

func newExternalgrpc(e *console.Console) *cobra.Command {
	o := cloudOptions{operations: externalgrpc.Operations(), inject: nodegroups.Inject, what: "instance(s)", cfg: fakecloud.Config{Catalogue: fakecloud.Plain(), GroupLabel: nodegroups.GroupLabel}}
	var groups string
	c := &cobra.Command{
		Use:   nodegroups.Provider,
		Short: "Serve node groups to Cluster Autoscaler's provider externalgrpc, on loopback",
		Long: `Serve a cloud of node groups on loopback, in real time, until Ctrl-C: Cluster
Autoscaler with --cloud-provider=externalgrpc is its client. It has instance types
tiny, small, medium, large and huge, with 1 to 16 processors, in the zones zone-a,
zone-b and zone-c. Connections are in clear.

--groups is a file in YAML with the node groups to begin with, but for those that
--state has:

` + groupsExample + `
Status 3: a fault made no difference.`,
		Example: `  nodestorm cloud externalgrpc --groups groups.yaml --listen 127.0.0.1:8086
  nodestorm cloud externalgrpc --state cloud.json --faults faults.yaml`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			first, err := readGroups(groups)
			if err != nil {
				return exit.UsageError(err)
			}
			o.begin = func(tx *fakecloud.Tx) error { return createGroups(tx, first) }
			return serveCloud(e, c.Context(), o, func(ctx context.Context, cloud *fakecloud.Cloud, l net.Listener) (served, error) {
				s, err := externalgrpc.Serve(ctx, externalgrpc.Config{Cloud: cloud, Listener: l, Everywhere: o.everywhere})
				if err != nil {
					return served{}, err
				}
				return served{Closer: s, endpoint: s.Addr(), says: "The cloud is up. Run Cluster Autoscaler with --cloud-provider=externalgrpc and a file for --cloud-config that says\n\n  address: " + s.Addr()}, nil
			})
		},
	}
	o.flags(e, c)
	c.Flags().StringVar(&groups, "groups", "", "`file` with the node groups to begin with")
	return c
}

const groupsExample = `  groups:
  - {name: a, min: 0, max: 5, target: 1, type: medium, zone: zone-a}
  - {name: b, min: 0, max: 5, labels: {pool: b}, taints: ["pool=b:NoSchedule"],
     options: {scaleDownUnneededTime: 5m}}
`

// firstGroup is a node group as --groups has it.
type firstGroup struct {
	Name    string            `json:"name"`
	Min     int               `json:"min"`
	Max     int               `json:"max"`
	Target  int               `json:"target"`
	Type    string            `json:"type"`
	Zone    string            `json:"zone"`
	Labels  map[string]string `json:"labels"`
	Taints  []string          `json:"taints"`
	Options map[string]string `json:"options"`
}

func readGroups(file string) ([]firstGroup, error) {
	if file == "" {
		return nil, nil
	}
	var list struct {
		Groups []firstGroup `json:"groups"`
	}
	text, err := console.ReadFile(file)
	if err == nil {
		err = strict.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("--groups %s: %w", file, err)
	}
	names := map[string]bool{}
	for _, g := range list.Groups {
		switch {
		case names[g.Name]:
			return nil, fmt.Errorf("--groups %s: group %q is there twice", file, g.Name)
		case g.Target > g.Max:
			return nil, fmt.Errorf("--groups %s: group %q: a target of %d is above its maximum of %d", file, g.Name, g.Target, g.Max)
		}
		names[g.Name] = true
		if _, err := labels.Set(g.Labels).AsValidatedSelector(); err != nil {
			return nil, fmt.Errorf("--groups %s: group %q: labels: %s", file, g.Name, oneline.Of(err.Error()))
		}
		for _, taint := range g.Taints {
			if _, err := cloudinit.ParseTaint(taint); err != nil {
				return nil, fmt.Errorf("--groups %s: group %q: %w", file, g.Name, err)
			}
		}
		if err := externalgrpc.CheckOptions(g.Options); err != nil {
			return nil, fmt.Errorf("--groups %s: group %q: %w", file, g.Name, err)
		}
	}
	return list.Groups, nil
}

// createGroups creates those that are not there.
func createGroups(tx *fakecloud.Tx, all []firstGroup) error {
	for _, g := range all {
		if tx.Groups.Named(g.Name) != nil {
			continue
		}
		if _, err := tx.CreateGroup(nodegroups.Group(fakecloud.Group{
			Meta: fakecloud.Meta{Name: g.Name}, Min: g.Min, Max: g.Max, Target: g.Target, Type: g.Type, Location: g.Zone,
			NodeLabels: g.Labels, Taints: g.Taints, Options: g.Options,
		})); err != nil {
			return fmt.Errorf("--groups: %w", err)
		}
	}
	return nil
}

// cloudOptions are those of all clouds that are served alone.
type cloudOptions struct {
	listen, state, faults, history string
	everywhere, check, json        bool
	seed                           uint64

	operations []string
	inject     func(*fakecloud.Cloud, fault.Fault) error
	what       string // its instances are called
	cfg        fakecloud.Config
	begin      func(*fakecloud.Tx) error // what is there at the start; nil: nothing
}

func (o *cloudOptions) flags(e *console.Console, c *cobra.Command) {
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` on loopback to listen on; port 0 is a free one")
	c.Flags().BoolVar(&o.everywhere, "everywhere", false, "let --listen be an address beyond loopback: in a container, whose network is its own")
	c.Flags().StringVar(&o.state, "state", "", "`file` that keeps the cloud; it is written where there is none")
	c.Flags().StringVar(&o.faults, "faults", "", "`file` with faults: nodestorm help faults")
	c.Flags().BoolVar(&o.check, "check", false, "check the files and end")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "what all randomness derives from")
	c.Flags().StringVar(&o.history, "history", "", "new `file` for the record of all calls and what the cloud did")
	e.OutputFlags(c, &o.json)
}

// served is an API that is up.
type served struct {
	io.Closer
	endpoint, says string
}

// serveCloud serves a cloud until the end of ctx.
func serveCloud(e *console.Console, ctx context.Context, o cloudOptions, serve func(context.Context, *fakecloud.Cloud, net.Listener) (served, error)) (err error) {
	if err := apiproxy.Loopback(o.listen); err != nil && !o.everywhere {
		return exit.UsageError(fmt.Errorf("%w; in a container, whose network is its own, --everywhere lets it be any", err))
	}
	var faults []fault.Fault
	if o.faults != "" {
		if faults, err = cloudfault.Load(o.faults, o.operations); err != nil {
			return exit.UsageError(fmt.Errorf("--faults: %w", err))
		}
	}
	cfg := o.cfg
	cfg.Clock, cfg.Seed = clock.RealClock{}, o.seed
	if o.state != "" {
		if cfg.State, err = readState(o.state); err != nil {
			return exit.UsageError(err)
		}
	}
	if o.history != "" && !o.check {
		log, err := history.Create(o.history, time.Time{}, cfg.Clock)
		if err != nil {
			return exit.UsageError(fmt.Errorf("--history: %w", err))
		}
		defer func() { _ = log.Close() }() // Record has the error of a full disk
		cfg.Recorder = log
	}
	c, err := fakecloud.New(cfg)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--state %s: %w; move it away to begin anew", o.state, err))
	}
	defer c.Close()
	for _, f := range faults {
		if err := o.inject(c, f); err != nil {
			return exit.UsageError(fmt.Errorf("--faults %s: %w", o.faults, err))
		}
	}
	if o.begin != nil {
		if err := c.Update(o.begin); err != nil {
			return exit.UsageError(err)
		}
	}
	if o.check {
		fmt.Fprintf(e.Stdout, "good: %d fault(s), %d %s\n", len(faults), len(c.Instances()), o.what)
		return nil
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--listen: %w", err))
	}
	s, err := serve(ctx, c, l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := showEndpoint(e, s, o.json); err != nil {
		return errors.Join(err, s.Close())
	}
	err = keepState(ctx, c, o.state)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return unmetFaults(e, c)
}

func showEndpoint(e *console.Console, s served, asJSON bool) error {
	if asJSON {
		return e.JSON(map[string]string{"endpoint": s.endpoint})
	}
	fmt.Fprintf(e.Stdout, "%s\n\nCtrl-C ends it.\n", s.says)
	return nil
}

func unmetFaults(e *console.Console, c *fakecloud.Cloud) error {
	unmet := c.Unmet()
	for _, name := range unmet {
		e.Say("fault %q made no difference", name)
	}
	if len(unmet) > 0 {
		return &exit.Error{Code: exit.Inconclusive, Awaited: true}
	}
	return nil
}

// readToken reads the token from a file or, with none given, from the environment. Errors do not show
// it.
func readToken(file string) (string, error) {
	if file == "" {
		if token := os.Getenv(EnvToken); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("no token: set %s, or name a file with --token-file; any text will do", EnvToken)
	}
	text, err := console.ReadFile(file)
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
