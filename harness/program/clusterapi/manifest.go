package clusterapi

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

//go:embed crds.yaml
var crds []byte

// render is `kustomize build dir`, with the variables that are given and the defaults
// of the others, as clusterctl installs a release.
func render(dir string, given map[string]string) ([]*unstructured.Unstructured, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	unknown := maps.Clone(given)
	text = variable.ReplaceAllFunc(text, func(found []byte) []byte {
		m := variable.FindSubmatch(found)
		value, ok := given[string(m[1])]
		if !ok {
			return m[2]
		}
		delete(unknown, string(m[1]))
		return []byte(value)
	})
	for name := range unknown {
		return nil, fmt.Errorf("it has no variable %s", name)
	}
	return manifest.Decode(text)
}

// variable is one of a release's, with its default: ${EXP_MACHINE_POOL:=true}.
var variable = regexp.MustCompile(`\$\{([A-Z0-9_]+):=([^}]*)\}`)

// TaintPropagation are the variables by which a release has machines taint their nodes.
var TaintPropagation = map[string]string{"EXP_MACHINE_TAINT_PROPAGATION": "true"}

// checkVersion reports whether a release serves the API version by which an autoscaler's
// environment has it ask for MachineDeployments.
func checkVersion(release builds.Target, env []manifest.Variable) error {
	for _, v := range env {
		var want []string
		switch v.Name {
		case "CAPI_GROUP":
			want = []string{core}
		case "CAPI_VERSION":
			served, err := versions(release)
			if err != nil {
				return err
			}
			want = served
		}
		if want != nil && v.Value != "" && !slices.Contains(want, v.Value) {
			return fmt.Errorf("%s: %s does not serve %q: want %s", v.Name, release.Ref, v.Value, strings.Join(want, " or "))
		}
	}
	return nil
}

// versions are those in which a release serves MachineDeployments.
func versions(release builds.Target) (served []string, err error) {
	of, err := versionsOf(release, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
	if err != nil {
		return nil, err
	}
	if served = of["machinedeployments."+core]; len(served) == 0 {
		return nil, fmt.Errorf("the kustomization of %s has no MachineDeployments", release.Ref)
	}
	return served, nil
}

// kustomization is the folder of a release's.
func kustomization(release builds.Target) string {
	own := release.Asset(builds.Core + "/config/default")
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return release.Asset("config/default")
}

// containerArgs are the arguments of the Deployment's first container.
func containerArgs(o *unstructured.Unstructured) ([]string, error) {
	c, err := deploy.Container(o)
	if err == nil && len(c.Args) == 0 {
		err = errors.New("its container has no arguments")
	}
	return c.Args, err
}

// outsideArgs leaves out what a process outside a pod cannot do: elect a leader in
// the pod's namespace, and serve on the pod's ports.
func outsideArgs(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--leader-elect" || name == "--diagnostics-address"
	})
}

// awaitCRDs waits until the API server serves what the CRDs define.
func (a *ClusterAPI) awaitCRDs(ctx context.Context, objects []*unstructured.Unstructured) error {
	waitFor, err := deploy.CRDs(objects)
	if err != nil {
		return err
	}
	ctx, cancel := a.cfg.World.Alive(ctx)
	defer cancel(nil)
	// It knows no context: it is asked in short turns.
	options := envtest.CRDInstallOptions{MaxTime: 2 * time.Second, PollInterval: 10 * time.Millisecond}
	for end := time.Now().Add(time.Minute); ; {
		err := envtest.WaitForCRDs(a.cfg.Management.Admin(), waitFor, options)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for CRDs: %w", context.Cause(ctx))
		case time.Now().After(end):
			return err
		}
	}
}
