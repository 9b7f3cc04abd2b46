// Package clusterautoscaler brings a Cluster Autoscaler build into a world as its
// documentation, or the user's own manifest, would: with the rights of its service
// account, and no more; with the flags that this build knows; and with the
// environment of its cloud provider.
//
// What is wanted is said in an [Intent], which holds for every version. The cloud
// itself is the caller's: it comes in as environment variables.
package clusterautoscaler

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/semver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/reports/redact"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// Name of the program, of its targets, and of its records' actor.
const Name = "cluster-autoscaler"

//go:embed rbac.yaml
var rbac []byte

// Config says what to run. World, Target and Intent are required.
type Config struct {
	World  *world.World
	Target builds.Target
	Intent Intent
	// Env is what the world sets: the cloud's endpoint and token. It wins over
	// the manifest's.
	Env []manifest.Variable
	// Manifest is what the user runs; nil means the documented way. Its mounted
	// files must be placed.
	Manifest *manifest.Container
	// Withheld are API groups on which it gets none of the documented rights: as
	// in a manifest that is older than the build. A manifest's own rights stay.
	Withheld []string
	// Flags are the scenario's, as on a command line. They go over those of the Intent
	// and of the Manifest.
	Flags []string
	// Unlisted are such flags, too, which the build may not know: what it does then is its own.
	Unlisted []string
	// Management has the objects of the cloud provider, where that is Cluster API: the
	// cluster of --cloud-config. Nil is World's own.
	Management *world.Cluster
	// CloudConfig is the file of --cloud-config; empty: what Management asks for, or none.
	CloudConfig string
	// Replicas are how many processes there are; 0: one. More take process.NamesHosts.
	Replicas int
	// Broken says that faults come between the autoscaler and that API server: Rules, and
	// those that its Way gets later.
	Broken bool
	Rules  []fault.Fault
}

// Autoscaler is one build in one world.
type Autoscaler struct {
	deploy.Leader

	cfg      Config
	known    Known
	line     flags // without what the place demands
	settings container.Settings
	env      []manifest.Variable
	account  deploy.Account
	client   client.Client
	rights   []*unstructured.Unstructured // of its account, with it
	ways     flags                        // of the first process to the API servers
	way      *apifault.Proxy

	mu        sync.Mutex
	addresses map[string]string // of the metrics of each process
}

