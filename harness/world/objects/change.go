package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
)

// Ref names an object as a command line does: a kind in any of its names, with its group
// after a dot where two groups have it, a namespace unless it is "default", and a name.
type Ref struct{ Kind, Namespace, Name string }

// ParseRef reads KIND/NAME or KIND/NAMESPACE/NAME.
func ParseRef(text string) (Ref, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Ref{}, fmt.Errorf("%q names no object: want KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web", text)
	}
	r := Ref{Kind: parts[0], Name: parts[len(parts)-1]}
	if len(parts) == 3 {
		r.Namespace = parts[1]
	}
	return r, nil
}

func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// called reports whether a resource has the kind as one of its names.
func (r resource) called(kind string) bool {
	kind, group, grouped := strings.Cut(strings.ToLower(kind), ".")
	return (!grouped || group == r.GroupVersionResource.Group) &&
		(kind == strings.ToLower(r.Kind) || kind == r.Name || kind == r.SingularName || slices.Contains(r.ShortNames, kind))
}

// find finds what a reference's kind is. Of two groups that have it, Kubernetes' core wins.
func (c *Client) find(kind string) (found resource, err error) {
	all, err := c.served()
	if err != nil {
		return found, err
	}
	var groups []string
	for _, r := range all {
		if !r.preferred || !r.called(kind) {
			continue
		}
		if r.GroupVersionResource.Group == "" {
			return r, nil
		}
		found = r
		groups = append(groups, r.Kind+"."+r.GroupVersionResource.Group)
	}
	switch len(groups) {
	case 0:
		return found, fmt.Errorf("the world's API server has no kind %s", kind)
	case 1:
		return found, nil
	}
	return found, fmt.Errorf("the kind %s is of several groups: say one of %s", kind, strings.Join(groups, ", "))
}

// withObject does something to an object; the error names it.
func (c *Client) withObject(r Ref, what string, do func(resource, dynamic.ResourceInterface) error) error {
	found, err := c.find(r.Kind)
	if err == nil {
		var where dynamic.ResourceInterface
		if where, err = c.resourceIn(found, r.Namespace); err == nil {
			err = do(found, where)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, r, err)
	}
	return nil
}

// Delete deletes an object and does not wait until it is gone. By force, a pod ends
// without its grace period.
func (c *Client) Delete(ctx context.Context, r Ref, force bool) error {
	options := metav1.DeleteOptions{}
	background := metav1.DeletePropagationBackground
	options.PropagationPolicy = &background
	if force {
		options.GracePeriodSeconds = new(int64)
	}
	return c.withObject(r, "deleting", func(_ resource, where dynamic.ResourceInterface) error { return where.Delete(ctx, r.Name, options) })
}

// Evict asks for a pod's eviction, which a PodDisruptionBudget may refuse.
func (c *Client) Evict(ctx context.Context, r Ref) error {
	return c.withObject(r, "evicting", func(found resource, where dynamic.ResourceInterface) error {
		if !slices.Contains(found.parts, "eviction") {
			return fmt.Errorf("%s cannot be evicted: pods can", found.Name)
		}
		namespace := cmp.Or(r.Namespace, metav1.NamespaceDefault)
		_, err := where.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": r.Name, "namespace": namespace},
		}}, metav1.CreateOptions{}, "eviction")
		return err
	})
}

// Get is an object as it is stored.
func (c *Client) Get(ctx context.Context, r Ref) (o *unstructured.Unstructured, err error) {
	err = c.withObject(r, "looking for", func(_ resource, where dynamic.ResourceInterface) error {
		o, err = where.Get(ctx, r.Name, metav1.GetOptions{})
		return err
	})
	return o, err
}

