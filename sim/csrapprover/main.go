// Command csr-approver approves the requests of kubelets for serving certificates
// (signer kubernetes.io/kubelet-serving), which kube-controller-manager signs and
// nobody approves by itself, once they pass the checks that such approvers document;
// it denies the others, with the reason.
//
// It takes the parameters of the released kubelet-csr-approver as far as it goes, as
// flags or environment variables (--provider-regex is PROVIDER_REGEX), so that either
// can stand in for the other.
//
// It is a module of its own, so that Kubernetes' dependencies stay as the release
// names them, and it imports nothing of nodestorm.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	s, err := read(os.Args[1:], os.Getenv)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = s.serve(ctx)
	}
	if err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Cannot go on")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

// settings are what the flags and the environment say.
type settings struct {
	kubeconfig string
	health     string
	policy     policy
}

// read takes flags, and for those that are not given the environment.
func read(args []string, env func(string) string) (settings, error) {
	flags := flag.NewFlagSet("csr-approver", flag.ContinueOnError)
	var s settings
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`file`; empty: the pod's own service account")
	flags.StringVar(&s.health, "health-probe-bind-address", ":8081", "`address` that answers /healthz; 0: none")
	names := flags.String("provider-regex", ".*", "what DNS names must match")
	prefixes := flags.String("provider-ip-prefixes", "0.0.0.0/0,::/0", "`prefixes` that IP addresses must be in, with commas")
	flags.IntVar(&s.policy.maxNames, "allowed-dns-names", 1, "how many DNS names a request may have")
	seconds := flags.Int("max-expiration-sec", 367*24*3600, "longest life of a certificate, in seconds")
	noLookup := flags.Bool("bypass-dns-resolution", false, "do not resolve DNS names")
	flags.BoolVar(&s.policy.anyName, "bypass-hostname-check", false, "let DNS names differ from the Node's name")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("argument %q: want flags only", flags.Arg(0))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var errs []error
	flags.VisitAll(func(f *flag.Flag) {
		name := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value := env(name); value != "" && !given[f.Name] && f.Name != "kubeconfig" {
			if err := f.Value.Set(value); err != nil {
				errs = append(errs, fmt.Errorf("%s=%q: %w", name, value, err))
			}
		}
	})
	var err error
	if s.policy.names, err = regexp.Compile(*names); err != nil {
		errs = append(errs, fmt.Errorf("--provider-regex: %w", err))
	}
	for _, text := range strings.Split(*prefixes, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			errs = append(errs, fmt.Errorf("--provider-ip-prefixes: %w", err))
		}
		s.policy.prefixes = append(s.policy.prefixes, prefix)
	}
	if *seconds <= 0 || s.policy.maxNames < 0 {
		errs = append(errs, fmt.Errorf("--max-expiration-sec=%d, --allowed-dns-names=%d: want more than zero, and zero or more", *seconds,
			s.policy.maxNames))
	}
	s.policy.maxExpiration = time.Duration(*seconds) * time.Second
	if !*noLookup {
		s.policy.lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	return s, errors.Join(errs...)
}

func (s settings) serve(ctx context.Context) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	cfg.UserAgent = "csr-approver"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	var ready atomic.Bool
	if s.health != "0" {
		l, err := net.Listen("tcp", s.health)
		if err != nil {
			return err
		}
		server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !ready.Load() {
				http.Error(w, "not ready yet", http.StatusServiceUnavailable)
			}
		})}
		defer server.Close()
		go func() { _ = server.Serve(l) }() // it ends with Close
	}
	return run(ctx, client, s.policy, func() { ready.Store(true) })
}
