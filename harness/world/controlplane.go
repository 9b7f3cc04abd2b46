package world

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/mod/semver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"nodestorm/harness/world/process"
	"nodestorm/harness/world/tunnel"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/pki"
)

// controlPlaneStart bounds the start of a program, in real time. A control plane takes
// seconds alone, and took more than a minute with 48 programs waiting for two processors.
const controlPlaneStart = 3 * time.Minute

// local is a control plane of programs on loopback: etcd, kube-apiserver and the
// controllers.
type local struct {
	Site
	ca       *authority     // of its clients, and of kube-apiserver for them
	tokenKey string         // file of the key that signs service accounts' tokens
	tunnel   *tunnel.Tunnel // to kubelets; nil without
	// flags are those that kube-apiserver of any release is started with.
	flags map[string][]string
	admin *rest.Config

	dialStore func(context.Context) (net.Conn, error) // to etcd
}

// startLocal is the way of [Config] without Start.
func startLocal(ctx context.Context, at Site) (ControlPlane, error) {
	c := &local{Site: at}
	controllers := controllerManager
	if at.Name == "" { // the world's own
		controllers += " and " + scheduler
	}
	for _, part := range []struct {
		what  string
		start func(context.Context) error
	}{
		{"starting etcd and kube-apiserver", c.startAPIServer},
		{"starting " + controllers, c.startControllers},
	} {
		at.World.cfg.Progress(part.what)
		if err := part.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return c, nil
}

// Admin is made with the control plane.
func (c *local) Admin() *rest.Config { return c.admin }

// User has a certificate of the control plane's CA.
func (c *local) User(name string, groups ...string) (*rest.Config, error) {
	return c.userAt(c.admin.Host, name, groups...)
}

func (c *local) userAt(url, name string, groups ...string) (*rest.Config, error) {
	pair, err := c.ca.Issue(name, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: url, QPS: 1000, Burst: 2000,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.Cert, CertData: pair.Cert, KeyData: pair.Key},
	}, nil
}

// ClientCA is made with the control plane.
func (c *local) ClientCA() ([]byte, error) { return c.ca.Cert, nil }

// Reach is about nodes' addresses: kube-apiserver itself is on our loopback.
func (c *local) Reach(port int) (forget func()) {
	if c.tunnel == nil {
		return func() {}
	}
	return c.tunnel.Open(port)
}

// program is what a program of the cluster is called in the world.
func (c *local) program(name string) string {
	if c.Name == "" {
		return name
	}
	return c.Name + "-" + name
}

// startAPIServer starts etcd and kube-apiserver. That gets no proxy, which it would ask
// for nodes too.
func (c *local) startAPIServer(ctx context.Context) error {
	w := c.World
	certs := filepath.Join(c.Dir, apiServer)
	if err := os.Mkdir(certs, 0o700); err != nil {
		return err
	}
	etcd, err := c.etcd()
	if err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	url := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if c.flags, err = c.apiServerFlags(certs, url); err != nil {
		return err
	}
	c.flags["secure-port"] = []string{strconv.Itoa(port)}
	if c.admin, err = c.userAt(url, "admin", "system:masters"); err != nil {
		return fmt.Errorf("making user %q: %w", "admin", err)
	}
	c.admin.QPS = -1 // no limit
	asking := rest.CopyConfig(c.admin)
	asking.Timeout = 2 * time.Second
	client, err := rest.HTTPClientFor(asking)
	if err != nil {
		return err
	}
	path, launch := w.controlPlaneProgram(apiServer)
	err = w.startTogether(ctx, etcd, component{Spec: process.Spec{
		Name: c.program(apiServer),
		Path: path, Launch: launch,
		Dir:    c.Dir,
		Env:    w.environment(fewerCollections),
		Args:   c.apiServerLine(),
		Stdout: func(line []byte) { _, _ = c.Calls.Write(append(bytes.Clone(line), '\n')) },
		Ready:  healthy(client, url+"/healthz"),
	}})
	if err != nil {
		return err
	}
	return c.awaitNamespace(ctx, metav1.NamespaceDefault)
}

