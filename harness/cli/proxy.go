package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/process"
	"nodestorm/reports"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
)

func (e *env) proxy() *cobra.Command {
	var o proxyOptions
	c := &cobra.Command{
		Use:   "proxy",
		Short: "Put a fault proxy between one client and any API server",
		Long: `Put a fault proxy between one client and any API server. It writes a kubeconfig
with the client's own credentials that goes through the proxy, prints what its
rules do, and ends with Ctrl-C. Status 3: a rule made no difference.`,
		Example: `  nodestorm proxy --rules rules.yaml --check
  nodestorm proxy --kubeconfig ~/.kube/autoscaler --rules rules.yaml --out proxied.kubeconfig`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return e.serveProxy(c, o) },
	}
	c.Flags().StringVar(&o.kubeconfig, "kubeconfig", "", "`file` with the client's way to the API server; its current context counts")
	c.Flags().StringVar(&o.writer, "writer-kubeconfig", "", "`file` of whom the rules otherWriter and staleList call as; empty: the client")
	c.Flags().StringVar(&o.rules, "rules", "", "`file` with the rules: nodestorm help rules")
	c.Flags().BoolVar(&o.check, "check", false, "check the rules, with --kubeconfig against what the API server serves, and end")
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` on loopback to listen on; port 0 is a free one")
	c.Flags().StringVar(&o.out, "out", "", "`file` for the kubeconfig that goes through the proxy; empty: a temporary one")
	return c
}

type proxyOptions struct {
	kubeconfig, writer, rules, listen, out string
	check                                  bool
}

func (e *env) serveProxy(c *cobra.Command, o proxyOptions) (err error) {
	if o.rules == "" {
		return usage(errors.New("--rules is missing: name a file with the rules"))
	}
	text, err := readFile(o.rules)
	if err != nil {
		return usage(fmt.Errorf("--rules: %w", err))
	}
	rules, err := apifault.Load(text)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", o.rules, err))
	}
	if o.kubeconfig == "" {
		if !o.check {
			return usage(errors.New("--kubeconfig is missing: whose calls are to go through the proxy? With --check it is not needed"))
		}
		fmt.Fprintf(e.stdout, "%d rule(s) good; what CRDs there are only a cluster knows: --kubeconfig FILE\n", len(rules))
		return nil
	}
	client, raw, err := readKubeconfig(o.kubeconfig)
	if err != nil {
		return usage(fmt.Errorf("--kubeconfig: %w", err))
	}
	writer := client
	if o.writer != "" {
		if writer, _, err = readKubeconfig(o.writer); err != nil {
			return usage(fmt.Errorf("--writer-kubeconfig: %w", err))
		}
	}
	asking := rest.CopyConfig(client)
	asking.Timeout = 10 * time.Second
	served, err := discovery.NewDiscoveryClientForConfig(asking)
	if err == nil {
		err = apifault.CheckResources(served, rules)
	}
	if err != nil {
		return usage(fmt.Errorf("%s, %s: %w", o.kubeconfig, o.rules, err))
	}
	if o.check {
		fmt.Fprintf(e.stdout, "%d rule(s) good, and %s serves what they are about\n", len(rules), client.Host)
		return nil
	}
	if err := loopback(o.listen); err != nil {
		return usage(err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(apifault.GCPercent)
	}
	log := history.New(time.Time{}, clock.RealClock{})
	p, err := apifault.Start(apifault.Config{Client: client, Writer: writer, History: log, Listen: o.listen}, rules...)
	if err != nil {
		return usage(err)
	}
	defer func() {
		if closed := p.Close(); err == nil {
			err = closed
		}
	}()
	path, remove, err := writeProxied(p, *raw, o.out)
	if err != nil {
		return usage(err)
	}
	defer func() {
		if removed := remove(); err == nil {
			err = removed
		}
	}()
	fmt.Fprintf(e.stdout, "%s is %s with faults. Use it with\n\n  export KUBECONFIG=%s\n\nCtrl-C ends it.\n", p.URL(), client.Host, path)
	e.printUntilDone(c.Context(), p, log)
	if p.Err() != nil {
		return p.Err()
	}
	if unmet := p.Unmet(); len(unmet) > 0 {
		for _, rule := range unmet {
			e.say("rule %q made no difference: it took %s", rule.Name, counted(rule.Matched, "call"))
		}
		return &exit.Error{Code: Inconclusive, Awaited: true}
	}
	return nil
}

// readKubeconfig reads one file, and no other: what KUBECONFIG names is not meant.
func readKubeconfig(path string) (*rest.Config, *clientcmdapi.Config, error) {
	raw, err := clientcmd.LoadFromFile(path)
	switch {
	case errors.As(err, new(*os.PathError)): // it names the file
		return nil, nil, err
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := clientcmd.ResolveLocalPaths(raw); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*raw, nil).ClientConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, raw, nil
}

// loopback refuses addresses that others could reach: whoever reaches the proxy
// can make its rules act.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %s: want an address on loopback, such as 127.0.0.1:0", address)
	}
	return nil
}

// proxyPrefix begins the names of proxies' temporary folders.
const proxyPrefix = "nodestorm-proxy-"

// writeProxied writes the kubeconfig for the client, readable by the user only: it has
// the client's own credentials. remove ends one that nobody has named; a guard does,
// when we are killed.
func writeProxied(p *apifault.Proxy, raw clientcmdapi.Config, path string) (_ string, remove func() error, err error) {
	text, err := p.Kubeconfig(raw)
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", proxyPrefix)
		if err != nil {
			return "", nil, err
		}
		guard, err := process.NewGuard(dir)
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		path, remove = filepath.Join(dir, "kubeconfig"), guard.Close
	}
	if err := writePrivate(path, text); err != nil {
		return "", nil, errors.Join(fmt.Errorf("--out: %w", err), remove())
	}
	return path, remove, nil
}

// writePrivate writes a file whole or not at all, for the user only: also one that
// others could read so far.
func writePrivate(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// printUntilDone prints what the rules do until Ctrl-C or the proxy's own end.
func (e *env) printUntilDone(ctx context.Context, p *apifault.Proxy, log *history.Log) {
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
		r, err := log.WaitAfter(ctx, seq, func(history.Record) bool { return true })
		if err != nil {
			return
		}
		_ = reports.Timeline(e.stdout, []history.Record{r})
	}
}
