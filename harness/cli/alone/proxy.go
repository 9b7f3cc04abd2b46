package alone

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/apiproxy"
	"nodestorm/reports/timeline"
	"nodestorm/reports/wording"
	"nodestorm/sim/history"
	"nodestorm/sim/oneline"
)

var _ = Commands.Add(console.Standalone, newProxy)

func newProxy(e *console.Console) *cobra.Command {
	var o proxyOptions
	c := &cobra.Command{
		Use:   "proxy",
		Short: "Inject faults between one client and any API server",
		Long: `Put a fault proxy between one client and any API server. It writes a kubeconfig
with the client's own credentials that goes through the proxy, prints what its
rules do, and ends with Ctrl-C. Status 3: a rule made no difference.`,
		Example: `  nodestorm proxy --rules rules.yaml --check
  nodestorm proxy --kubeconfig ~/.kube/autoscaler --rules rules.yaml \
    --out-file proxied.kubeconfig`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return serveProxy(e, c, o) },
	}
	c.Flags().StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `FILE` of the client")
	c.Flags().StringVar(&o.Writer, "writer-kubeconfig", "", "kubeconfig `FILE` for the rules otherWriter and staleList; default: the client's")
	c.Flags().StringVar(&o.Rules, "rules", "", "`FILE` with the rules: nodestorm help rules")
	c.Flags().BoolVar(&o.check, "check", false, "check the rules, with --kubeconfig also against the API server, and end")
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`ADDRESS` on loopback to listen on; port 0 is a free one")
	c.Flags().StringVar(&o.out, "out-file", "", "`FILE` for the kubeconfig through the proxy; default: a temporary one")
	e.RenamedFlag(c, "out", "out-file")
	return c
}

type proxyOptions struct {
	apiproxy.Files
	listen, out string
	check       bool
}

func serveProxy(e *console.Console, c *cobra.Command, o proxyOptions) (err error) {
	if o.Rules == "" {
		return exit.UsageError(errors.New("--rules is missing: name a file with the rules"))
	}
	o.ReadRules = console.ReadFile
	way, err := o.Read()
	switch {
	case err != nil:
		return exit.UsageError(err)
	case o.Kubeconfig == "" && !o.check:
		return exit.UsageError(errors.New("--kubeconfig is missing: whose calls are to go through the proxy? With --check it is not needed"))
	case o.Kubeconfig == "":
		fmt.Fprintf(e.Stdout, "%d rule(s) good; what CRDs there are only a cluster knows: --kubeconfig FILE\n", len(way.Rules))
		return nil
	case o.check:
		fmt.Fprintf(e.Stdout, "%d rule(s) good, and %s serves what they are about\n", len(way.Rules), way.Client.Host)
		return nil
	}
	p, err := way.Start(o.listen, o.out)
	if err != nil {
		return exit.UsageError(err)
	}
	defer func() {
		if closed := p.Close(); err == nil {
			err = closed
		}
	}()
	fmt.Fprintf(e.Stdout, "%s is %s with faults. Use it with\n\n  export KUBECONFIG=%s\n\nCtrl-C ends it.\n", p.URL(), way.Client.Host,
		oneline.Command(p.Kubeconfig))
	printUntilDone(e, c.Context(), p)
	if p.Err() != nil {
		return p.Err()
	}
	if unmet := p.Unmet(); len(unmet) > 0 {
		for _, rule := range unmet {
			e.Say("rule %q made no difference: it took %s", rule.Name, wording.Counted(rule.Matched, "call"))
		}
		return &exit.Error{Code: exit.Inconclusive, Awaited: true}
	}
	return nil
}

// printUntilDone prints what the rules do until Ctrl-C or the proxy's own end.
func printUntilDone(e *console.Console, ctx context.Context, p *apiproxy.Proxy) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	for seq := uint64(0); ; seq++ {
		r, err := p.History.WaitAfter(ctx, seq, func(history.Entry) bool { return true })
		if err != nil {
			return
		}
		_ = timeline.Write(e.Stdout, []history.Entry{r})
	}
}