// Patch changes an object as the text in YAML says, as `kubectl patch` does: a list of
// operations is a JSON patch; anything else is merged, in kinds of Kubernetes' own by what
// their lists are keyed by.
func (c *Client) Patch(ctx context.Context, r Ref, text []byte) error {
	return c.withObject(r, "patching", func(found resource, where dynamic.ResourceInterface) error {
		body, err := ReadPatch(text)
		if err != nil {
			return err
		}
		kind := types.MergePatchType
		switch {
		case body[0] == '[':
			kind = types.JSONPatchType
		case known.Recognizes(found.GroupVersion().WithKind(found.Kind)) && found.Kind != "CustomResourceDefinition":
			kind = types.StrategicMergePatchType
		}
		return patch(ctx, where, r.Name, kind, body)
	})
}

// ReadPatch reads what to change.
func ReadPatch(text []byte) ([]byte, error) {
	body, err := JSON(text)
	switch {
	case err != nil:
		return nil, err
	case body[0] == '{' && string(body) != "{}":
		return body, nil
	case body[0] != '[':
		return nil, errors.New("it is no patch: want fields to change, such as spec: {replicas: 3}, or a list of operations with op and path")
	}
	var operations []struct {
		Op   string `json:"op"`
		Path string `json:"path"`
	}
	if err := json.Unmarshal(body, &operations); err != nil || len(operations) == 0 {
		return nil, errors.New("it is no patch: want operations with op and path")
	}
	allowed := []string{"add", "remove", "replace", "move", "copy", "test"}
	for i, o := range operations {
		if !slices.Contains(allowed, o.Op) || !strings.HasPrefix(o.Path, "/") {
			return nil, fmt.Errorf("operation %d: op %q, path %q: want one of %s, and a path that begins with /", i+1, o.Op, o.Path,
				strings.Join(allowed, ", "))
		}
	}
	return body, nil
}

func patch(ctx context.Context, where dynamic.ResourceInterface, name string, kind types.PatchType, body []byte, parts ...string) error {
	_, err := where.Patch(ctx, name, kind, body, metav1.PatchOptions{FieldManager: Actor, FieldValidation: metav1.FieldValidationStrict},
		parts...)
	return err
}

// Scale says how many replicas an object is to have, by the part of it that is for that.
func (c *Client) Scale(ctx context.Context, r Ref, replicas int) error {
	return c.withObject(r, "scaling", func(found resource, where dynamic.ResourceInterface) error {
		if !slices.Contains(found.parts, "scale") {
			return fmt.Errorf("%s have no scale", found.Name)
		}
		return patch(ctx, where, r.Name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), "scale")
	})
}

// Mark sets a label or an annotation, or removes it.
func (c *Client) Mark(ctx context.Context, r Ref, field string, m Mark) error {
	return c.withObject(r, "changing the "+field+" of", func(_ resource, where dynamic.ResourceInterface) error {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{field: map[string]any{m.Key: m.value()}}})
		if err != nil {
			return err
		}
		return patch(ctx, where, r.Name, types.MergePatchType, body)
	})
}

// The fields that Mark sets.
const (
	Labels      = "labels"
	Annotations = "annotations"
)

// Mark is a label or an annotation.
type Mark struct {
	Key, Value string
	Removed    bool
}

func (m Mark) value() any {
	if m.Removed {
		return nil
	}
	return m.Value
}

// ParseMark reads KEY=VALUE, or KEY- for its removal, as kubectl does.
func ParseMark(field, text string) (Mark, error) {
	key, value, set := strings.Cut(text, "=")
	m := Mark{Key: key, Value: value}
	if !set {
		m.Key, m.Removed = strings.CutSuffix(text, "-")
	}
	if !set && !m.Removed {
		return m, fmt.Errorf("%q: want KEY=VALUE, or KEY- to remove it", text)
	}
	problems := validation.IsQualifiedName(m.Key)
	if len(problems) == 0 && field == Labels {
		problems = validation.IsValidLabelValue(m.Value)
	}
	if len(problems) > 0 {
		return m, fmt.Errorf("%q: %s", text, problems[0])
	}
	return m, nil
}
