package alone

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/apiproxy"
)

var _ = Commands.Add(console.Standalone, newCloud)

func newCloud(e *console.Console) *cobra.Command {
	c := console.Group(&cobra.Command{Use: "cloud", Short: "Serve a fake cloud to any client",
		Example: "  HCLOUD_TOKEN=any nodestorm cloud hcloud\n  nodestorm cloud externalgrpc --groups groups.yaml\n" +
			"  nodestorm cloud aws --state account.yaml"})
	for _, k := range clouds.Kinds {
		if k.Alone != nil {
			c.AddCommand(cloudAlone(e, k))
		}
	}
	return c
}

// cloudAlone is the command that serves a kind of clouds.
func cloudAlone(e *console.Console, k *live.Kind) *cobra.Command {
	var o live.Options
	var json bool
	var port uint16
	c := &cobra.Command{Use: k.Alone.Command, Short: k.Alone.Short, Long: k.Alone.Long, Example: k.Alone.Example, Args: console.Exactly(0)}
	c.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:0", "`ADDRESS` on loopback to listen on; port 0 is a free one")
	c.Flags().Uint16Var(&port, "port", 0, "`PORT` of 127.0.0.1 to listen on, in place of --listen")
	c.Flags().BoolVar(&o.Everywhere, "everywhere", false, "allow --listen beyond loopback, for a container with its own network")
	if !k.Alone.Begins {
		c.Flags().StringVar(&o.State, "state", "", "`FILE` that keeps the cloud; it is written where there is none")
	}
	c.Flags().StringVar(&o.Faults, "faults", "", "`FILE` with faults: nodestorm help faults")
	c.Flags().BoolVar(&o.Check, "check", false, "check the files and end")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "seed `N` of all randomness")
	c.Flags().StringVar(&o.History, "history", "", "new `FILE` for the history of all calls and what the cloud did")
	e.OutputFlags(c, &json)
	serving := k.Alone.New(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("port") {
			if c.Flags().Changed("listen") {
				return exit.UsageError(errors.New("--port and --listen both say where to listen: give one of them"))
			}
			o.Listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
		}
		if err := serving.Check(console.ReadFile, o.Check); err != nil {
			return exit.UsageError(err)
		}
		if err := apiproxy.Loopback(o.Listen); err != nil && !o.Everywhere {
			return exit.UsageError(fmt.Errorf("%w; in a container, whose network is its own, --everywhere lets it be any", err))
		}
		unmet, err := k.Serve(c.Context(), o, serving, func(s live.Served) error { return showServed(e, s, json) })
		if err != nil {
			return err
		}
		return unmetFaults(e, unmet)
	}
	return c
}

// showServed says how clients get at a cloud, or that its files are good.
func showServed(e *console.Console, s live.Served, asJSON bool) error {
	switch {
	case s.Closer == nil:
		fmt.Fprintln(e.Stdout, s.Says)
	case asJSON:
		variables := map[string]string{}
		for _, v := range s.Environment {
			name, value, _ := strings.Cut(v, "=")
			variables[name] = value
		}
		return e.JSON(map[string]any{"endpoint": s.Endpoint, "environment": variables})
	default:
		text := s.Says
		if len(s.Environment) > 0 {
			text += "\n\n  export " + strings.Join(s.Environment, "\n  export ")
		}
		fmt.Fprintf(e.Stdout, "%s\n\nCtrl-C ends it.\n", text)
	}
	return nil
}

func unmetFaults(e *console.Console, unmet []string) error {
	for _, name := range unmet {
		e.Say("fault %q made no difference", name)
	}
	if len(unmet) > 0 {
		return &exit.Error{Code: exit.Inconclusive, Awaited: true}
	}
	return nil
}
