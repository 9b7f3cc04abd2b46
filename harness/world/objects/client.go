package objects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"nodestorm/sim/history"
	"nodestorm/sim/machine/workload"
)

// Actor is the actor of its calls in the history. The API server's audit log has the
// rest of the user agent, too: it is no kubectl.
const (
	Actor = history.People
	agent = Actor + "/nodestorm"
)

// Client is a user with all rights on one cluster.
type Client struct {
	asks     discovery.DiscoveryInterface
	does     dynamic.Interface
	typed    kubernetes.Interface
	workload *workload.Demand
}

// NewClient makes a client of a user who may do everything.
func NewClient(user *rest.Config) (*Client, error) {
	user = rest.CopyConfig(user)
	user.UserAgent, user.QPS = agent, -1
	asks, err := discovery.NewDiscoveryClientForConfig(user)
	if err != nil {
		return nil, err
	}
	does, err := dynamic.NewForConfig(user)
	if err != nil {
		return nil, err
	}
	typed, err := kubernetes.NewForConfig(user)
	if err != nil {
		return nil, err
	}
	return &Client{asks: asks, does: does, typed: typed, workload: workload.New(typed)}, nil
}

// resource is one that the API server serves.
type resource struct {
	schema.GroupVersionResource
	metav1.APIResource
	preferred bool // the version
	parts     []string
}

// served asks what the API server serves now, CRDs included.
func (c *Client) served() (all []resource, err error) {
	groups, lists, err := c.asks.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // one group's server may be down
		return nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	preferred := map[string]bool{}
	for _, g := range groups {
		preferred[g.PreferredVersion.GroupVersion] = true
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		first := len(all)
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				all = append(all, resource{GroupVersionResource: gv.WithResource(r.Name), APIResource: r, preferred: preferred[list.GroupVersion]})
			}
		}
		for _, r := range list.APIResources {
			of, part, is := strings.Cut(r.Name, "/")
			if i := slices.IndexFunc(all[first:], func(r resource) bool { return r.Name == of }); is && i >= 0 {
				all[first+i].parts = append(all[first+i].parts, part)
			}
		}
	}
	return all, nil
}

// resourceOf finds the resource of an object's kind.
func resourceOf(all []resource, gvk schema.GroupVersionKind) (resource, error) {
	var versions []string
	for _, r := range all {
		if r.Kind != gvk.Kind || r.GroupVersionResource.Group != gvk.Group {
			continue
		}
		if r.GroupVersionResource.Version == gvk.Version {
			return r, nil
		}
		versions = append(versions, r.GroupVersion().String())
	}
	if len(versions) > 0 {
		return resource{}, fmt.Errorf("the world's API server has no %s of %s; it has %s", gvk.Kind, gvk.GroupVersion(),
			strings.Join(versions, ", "))
	}
	return resource{}, fmt.Errorf("the world's API server has no kind %s of %s: create its CustomResourceDefinition before", gvk.Kind,
		gvk.GroupVersion())
}

// resourceIn is where an object is, or belongs.
func (c *Client) resourceIn(r resource, namespace string) (dynamic.ResourceInterface, error) {
	switch {
	case r.Namespaced && namespace == "":
		return c.does.Resource(r.GroupVersionResource).Namespace(metav1.NamespaceDefault), nil
	case r.Namespaced:
		return c.does.Resource(r.GroupVersionResource).Namespace(namespace), nil
	case namespace != "":
		return nil, fmt.Errorf("%s are in no namespace, and it is said to be in %q", r.Name, namespace)
	}
	return c.does.Resource(r.GroupVersionResource), nil
}

// PutMode says what becomes of objects.
type PutMode int

// Create fails where there is one already; Apply makes of it what the text says, and
// takes over what others have set.
const (
	Create PutMode = iota
	Apply
)

