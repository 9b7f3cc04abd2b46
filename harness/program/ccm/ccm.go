// Package ccm runs a cloud controller manager for the Hetzner Cloud in a world:
// nodestorm's own (target.CCM) or the released hcloud-cloud-controller-manager, each with
// the same flags and settings, a service account of its own and the rights that its
// manifests document, no more. It dials the API that it is given.
package ccm

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
)

// Name of the releases, of their service accounts and of their components in the
// world.
const Name = builds.ReleasedCCM

// Config says what the controller manager works with. Endpoint and Token are
// required.
type Config struct {
	// Endpoint is the Hetzner API's base URL: "http://127.0.0.1:4711/v1".
	Endpoint string
	// Token goes into the program's environment and nowhere else.
	Token string
	// Network is the name or ID of the network that servers are in: their internal
	// addresses are those in it. Empty means none.
	Network string
	// ClusterCIDR is what pods' addresses are out of. Routes to them are kept in
	// Network if both are given. The world must have the same ClusterCIDR.
	ClusterCIDR netip.Prefix
	// Env goes over the environment: "HCLOUD_DEBUG=true".
	Env []string
	// Args go over the flags: "--node-monitor-period=2s" (5s), "--v=4".
	Args []string
}

// CCM is a controller manager that can run in a world.
type CCM struct {
	world   *world.World
	target  builds.Target
	account deploy.Account
}

// Install makes the service account with its rights. The controller manager does not
// run yet: see Start.
func Install(ctx context.Context, w *world.World, t builds.Target) (*CCM, error) {
	return install(ctx, w, t, Name)
}

func install(ctx context.Context, w *world.World, t builds.Target, name string) (*CCM, error) {
	c, err := client.New(w.Admin(), client.Options{})
	if err != nil {
		return nil, err
	}
	account := deploy.Account{Namespace: metav1.NamespaceSystem, Name: name}
	if err := deploy.Create(ctx, c, account.Granted("system:"+name, rules())...); err != nil {
		return nil, err
	}
	return &CCM{world: w, target: t, account: account}, nil
}

// rules are what the released manager's manifests give it (deploy/ccm-networks.yaml of
// v1.26 to v1.35). Releases before v1.26 were bound to cluster-admin.
func rules() []rbacv1.PolicyRule {
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	return []rbacv1.PolicyRule{
		rule("", "configmaps", "get", "list", "watch"),
		rule("", "events", "create", "patch", "update"),
		rule("", "nodes", "*"),
		rule("", "nodes/status", "patch"),
		rule("", "services", "list", "watch"),
		rule("", "services/status", "patch", "update"),
		rule("", "serviceaccounts", "create"),
		rule("coordination.k8s.io", "leases", "create", "get", "list", "watch", "update"),
	}
}

// Start runs the controller manager and waits until it is ready. Virtual time passes
// as real time does until then.
func (c *CCM) Start(ctx context.Context, cfg Config) (*process.Process, error) {
	if cfg.Endpoint == "" || cfg.Token == "" {
		return nil, errors.New("starting the cloud controller manager: want an Endpoint and a Token")
	}
	args := []string{
		"--allow-untagged-cloud", // as the released manifests say
		"--webhook-secure-port=0",
		fmt.Sprintf("--allocate-node-cidrs=%t", cfg.routes()),
		fmt.Sprintf("--configure-cloud-routes=%t", cfg.routes()),
	}
	if cfg.routes() {
		args = append(args, "--cluster-cidr="+cfg.ClusterCIDR.String(), "--route-reconciliation-period=30s")
	}
	return c.start(ctx, "hcloud", append(cfg.environment(), cfg.Env...), append(args, cfg.Args...))
}

// start runs the controller manager of a cloud provider.
func (c *CCM) start(ctx context.Context, provider string, env, args []string) (*process.Process, error) {
	way, err := c.account.Reach(c.world.Cluster, false, nil)
	if err != nil {
		return nil, err
	}
	port, err := world.FreePort()
	if err != nil {
		return nil, err
	}
	common := []string{
		"--cloud-provider=" + provider,
		"--leader-elect=false", // there is only one
		"--kubeconfig=" + way.Kubeconfig,
		"--authentication-kubeconfig=" + way.Kubeconfig,
		"--authorization-kubeconfig=" + way.Kubeconfig,
		"--authentication-skip-lookup", // nothing but us asks it
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--profiling=false",
	}
	return c.world.StartComponent(ctx, container.Program(c.world, c.target, container.Settings{}, process.Spec{
		Name:  c.account.Name,
		Env:   env,
		Args:  append(common, args...),
		Ready: world.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	}))
}

func (c Config) routes() bool { return c.Network != "" && c.ClusterCIDR.IsValid() }

func (c Config) environment() []string {
	return []string{
		"HCLOUD_ENDPOINT=" + c.Endpoint,
		"HCLOUD_TOKEN=" + c.Token,
		"HCLOUD_NETWORK=" + c.Network,
		fmt.Sprintf("HCLOUD_NETWORK_ROUTES_ENABLED=%t", c.routes()),
		// Nodes are simulated: there is no metadata service that knows where the program runs.
		"HCLOUD_NETWORK_DISABLE_ATTACHED_CHECK=true",
		// The released manager would listen on a fixed port.
		"HCLOUD_METRICS_ENABLED=false",
		"HCLOUD_LOAD_BALANCERS_ENABLED=false",
	}
}
