package objects

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, resourceVersion: "7", uid: x}
spec:
  containers: [{name: web, image: web, resources: {requests: {cpu: 500m}}}]
`

func TestRead(t *testing.T) {
	all, err := Read([]byte("# only a comment\n---" + pod + "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: x.example/v1, kind: Thing, metadata: {generateName: b-}}\n"))
	if err != nil || len(all) != 3 {
		t.Fatalf("%d objects: %v", len(all), err)
	}
	for i, want := range []string{`Pod "shop/web"`, `ConfigMap "a"`, `Thing "b-"`} {
		if all[i].String() != want {
			t.Errorf("object %d is %s, want %s", i, all[i], want)
		}
		if err := all[i].Check(); err != nil {
			t.Errorf("%s: %v", all[i], err)
		}
	}
	if all[0].GetResourceVersion() != "" || all[0].GetUID() != "" {
		t.Errorf("what only a server writes is there: %v", all[0].Object["metadata"])
	}
	if all[0].Document != 2 || all[2].Document != 3 {
		t.Errorf("documents %d, %d, want 2, 3", all[0].Document, all[2].Document)
	}
}

// Each text is wrong, and the error is one line that says where and what.
func TestReadRefuses(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	for what, test := range map[string]struct{ text, want string }{
		"nothing":        {"# nothing\n", "it has no object"},
		"no YAML":        {"apiVersion: [\n", "document 1: "},
		"a list":         {"- a\n", "it is no object"},
		"no kind":        {"apiVersion: v1\n", "kind is missing"},
		"no name":        {"apiVersion: v1\nkind: Pod\n", "metadata.name of the Pod is missing"},
		"twice":          {"apiVersion: v1\nkind: Pod\nkind: Node\nmetadata: {name: a}\n", "kind"},
		"a bomb":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" + bomb, "alias"},
		"a deep one":     {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "levels deep"},
		"bad version":    {"apiVersion: a/b/c\nkind: Pod\nmetadata: {name: a}\n", "want VERSION or GROUP/VERSION"},
		"second of them": {pod + "---\nkind: Pod\n", "document 2: apiVersion is missing"},
	} {
		_, err := Read([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", what, err, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}", "unknown kind Deploymnet of apps/v1 (it has ControllerRevision, DaemonSet, Deployment,"},
		{"apiVersion: v1\nkind: Deployment\nmetadata: {name: a}", "did you mean Deployment of apps/v1"},
		{"apiVersion: apps/v7\nkind: Deployment\nmetadata: {name: a}", "apps/v7 has no kind Deployment; it is of apps/v1"},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodename: b}", `unknown field "spec.nodename"`},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, resources: {requests: {cpu: lots}}}]}", "quantities must match"},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: 3}", "cannot unmarshal number"},
	} {
		all, err := Read([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := all[0].Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Ref{
		"Deployment/web":         {"Deployment", "", "web"},
		"deploy/shop/web":        {"deploy", "shop", "web"},
		"machine.cluster.x/a/b":  {"machine.cluster.x", "a", "b"},
		"web":                    {},
		"Deployment/":            {},
		"Deployment/a/b/c":       {},
		"Deployment//web":        {},
		"PodDisruptionBudget/x1": {"PodDisruptionBudget", "", "x1"},
	} {
		got, err := ParseRef(text)
		if err == nil && got != want || (err != nil) != (want == Ref{}) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]bool{"a=b": true, "a=": true, "a-": true, "x.y/a=b": true, "a": false, "=b": false, "a b=c": false} {
		if _, err := ParseMark(Labels, text); (err == nil) != want {
			t.Errorf("label %q: %v", text, err)
		}
	}
	for text, want := range map[string]bool{
		"spec: {replicas: 3}": true, "[{op: remove, path: /spec/x}]": true,
		"": false, "{}": false, "3": false, "[]": false, "[{op: drop, path: /spec}]": false, "[{op: add, path: spec}]": false,
	} {
		if _, err := ReadPatch([]byte(text)); (err == nil) != want {
			t.Errorf("patch %q: %v", text, err)
		}
	}
}

// An answer that refuses an object as it is differs from one about which objects there are, and from none.
func TestRefused(t *testing.T) {
	things := schema.GroupResource{Group: "example.com", Resource: "things"}
	for err, want := range map[error]bool{
		apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "a", nil):            true,
		apierrors.NewForbidden(things, "a", errors.New("a webhook denied it")):     true,
		apierrors.NewBadRequest("strict decoding error"):                           true,
		apierrors.NewInternalError(errors.New("failed calling webhook")):           true,
		apierrors.NewAlreadyExists(things, "a"):                                    false,
		apierrors.NewNotFound(things, "a"):                                         false,
		apierrors.NewServiceUnavailable("starting"):                                false,
		fmt.Errorf("a: %w", apierrors.NewConflict(things, "a", errors.New("old"))): false,
		errors.New("connection refused"):                                           false,
	} {
		if got := Refused(fmt.Errorf("document 1: %w", err)); got != want {
			t.Errorf("%v: refused %t, want %t", err, got, want)
		}
	}
}
