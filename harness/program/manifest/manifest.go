// Package manifest takes what a user runs out of a Kubernetes manifest: plain
// YAML with any number of documents, also as Helm renders it. Of one Deployment
// it gives the container's command and arguments, its environment with config
// maps, secrets and field references filled in, its mounted files, and the
// service account with its RBAC.
//
// It starts nothing and asks no cluster: what a Deployment refers to has to be in
// the same file. Errors are one line that names the file, the document, the field
// and what is allowed there; they never quote a value.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// maxSize bounds a manifest, in bytes. Etcd takes no object above 1.5 MiB.
const maxSize = 16 << 20

// Options say what to look for.
type Options struct {
	// Program is what the container runs: a Deployment counts if the base name of
	// a container's image or of its command is this. Required.
	Program string
	// Provided names environment variables that the world sets, HCLOUD_TOKEN for
	// one: a secret or config map that only they refer to need not be in the file.
	Provided []string
}

// Container is a container as a kubelet would start it.
type Container struct {
	// Source is the file and the document, for errors.
	Source string
	// Command and Args replace the image's where they are not empty. $(NAME) is
	// filled in.
	Command, Args []string
	// Memory is the limit, in bytes; 0: none. Only a container can have it.
	Memory int64
	Env    []Variable // in the order of the manifest
	Mounts []Mount
	// Namespace and ServiceAccount are the pod's: "default" where none is given.
	Namespace, ServiceAccount string
	// RBAC are the file's ServiceAccounts, Roles, ClusterRoles and their bindings.
	RBAC []*unstructured.Unstructured
}

// Variable is one of the environment. Secret says that its value must not be seen.
type Variable struct {
	Name, Value string
	Secret      bool
}

// Mount is a folder, or a single file, of a volume.
type Mount struct {
	Path string // in the container
	// Files by their path below Path; "" is the mount itself, of a subPath.
	Files  map[string][]byte
	Secret bool
}

// Load reads a manifest.
func Load(file string, opts Options) (*Container, error) {
	text, err := strict.ReadFile(file, maxSize)
	if err != nil {
		return nil, strict.WithHint(err, "name a manifest with the autoscaler's Deployment")
	}
	c, err := Parse(text, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.Source = file + ": " + c.Source
	return c, nil
}

// Parse is Load for text that is there already; errors begin with the document.
func Parse(text []byte, opts Options) (*Container, error) {
	objects, err := read(text)
	if err != nil {
		return nil, err
	}
	found, err := objects.choose(opts.Program)
	if err != nil {
		return nil, err
	}
	r := resolver{objects: objects, opts: opts, workload: found}
	return r.resolve()
}

// document is one object of the file.
type document struct {
	number int // from 1
	*unstructured.Unstructured
}

func (d document) String() string {
	name := d.GetName()
	if d.GetNamespace() != "" {
		name = d.GetNamespace() + "/" + name
	}
	return fmt.Sprintf("document %d (%s %s)", d.number, d.GetKind(), name)
}

// objects are all of a file, with the configuration by kind and name.
type objects struct {
	all        []document
	configMaps map[string]*corev1.ConfigMap // by namespace/name
	secrets    map[string]*corev1.Secret
}

func read(text []byte) (*objects, error) {
	o := &objects{configMaps: map[string]*corev1.ConfigMap{}, secrets: map[string]*corev1.Secret{}}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for number := 1; ; number++ {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, oneline.Error(err))
		}
		object := &unstructured.Unstructured{}
		if err := utilyaml.Unmarshal(text, &object.Object); err != nil {
			return nil, fmt.Errorf("document %d: %w", number, oneline.Error(err))
		}
		if len(object.Object) == 0 {
			continue // only comments, as Helm leaves them
		}
		if err := o.add(document{number, object}); err != nil {
			return nil, err
		}
	}
	if len(o.all) == 0 {
		return nil, errors.New("it has no object: want the YAML of a Deployment")
	}
	return o, nil
}

func (o *objects) add(d document) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if value, ok := d.Object[field].(string); !ok || value == "" {
			return fmt.Errorf("document %d: field %s is missing: want an object of Kubernetes", d.number, field)
		}
	}
	if d.IsList() {
		list, err := d.ToList()
		if err != nil {
			return fmt.Errorf("%s: %w", d, oneline.Error(err))
		}
		for i := range list.Items {
			if err := o.add(document{d.number, &list.Items[i]}); err != nil {
				return err
			}
		}
		return nil
	}
	o.all = append(o.all, d)
	switch key := namespaceOf(d.GetNamespace()) + "/" + d.GetName(); d.GetKind() {
	case "ConfigMap":
		o.configMaps[key] = &corev1.ConfigMap{}
		return convert(d, o.configMaps[key])
	case "Secret":
		o.secrets[key] = &corev1.Secret{}
		return convert(d, o.secrets[key])
	}
	return nil
}

// workload is the Deployment and the container that were chosen.
type workload struct {
	document
	deployment appsv1.Deployment
	container  *corev1.Container
	index      int
}

// choose finds the one container that runs the program.
func (o *objects) choose(program string) (*workload, error) {
	var found []*workload
	var others []string
	for _, d := range o.all {
		if d.GetKind() != "Deployment" {
			continue
		}
		w := &workload{document: d}
		if err := convert(d, &w.deployment); err != nil {
			return nil, err
		}
		containers := w.deployment.Spec.Template.Spec.Containers
		i := slices.IndexFunc(containers, func(c corev1.Container) bool { return runs(c, program) })
		if i < 0 {
			others = append(others, d.GetName())
			continue
		}
		w.container, w.index = &containers[i], i
		found = append(found, w)
	}
	switch {
	case len(found) > 1:
		return nil, fmt.Errorf("%s and %s both run %s: want one Deployment that does", found[0].document, found[1].document, program)
	case len(found) == 1:
		return found[0], nil
	case len(others) > 0:
		return nil, fmt.Errorf("no Deployment runs %s (there are %s): want one whose image or command is called that", program,
			strings.Join(others, ", "))
	}
	return nil, fmt.Errorf("it has no Deployment, only %s: want one that runs %s", o.kinds(), program)
}

// runs reports whether a container's command, or else its image, is the program.
// An image may have a prefix and a suffix, as in cluster-autoscaler-amd64.
func runs(c corev1.Container, program string) bool {
	if len(c.Command) > 0 && path.Base(c.Command[0]) == program {
		return true
	}
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	return strings.Contains(image, program)
}

func (o *objects) kinds() string {
	var kinds []string
	for _, d := range o.all {
		kinds = append(kinds, d.GetKind())
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), ", ")
}

func namespaceOf(namespace string) string {
	if namespace == "" {
		return corev1.NamespaceDefault
	}
	return namespace
}
