package stored_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"nodestorm/harness/night/shard"
	"nodestorm/harness/run"
	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

var update = flag.Bool("update", false, "write the words anew")

// fixed are words of Kubernetes that no type has, and users that stand for any user.
const fixed = `
	admin authenticated bootstrap bootstrappers cloud cluster-admin clusters container controller controllers default docker etcd
	github gitlab-runner harness healthz host jenkins kube kube-node-lease kube-public kube-system kubeadm kubernetes kubernetes-admin
	livez machine master masters metrics node node-controller nobody nodestorm openapi pod readyz root runner scheduler service
	serviceaccount simulated system target unauthenticated user version watch world zone
	create delete deletecollection get list patch update watch apply approve bind escalate impersonate proxy
	api apis k8s io sigs x-k8s example com io localhost cluster local svc dev
	added modified deleted error warning info normal true false null
	auto real kind sim reproduced healthy failed inconclusive expected passed skipped undefined pending ambiguous given when then`

// name is what a user or a machine may be called.
var name = regexp.MustCompile(`^[a-z][a-z0-9-]+$`)

// TestWords has the redactor leave alone what the files of a run are written in.
func TestWords(t *testing.T) {
	words := map[string]bool{}
	add := func(all ...string) {
		for _, word := range all {
			for _, part := range append(strings.FieldsFunc(word, func(r rune) bool { return r == '.' || r == '/' || r == ':' }), word) {
				if name.MatchString(part) {
					words[part] = true
				}
			}
		}
	}
	add(strings.Fields(fixed)...)
	seen := map[reflect.Type]bool{}
	for gvk, of := range scheme.Scheme.AllKnownTypes() {
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		add(gvk.Group, gvk.Version, plural.Resource, singular.Resource)
		fields(of, seen, add)
	}
	for _, of := range []any{apiextensionsv1.CustomResourceDefinition{}, run.Run{}, history.Entry{}, shard.Kept{}} {
		fields(reflect.TypeOf(of), seen, add)
	}
	for _, source := range history.Sources() {
		add(string(source))
		add(vocabulary.Actors(source)...)
		add(vocabulary.Details(source)...)
	}
	add(history.FaultVerbs()...)
	for _, r := range vocabulary.Resources() {
		add(r.Name, r.Word)
	}
	add(vocabulary.Subresources()...)
	want := strings.Join(slices.Sorted(maps.Keys(words)), "\n") + "\n"
	file := filepath.Join("..", "..", "..", "reports", "redact", "words.txt")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != want {
		t.Errorf("%s is not what Kubernetes, runs and histories are written in, %v: go test ./harness/run/stored -run TestWords -update", file, err)
	}
}

// fields adds the names that a type's fields have in JSON, and those below it.
func fields(of reflect.Type, seen map[reflect.Type]bool, add func(...string)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Array || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return
	}
	seen[of] = true
	for _, f := range reflect.VisibleFields(of) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		add(tag)
		fields(f.Type, seen, add)
	}
}
