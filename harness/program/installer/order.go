// Package installer replays the order in which an installer brings up a cluster's
// add-ons: a short list of steps, as data. Two releases of one installer then differ
// by their lists alone.
//
//	source: where the order is documented
//	steps:
//	  - label:   {nodes: [cp-1], labels: {node-role.kubernetes.io/control-plane: ""}}
//	  - taint:   {nodes: [cp-1], taints: ["node-role.kubernetes.io/control-plane:NoSchedule"]}
//	  - apply:   approver.yaml
//	  - rollout: {kind: Deployment, namespace: kube-system, name: approver, timeout: 5m}
//
// Steps run one after the other; the first that fails ends the order, as it ends a
// play of Ansible's or a script with set -e. Each is recorded with source "harness",
// actor "order", the verb apply, rollout, label or taint, and in its detail the number
// of the step, whether it failed, and why.
//
// It runs no installer: what else that does on machines is the scenario's business.
package installer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"nodestorm/harness/program/manifest"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// DefaultTimeout is how long a rollout is waited for where the step does not say:
// that of helm install --wait.
const DefaultTimeout = 5 * time.Minute

// maxSize bounds an order and each of its manifests, in bytes.
const maxSize = 1 << 20

// Order is a list of steps that has been found to be possible.
type Order struct {
	// Source is where the order is documented, for people.
	Source string `json:"source"`
	// Steps run one after the other; the first that fails ends the order. Required.
	Steps []Step `json:"steps"`
}

// Step is one of the four: the others are empty.
type Step struct {
	// Apply names a manifest, a file in the order's folder or below.
	Apply   string   `json:"apply,omitempty"`
	Rollout *Rollout `json:"rollout,omitempty"` // Rollout waits until a workload that was applied before has all its pods.
	Label   *Label   `json:"label,omitempty"`   // Label sets labels of Nodes.
	Taint   *Taint   `json:"taint,omitempty"`   // Taint taints Nodes.

	objects []*unstructured.Unstructured
	text    []byte // of Apply
}

// Rollout waits until a workload that an earlier step applied has all its pods.
type Rollout struct {
	Kind      string `json:"kind"`                // Kind is that of the workload. Required.
	Namespace string `json:"namespace,omitempty"` // Namespace is that of the workload; default without it.
	Name      string `json:"name"`                // Name is that of the workload. Required.
	// Timeout is how long it waits, such as "2m"; 5m without it.
	Timeout string `json:"timeout,omitempty"`

	timeout time.Duration
}

// Label sets labels of Nodes.
type Label struct {
	Nodes  []string          `json:"nodes"`  // Nodes are the names of the Nodes. Required.
	Labels map[string]string `json:"labels"` // Labels are set, with their values. Required.
}

// Taint taints Nodes, with key[=value]:effect.
type Taint struct {
	Nodes  []string `json:"nodes"`  // Nodes are the names of the Nodes. Required.
	Taints []string `json:"taints"` // Taints are added, each KEY[=VALUE]:EFFECT. Required.

	taints []corev1.Taint
}

// Kinds are what a rollout can be of.
var Kinds = []string{"Deployment", "DaemonSet", "StatefulSet"}

// Parse reads an order whose manifests are files of fsys, and makes sure that it can
// be replayed: each step is one thing, each manifest is there and readable, and what is
// waited for has been applied before. Errors are one line and name the step.
func Parse(text []byte, fsys fs.FS) (*Order, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("more than %d KiB: want an order", maxSize>>10)
	}
	var o Order
	if err := strict.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	if len(o.Steps) == 0 {
		return nil, errors.New("steps is missing")
	}
	applied := map[string]bool{}
	for i := range o.Steps {
		if err := o.Steps[i].check(fsys, applied); err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return &o, nil
}

func (s *Step) check(fsys fs.FS, applied map[string]bool) error {
	given := 0
	for _, is := range []bool{s.Apply != "", s.Rollout != nil, s.Label != nil, s.Taint != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("%d of apply, rollout, label and taint: want one", given)
	case s.Rollout != nil:
		return s.Rollout.check(applied)
	case s.Label != nil:
		return s.Label.check()
	case s.Taint != nil:
		return s.Taint.check()
	}
	if err := s.load(fsys); err != nil {
		return fmt.Errorf("apply: %s: %w", s.Apply, err)
	}
	for _, object := range s.objects {
		applied[key(object.GetKind(), object.GetNamespace(), object.GetName())] = true
	}
	return nil
}

// load reads the manifest.
func (s *Step) load(fsys fs.FS) error {
	if !fs.ValidPath(s.Apply) || path.Clean(s.Apply) != s.Apply {
		return errors.New("want the name of a file in the order's folder or below")
	}
	f, err := fsys.Open(s.Apply)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return err
	}
	if len(text) > maxSize {
		return fmt.Errorf("more than %d KiB: want a manifest", maxSize>>10)
	}
	s.text = text
	if s.objects, err = manifest.Decode(text); err != nil {
		return oneline.Error(err)
	}
	if len(s.objects) == 0 {
		return errors.New("it has no object")
	}
	for _, object := range s.objects {
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			return fmt.Errorf("object %q lacks one of apiVersion, kind and metadata.name", object.GetKind()+" "+object.GetName())
		}
	}
	return nil
}

func (r *Rollout) check(applied map[string]bool) (err error) {
	if !slices.Contains(Kinds, r.Kind) {
		return fmt.Errorf("rollout.kind: unknown value %q (allowed: %s)", r.Kind, strings.Join(Kinds, ", "))
	}
	r.timeout = DefaultTimeout
	if r.Timeout != "" {
		if r.timeout, err = time.ParseDuration(r.Timeout); err != nil || r.timeout <= 0 {
			return fmt.Errorf("rollout.timeout: %q is no duration above zero such as 5m", r.Timeout)
		}
	}
	// mutant: a rollout is waited for that was not applied
	if !applied[key(r.Kind, r.Namespace, r.Name)] {
		return fmt.Errorf("it waits for %s, which no step before it applies: put the step that applies it first", r)
	}
	return nil
}

func (r *Rollout) String() string {
	return fmt.Sprintf("%s %s/%s", r.Kind, namespaceOf(r.Namespace), r.Name)
}

func (l *Label) check() error {
	if len(l.Nodes) == 0 || len(l.Labels) == 0 {
		return errors.New("label: want nodes and labels")
	}
	for key, value := range l.Labels {
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			return fmt.Errorf("label %.80q: %s", key+"="+value, problems[0])
		}
	}
	return nil
}

func (t *Taint) check() error {
	if len(t.Nodes) == 0 || len(t.Taints) == 0 {
		return errors.New("taint: want nodes and taints")
	}
	for _, text := range t.Taints {
		taint, err := cloudinit.ParseTaint(text)
		if err != nil {
			return err
		}
		t.taints = append(t.taints, taint)
	}
	return nil
}

func key(kind, namespace, name string) string {
	return kind + " " + namespaceOf(namespace) + "/" + name
}

func namespaceOf(namespace string) string {
	if namespace == "" {
		return corev1.NamespaceDefault
	}
	return namespace
}