// apiServerFlags makes the cluster's authorities, below certs, and what kube-apiserver at that URL is started with.
func (c *local) apiServerFlags(certs, url string) (flags map[string][]string, err error) {
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, audit.Policy(), 0o600); err != nil {
		return nil, err
	}
	if c.ca, err = newAuthority(certs, "kubernetes"); err != nil {
		return nil, err
	}
	cert, key, err := c.ca.issueFiles("apiserver", apiServer, nil, "127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	tokens, err := pki.NewAuthority("service-accounts", time.Now())
	if err != nil {
		return nil, err
	}
	tokenCert, tokenKey, err := tokens.Write(certs, "service-accounts")
	if err != nil {
		return nil, err
	}
	c.tokenKey = tokenKey
	flags = map[string][]string{
		"bind-address":                     {"127.0.0.1"},
		"advertise-address":                {advertised},
		"cert-dir":                         {certs},
		"tls-cert-file":                    {cert},
		"tls-private-key-file":             {key},
		"client-ca-file":                   {c.ca.certFile},
		"service-account-issuer":           {url + "/"},
		"service-account-key-file":         {tokenCert},
		"service-account-signing-key-file": {tokenKey},
		"service-cluster-ip-range":         {"10.0.0.0/24"},
		"allow-privileged":                 {"true"},
		"authorization-mode":               {"RBAC"},
		"audit-policy-file":                {policy},
		"audit-log-path":                   {"-"},
		"profiling":                        {"false"},
		"etcd-servers":                     {etcdURL},
		"runtime-config":                   Served(c.Wishes.Serves...),
	}
	if c.Wishes.Kubelets {
		more, err := c.openToKubelets(certs)
		if err != nil {
			return nil, err
		}
		maps.Copy(flags, more)
	}
	return flags, nil
}

// apiServerLine is what kube-apiserver of the world's release is started with.
func (c *local) apiServerLine() []string {
	flags := maps.Clone(c.flags)
	if policies := c.World.Policies(); policies != "" {
		// Targets' packages use the policy to mend what a stand-in for a cloud gets wrong.
		flags["feature-gates"] = []string{"MutatingAdmissionPolicy=true"}
		flags["runtime-config"] = slices.Concat(flags["runtime-config"], Served(policies))
	}
	maps.Copy(flags, c.Wishes.APIServer)
	return commandLine(flags)
}

// commandLine are flags by their names, each as often as it has values.
func commandLine(flags map[string][]string) (line []string) {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		for _, value := range flags[name] {
			line = append(line, "--"+name+"="+value)
		}
	}
	return line
}

// awaitNamespace waits for a namespace that kube-apiserver makes by itself soon
// after it is ready.
func (c *local) awaitNamespace(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	err = c.World.await(ctx, 20*time.Millisecond, controlPlaneStart, func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for namespace %q: %w", name, err)
	}
	return nil
}

// LogFile is where a run keeps what a part of the world says.
func (w *World) LogFile(name string) string { return filepath.Join(w.cfg.Out, "logs", name+".log") }

// advertised is the address of the service "kubernetes", to which nothing in a world connects: one that
// is kept for documents (RFC 5737), as Endpoints may have none of the loopback's. Left to itself
// kube-apiserver takes that of the machine's default route, and ends where there is no route.
const advertised = "198.51.100.1"

const (
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// Policies is where releases from v1.34 on serve MutatingAdmissionPolicy, which targets'
// packages use.
const Policies = "admissionregistration.k8s.io/v1beta1"

// Policies is where the world's API servers serve MutatingAdmissionPolicy; its fields are the
// same everywhere. It is empty for releases that have none.
func (w *World) Policies() string {
	switch v := w.Release().Version; {
	case v == "" || semver.Compare(v, "v1.34.0-0") >= 0:
		return Policies
	case HasPolicies(v):
		return "admissionregistration.k8s.io/v1alpha1"
	}
	return ""
}

// HasPolicies reports whether a release of Kubernetes can serve MutatingAdmissionPolicy.
func HasPolicies(version string) bool { return semver.Compare(version, FirstPolicies+".0-0") >= 0 }

// FirstPolicies is the first minor release with MutatingAdmissionPolicy.
const FirstPolicies = "v1.32"

// Served is the value of kube-apiserver's --runtime-config, for versions of API groups that it
// serves in addition to its defaults.
func Served(versions ...string) (all []string) {
	for _, version := range versions {
		all = append(all, version+"=true")
	}
	return all
}
