package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/manifest"
)

// Chart is `helm template release --namespace namespace` of the chart in a folder, with these values over its own. Objects come in
// the order of the files that they are in.
func Chart(dir, release, namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		more, err := manifest.Decode([]byte(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}