// Install checks that the build can do what is wanted, and gives its service
// account its rights. The autoscaler does not run yet: see Start.
func Install(ctx context.Context, cfg Config) (*Autoscaler, error) {
	a, err := prepare(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if a.client, err = client.New(cfg.World.Admin(), client.Options{}); err != nil {
		return nil, err
	}
	if a.rights, err = a.readRights(); err != nil {
		return nil, err
	}
	return a, deploy.Create(ctx, a.client, append(slices.Clone(a.rights), deploy.Namespace(a.account.Namespace))...)
}

// readRights are what gives its service account its rights: the manifest's, or else the documented ones.
func (a *Autoscaler) readRights() (rights []*unstructured.Unstructured, err error) {
	objects := []*unstructured.Unstructured{}
	if a.cfg.Manifest != nil {
		objects = a.cfg.Manifest.RBAC
	}
	if len(objects) == 0 {
		if objects, err = a.documentedRBAC(); err != nil {
			return nil, err
		}
	}
	for _, o := range objects {
		o = o.DeepCopy()
		if o.GetNamespace() == "" && slices.Contains([]string{"ServiceAccount", "Role", "RoleBinding"}, o.GetKind()) {
			o.SetNamespace(a.account.Namespace)
		}
		rights = append(rights, o)
	}
	return rights, nil
}

// Check finds out whether the build can do what is wanted, before anything
// starts. Of cfg it needs neither World nor Env.
func Check(ctx context.Context, cfg Config) error {
	_, err := prepare(ctx, cfg)
	return err
}

func prepare(ctx context.Context, cfg Config) (*Autoscaler, error) {
	if err := cfg.Intent.Check(); err != nil {
		return nil, err
	}
	a := &Autoscaler{
		Leader: deploy.Leader{World: cfg.World, Program: Name}, cfg: cfg, account: deploy.Account{Namespace: metav1.NamespaceSystem, Name: Name}, addresses: map[string]string{},
	}
	var given flags
	if m := cfg.Manifest; m != nil {
		a.account = deploy.Account{Namespace: m.Namespace, Name: m.ServiceAccount}
		var err error
		if a.settings, given, err = commandOf(m, cfg.Target.Source.Container); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Source, err)
		}
		a.env = append(a.env, m.Env...)
	}
	for _, v := range cfg.Env {
		a.env = slices.DeleteFunc(a.env, func(old manifest.Variable) bool { return old.Name == v.Name })
		a.env = append(a.env, v)
	}
	var err error
	if a.known, err = QueryFlags(ctx, cfg.Target, a.settings); err != nil {
		return nil, err
	}
	if cfg.Manifest != nil {
		if err := a.known.check(given, cfg.Manifest.Source+": command and args"); err != nil {
			return nil, err
		}
	}
	own, err := cfg.ownFlags(cfg.Flags)
	unlisted, other := cfg.ownFlags(cfg.Unlisted)
	if err := errors.Join(err, other); err != nil {
		return nil, fmt.Errorf("the scenario: %w", err)
	}
	stated := cfg.Intent.stated().replace(own)
	if err := a.known.check(stated, "the scenario"); err != nil {
		return nil, err
	}
	a.line = commandLine(a.known, given, stated.replace(unlisted), nil)
	return a, nil
}

// place are the flags that say where the autoscaler is, and on which cloud, which is the
// world's to say.
var place = []string{"cloud-provider", "kubeconfig", "cloud-config", "kubernetes", "namespace", "address", "logtostderr", "v"}

// ownFlags are the scenario's, of a command line.
func (c Config) ownFlags(line []string) (flags, error) {
	f, err := parseFlags(line)
	if err != nil {
		return nil, err
	}
	for _, g := range f {
		switch {
		case slices.Contains(place, g.name):
			return nil, fmt.Errorf("--%s is what the world sets", g.name)
		case g.name == "nodes" && len(c.Intent.Groups) > 0:
			return nil, errors.New("--nodes: the node groups are said already; say all of them here, or none")
		case g.name == "nodes" && typedGroups(c.Intent.Provider):
			if _, err := ParseGroup(g.value); err != nil {
				return nil, fmt.Errorf("--nodes: %w", err)
			}
		}
	}
	return f, nil
}

// typedGroups reports whether --nodes has the types and locations of a cloud's groups.
func typedGroups(provider string) bool {
	c := cloud.Named(provider)
	return c != nil && c.TypedGroups
}

// commandOf is how a manifest's container starts: what comes before the first flag, which only
// a container that runs as one can have, and the flags.
func commandOf(m *manifest.Container, asContainer bool) (container.Settings, flags, error) {
	settings := container.Settings{Memory: m.Memory, Arguments: len(m.Args) > 0}
	args := slices.Concat(m.Command, m.Args)
	switch {
	case asContainer:
		words := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "--" })
		if words < 0 {
			words = len(args)
		} else if args[words] == "-c" {
			return settings, nil, errors.New("command: -c, as of a shell, leaves no place for flags: " +
				"want the program itself, or a script that passes them on")
		}
		if len(m.Command) > 0 {
			// mutant: a Deployment's command goes behind the image's entry point
			settings.Command = args[:words]
		} else {
			settings.Args = args[:words]
		}
		args = args[words:]
	case len(m.Command) > 0:
		if path.Base(m.Command[0]) != Name {
			return settings, nil,
				fmt.Errorf("command: %q is not %s: want the program itself, not a shell, or a target that was added --as container",
					path.Base(m.Command[0]), Name)
		}
		args = args[1:]
	}
	given, err := manifestFlags(m, args)
	return settings, given, err
}