// Put creates or applies objects in their order, and namespaces that are missing. That
// the API server serves all their kinds is made sure before the first; it stops at the
// first that is refused.
func (c *Client) Put(ctx context.Context, objects []Object, how PutMode) error {
	all, err := c.served()
	if err != nil {
		return err
	}
	defined := map[schema.GroupKind]bool{}
	for _, o := range objects {
		if of, is := o.Defines(); is {
			defined[of] = true
		}
	}
	for _, o := range objects {
		if _, err := resourceOf(all, o.GroupVersionKind()); err != nil && !defined[o.GroupVersionKind().GroupKind()] {
			return fmt.Errorf("document %d: %w", o.Document, err)
		}
	}
	for _, o := range objects {
		r, err := resourceOf(all, o.GroupVersionKind())
		if err != nil { // its definition was created since
			if all, err = c.served(); err == nil {
				r, err = resourceOf(all, o.GroupVersionKind())
			}
		}
		if err == nil {
			err = c.put(ctx, r, o, how)
		}
		if err != nil {
			return fmt.Errorf("document %d: %s: %w", o.Document, o, err)
		}
	}
	return nil
}

func (c *Client) put(ctx context.Context, r resource, o Object, how PutMode) error {
	where, err := c.resourceIn(r, o.GetNamespace())
	if err != nil {
		return err
	}
	if r.Namespaced {
		if err := c.workload.EnsureNamespace(ctx, cmp.Or(o.GetNamespace(), metav1.NamespaceDefault)); err != nil {
			return err
		}
	}
	switch {
	case how == Create:
		_, err = where.Create(ctx, o.Unstructured, metav1.CreateOptions{FieldManager: Actor, FieldValidation: metav1.FieldValidationStrict})
	case o.GetName() == "":
		err = errors.New("metadata.name is missing: what is applied needs it")
	default:
		var text []byte
		if text, err = o.MarshalJSON(); err == nil {
			force := true
			_, err = where.Patch(ctx, o.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: Actor, Force: &force,
				FieldValidation: metav1.FieldValidationStrict})
		}
	}
	if err != nil {
		return err
	}
	if r.Kind == "Namespace" && r.GroupVersionResource.Group == "" { // with its service account
		return c.workload.EnsureNamespace(ctx, o.GetName())
	}
	if of, is := o.Defines(); is {
		return c.established(ctx, where, o.GetName(), of)
	}
	return nil
}

// Refused reports whether an error is the API server's answer that it does not take an object as it is: by the kind's
// definition, an admission plugin, a webhook or a policy. That one is there already, or not there, is another matter.
func Refused(err error) bool {
	// mutant: any error is a refusal
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsInternalError(err)
}

// established waits, in real time, until the API server serves what a CRD defines, and lists it, which is a little later.
func (c *Client) established(ctx context.Context, where dynamic.ResourceInterface, name string, of schema.GroupKind) error {
	last := "nothing"
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		crd, err := where.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			last = fmt.Sprint(condition["type"], "=", condition["status"], " ", condition["message"])
			if condition["type"] == "Established" && condition["status"] == "True" {
				all, err := c.served()
				return slices.ContainsFunc(all, func(r resource) bool {
					return r.Kind == of.Kind && r.GroupVersionResource.Group == of.Group
				}), err
			}
			if condition["type"] == "NamesAccepted" && condition["status"] == "False" {
				return false, fmt.Errorf("its names are not accepted: %v", condition["message"])
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until it is served (%s): %w", last, err)
	}
	return nil
}

// SetStatus writes the status that the objects' text has, as the controller would that
// looks after them elsewhere.
func (c *Client) SetStatus(ctx context.Context, objects []Object) error {
	all, err := c.served()
	if err != nil {
		return err
	}
	for _, o := range objects {
		status, has := o.Object["status"]
		if !has {
			continue
		}
		fail := func(err error) error {
			return fmt.Errorf("document %d: writing the status of %s: %w", o.Document, o, err)
		}
		r, err := resourceOf(all, o.GroupVersionKind())
		if err != nil {
			return fail(err)
		}
		if !slices.Contains(r.parts, "status") {
			return fail(fmt.Errorf("%s have no status of their own", r.Name))
		}
		where, err := c.resourceIn(r, o.GetNamespace())
		if err != nil {
			return fail(err)
		}
		text, err := json.Marshal(map[string]any{"status": status})
		if err == nil {
			_, err = where.Patch(ctx, o.GetName(), types.MergePatchType, text, metav1.PatchOptions{FieldManager: Actor,
				FieldValidation: metav1.FieldValidationStrict}, "status")
		}
		if err != nil {
			return fail(err)
		}
	}
	return nil
}
