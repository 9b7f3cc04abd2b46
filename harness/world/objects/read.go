// Package objects takes Kubernetes objects of any kind, as people write them in YAML, to
// a cluster: created, applied, patched, scaled, deleted, in the way of kubectl, whose name
// the calls have in the history.
//
// What is wrong with the text is found before anything starts, as far as the text and
// Kubernetes' own types say. What the object means is the API server's to say.
package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	sigsjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"

	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// What one text may hold: a feature is small, and anybody may have written it.
const (
	mostObjects = 5000
	mostValues  = 500_000 // with what its aliases stand for
	mostDepth   = 100
)

// Object is one of a text.
type Object struct {
	*unstructured.Unstructured
	Document int // from 1
}

func (o Object) String() string {
	name := o.GetName()
	if name == "" {
		name = o.GetGenerateName()
	}
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return fmt.Sprintf("%s %q", o.GetKind(), name)
}

// Read reads YAML or JSON with any number of documents, and the items of lists. The
// fields of an object's metadata that only a server writes, as in what `kubectl get -o
// yaml` prints, are left out.
func Read(text []byte) (all []Object, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			all, err = add(all, document, number)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, oneline.YAML(err))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no object")
	}
	return all, nil
}

// add adds the objects of a document, of which a comment alone has none.
func add(all []Object, document []byte, number int) ([]Object, error) {
	text, err := JSON(document)
	if err != nil || string(text) == "null" {
		return all, err
	}
	if text[0] != '{' {
		return nil, errors.New("it is no object: want apiVersion, kind, metadata and so on")
	}
	top := &unstructured.Unstructured{}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &top.Object); err != nil {
		return nil, err
	}
	items := []*unstructured.Unstructured{top}
	if top.IsList() && strings.HasSuffix(top.GetKind(), "List") {
		items = nil
		err := top.EachListItem(func(item runtime.Object) error {
			items = append(items, item.(*unstructured.Unstructured))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, item := range items {
		if err := form(item); err != nil {
			return nil, err
		}
		if len(all) == mostObjects {
			return nil, fmt.Errorf("it has more than %d objects", mostObjects)
		}
		for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "selfLink"} {
			unstructured.RemoveNestedField(item.Object, "metadata", field)
		}
		all = append(all, Object{item, number})
	}
	return all, nil
}

// form finds what every object has to have.
func form(o *unstructured.Unstructured) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _, err := unstructured.NestedString(o.Object, field); err != nil || s == "" {
			return fmt.Errorf("%s is missing: every object has apiVersion, kind and metadata.name", field)
		}
	}
	if _, err := schema.ParseGroupVersion(o.GetAPIVersion()); err != nil {
		return fmt.Errorf("apiVersion: %q: want VERSION or GROUP/VERSION, such as apps/v1", o.GetAPIVersion())
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return fmt.Errorf("metadata.name of the %s is missing", o.GetKind())
	}
	return nil
}

// JSON is a document of YAML or JSON as JSON, if it is not larger than it looks.
func JSON(document []byte) ([]byte, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(document, &node); err != nil {
		return nil, oneline.YAML(err)
	}
	left := mostValues
	if err := bounded(&node, &left, mostDepth); err != nil {
		return nil, err
	}
	text, err := sigsyaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, oneline.YAML(err)
	}
	return bytes.TrimSpace(text), nil
}