// manifestFlags are the flags of a container's command line.
func manifestFlags(m *manifest.Container, args []string) (flags, error) {
	f, err := parseFlags(args)
	if err != nil {
		return nil, fmt.Errorf("command and args: %w", err)
	}
	for _, g := range f {
		if g.name == "nodes" && typedGroups(m.Provider()) {
			if _, err := ParseGroup(g.value); err != nil {
				return nil, fmt.Errorf("args: --nodes: %w", err)
			}
		}
	}
	return f, nil
}

// documentedRBAC is rbac.yaml for the service account at hand, without what is
// withheld and what later releases ask for.
func (a *Autoscaler) documentedRBAC() ([]*unstructured.Unstructured, error) {
	objects, err := manifest.Decode(rbac)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects"); len(subjects) > 0 {
			subject := map[string]any{"kind": "ServiceAccount", "name": a.account.Name, "namespace": a.account.Namespace}
			if err := unstructured.SetNestedSlice(o.Object, []any{subject}, "subjects"); err != nil {
				return nil, err
			}
		}
		if o.GetKind() == "ServiceAccount" {
			o.SetName(a.account.Name)
		}
		if o.GetNamespace() != "" {
			o.SetNamespace(a.account.Namespace)
		}
	}
	for _, group := range a.cfg.Withheld {
		if !dropRules(objects, func(rule map[string]any) bool {
			groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
			return slices.Contains(groups, group)
		}) {
			return nil, fmt.Errorf("the API group %q cannot be withheld: there are no documented rights on it", group)
		}
	}
	dropRules(objects, func(rule map[string]any) bool {
		since, _ := rule["since"].(string)
		delete(rule, "since") // which is ours
		return older(a.cfg.Target.Version, since)
	})
	return objects, nil
}

// dropRules removes rules of roles, and reports whether there were any such.
func dropRules(objects []*unstructured.Unstructured, drop func(rule map[string]any) bool) (found bool) {
	for _, o := range objects {
		rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
		if rules == nil {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(rules), func(rule any) bool { return drop(rule.(map[string]any)) })
		found = found || len(kept) < len(rules)
		o.Object["rules"] = kept
	}
	return found
}

// older reports whether a version is of a minor release before one. What is no version is not.
func older(version, minor string) bool {
	of := semver.MajorMinor("v" + version)
	// mutant: a release has the rights of those after it
	return minor != "" && of != "" && semver.Compare(of, "v"+minor) < 0
}

// Settings are the command line and the environment, without what must not be
// seen.
func (a *Autoscaler) Settings() []string {
	redact := a.redact()
	var settings []string
	for _, arg := range a.line.args() {
		settings = append(settings, redact.Replace(arg))
	}
	for _, v := range a.env {
		if hidden(v) {
			settings = append(settings, v.Name+"=(hidden)")
			continue
		}
		settings = append(settings, redact.Replace(v.Name+"="+v.Value))
	}
	return settings
}

// hidden reports whether a variable's value must not be seen: of secrets, by their
// source or their name, and of user data, which has the cluster's join token.
func hidden(v manifest.Variable) bool {
	return v.Secret || redact.SecretName(v.Name) || v.Name == "HCLOUD_CLOUD_INIT" || v.Name == "HCLOUD_CLUSTER_CONFIG"
}

// secrets are what must not be seen. Values below 8 bytes would take half of every
// text with them, and are no secrets.
func (a *Autoscaler) secrets() (values []string) {
	for _, v := range a.env {
		if hidden(v) && len(v.Value) >= 8 {
			values = append(values, v.Value)
		}
	}
	return values
}

// redact replaces what must not be seen.
func (a *Autoscaler) redact() *strings.Replacer {
	var pairs []string
	for _, value := range a.secrets() {
		pairs = append(pairs, value, "(hidden)")
	}
	return strings.NewReplacer(pairs...)
}