func bounded(n *yaml.Node, left *int, depth int) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if *left--; *left < 0 {
		return fmt.Errorf("with what its aliases stand for it has more than %d values", mostValues)
	}
	if depth == 0 {
		return fmt.Errorf("line %d: it is nested more than %d levels deep", n.Line, mostDepth)
	}
	for _, child := range n.Content {
		if err := bounded(child, left, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// known are the types that Kubernetes brings along.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = scheme.AddToScheme(s) // neither has anything that could fail
	_ = apiextensionsv1.AddToScheme(s)
	return s
}()

// Check compares an object of Kubernetes' own with its type: kinds, fields and what their
// values look like. Of others it knows nothing.
func (o Object) Check() error {
	gvk := o.GroupVersionKind()
	if known.IsGroupRegistered(gvk.Group) || slices.Contains(vocabulary.CustomGroups(), gvk.Group) { // what others call so has other values
		if err := valuesOf(o.Document, o.Object); err != nil {
			return err
		}
	}
	return o.compare(true)
}

// CheckNames is Check for an object that the API server may refuse: kinds and fields are compared, and no values.
func (o Object) CheckNames() error { return o.compare(false) }

// compare compares an object with its type.
func (o Object) compare(values bool) error {
	gvk := o.GroupVersionKind()
	if !known.IsGroupRegistered(gvk.Group) {
		return o.checkCustom()
	}
	typed, err := known.New(gvk)
	if err != nil {
		return fmt.Errorf("document %d: %w", o.Document, unknownKind(gvk))
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(`"$now"`), []byte(`"2006-01-02T15:04:05Z"`)) // what a step fills in
	problems, err := sigsjson.UnmarshalStrict(text, typed)
	if err != nil && values {
		problems = []error{oneline.YAML(err)}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("document %d: %s: %w", o.Document, o, problems[0])
}

// checkCustom finds slips in what a custom object is called: scenarios may define kinds of their own in any group.
func (o Object) checkCustom() error {
	gvk := o.GroupVersionKind()
	groups := vocabulary.CustomGroups()
	for of := range known.AllKnownTypes() {
		groups = append(groups, of.Group)
	}
	// mutant: any group is one
	if near := strict.NearestName(gvk.Group, groups); near != "" {
		return fmt.Errorf("document %d: unknown API group %q, did you mean %q?", o.Document, gvk.Group, near)
	}
	kinds := vocabulary.CustomKinds(gvk.Group)
	// mutant: any kind is one of a custom group
	if near := strict.NearestName(gvk.Kind, kinds); near != "" {
		return fmt.Errorf("document %d: unknown kind %s of %s, did you mean %s?", o.Document, gvk.Kind, gvk.GroupVersion(), near)
	}
	if len(kinds) > 0 {
		return slipIn(o.Document, o.Object)
	}
	return nil
}

// named are the fields below which keys are names and no fields. Tags are those of AWS, such as Name.
var named = strings.Fields("labels annotations matchLabels limits tags")

// slipIn finds a field that no type of Kubernetes has and that is spelled almost like one that some type has.
func slipIn(document int, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if slices.Contains(named, key) || strings.HasSuffix(key, "Selector") {
				continue
			}
			// mutant: a custom object has any field
			if near := strict.Nearest(key, fieldNames()); near != "" && !slices.Contains(customFields, key) {
				return fmt.Errorf("document %d: unknown field %q, did you mean %q?", document, key, near)
			}
			if err := slipIn(document, value[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range value {
			if err := slipIn(document, item); err != nil {
				return err
			}
		}
	}
	return nil
}

// customFields are those of Karpenter's, its AWS provider's and Cluster API's objects that no type of Kubernetes has.
var customFields = strings.Fields(`
	nodeClassRef requirements disruption consolidationPolicy consolidateAfter budgets expireAfter minValues startupTaints
	reasons clusterName machineTemplate infrastructureRef dataSecretName providerID failureDomain remediation maxInFlight
	unhealthyConditions maxUnhealthy nodeStartupTimeout remediationTemplate nodeDrainTimeout nodeVolumeDetachTimeout
	nodeDeletionTimeout propagation rollout strategy deletePolicy deletion order bootstrap controlPlaneRef amiFamily
	amiSelectorTerms subnetSelectorTerms securityGroupSelectorTerms capacityReservationSelectorTerms alias tags userData
	blockDeviceMappings instanceProfile instanceStorePolicy associatePublicIPAddress metadataOptions detailedMonitoring
	kubelet
`)

// fieldNames are the fields of all types of Kubernetes, and those of custom objects.
var fieldNames = sync.OnceValue(func() []string {
	names := slices.Clone(customFields)
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
			visit(f.Type)
		}
	}
	for _, group := range []string{"", "apps"} {
		for _, t := range known.KnownTypes(schema.GroupVersion{Group: group, Version: "v1"}) {
			visit(t)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// unknownKind says what is meant, as far as that can be guessed.
func unknownKind(gvk schema.GroupVersionKind) error {
	var versions []string
	for _, v := range known.PrioritizedVersionsForGroup(gvk.Group) {
		if known.Recognizes(v.WithKind(gvk.Kind)) {
			versions = append(versions, v.String())
		}
	}
	if len(versions) > 0 {
		return fmt.Errorf("%s has no kind %s; it is of %s", gvk.GroupVersion(), gvk.Kind, strings.Join(versions, ", "))
	}
	var kinds, other []string
	for of := range known.AllKnownTypes() {
		if strings.EqualFold(of.Kind, gvk.Kind) && of.Version != runtime.APIVersionInternal {
			other = append(other, fmt.Sprintf("%s of %s", of.Kind, of.GroupVersion()))
		}
	}
	if len(other) > 0 {
		slices.Sort(other)
		return fmt.Errorf("unknown kind %s of %s: did you mean %s", gvk.Kind, gvk.GroupVersion(), strings.Join(other, ", "))
	}
	for kind := range known.KnownTypes(gvk.GroupVersion()) {
		if isObject(gvk.GroupVersion().WithKind(kind)) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return fmt.Errorf("unknown apiVersion %s of the kind %s", gvk.GroupVersion(), gvk.Kind)
	}
	slices.Sort(kinds)
	return fmt.Errorf("unknown kind %s of %s (it has %s)", gvk.Kind, gvk.GroupVersion(), strings.Join(kinds, ", "))
}

// isObject reports whether a kind has instances, unlike lists and options.
func isObject(gvk schema.GroupVersionKind) bool {
	o, err := known.New(gvk)
	if err != nil || strings.HasSuffix(gvk.Kind, "List") {
		return false
	}
	_, has := o.(interface{ GetGenerateName() string })
	return has
}

// OwnGroup reports whether an API group is one of Kubernetes' own, which every world has.
func OwnGroup(group string) bool { return known.IsGroupRegistered(group) }

// Defines are the group and kind that the object is the definition of, if it is one.
func (o Object) Defines() (of schema.GroupKind, is bool) {
	if o.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}) {
		return of, false
	}
	of.Group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
	of.Kind, _, _ = unstructured.NestedString(o.Object, "spec", "names", "kind")
	return of, true
}

// OwnKind reports whether a kind is one of Kubernetes' own, in any group.
func OwnKind(kind string) bool {
	for of := range known.AllKnownTypes() {
		if of.Kind == kind && isObject(of) {
			return true
		}
	}
	return false
}

// LikeKind is ", did you mean …?" with the kind that is spelled most like it, or nothing.
func LikeKind(kind string) string {
	var kinds []string
	for of := range known.AllKnownTypes() {
		if isObject(of) {
			kinds = append(kinds, of.Kind)
		}
	}
	return strict.Meant(kind, kinds)
}

// KindOf is what Kubernetes' own objects of a resource are; empty if it knows none.
func KindOf(group, resource string) string {
	for of := range known.AllKnownTypes() {
		if plural, _ := meta.UnsafeGuessKindToResource(of); of.Group == group && plural.Resource == resource && isObject(of) {
			return of.Kind
		}
	}
	return ""
}
