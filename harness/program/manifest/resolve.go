package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/oneline"
)

// rbacKinds are what says which rights a service account has.
var rbacKinds = []string{"ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}

// resolver fills in what a container refers to.
type resolver struct {
	*objects
	opts     Options
	workload *workload
	env      []Variable
}

func (r *resolver) resolve() (*Container, error) {
	pod := &r.workload.deployment.Spec.Template.Spec
	c := &Container{Source: r.workload.document.String(), Namespace: r.namespace(), ServiceAccount: pod.ServiceAccountName}
	if c.ServiceAccount == "" {
		c.ServiceAccount = "default"
	}
	if err := r.environment(); err != nil {
		return nil, err
	}
	c.Env = r.env
	// mutant: a Deployment has no memory limit
	c.Memory = r.workload.container.Resources.Limits.Memory().Value()
	c.Command, c.Args = r.expandAll(r.workload.container.Command), r.expandAll(r.workload.container.Args)
	for i, m := range r.workload.container.VolumeMounts {
		mount, ok, err := r.mount(m)
		if err != nil {
			return nil, r.wrong(fmt.Sprintf("volumeMounts[%d]", i), err)
		}
		if ok {
			c.Mounts = append(c.Mounts, mount)
		}
	}
	for _, d := range r.all {
		if slices.Contains(rbacKinds, d.GetKind()) {
			c.RBAC = append(c.RBAC, d.Unstructured)
		}
	}
	return c, nil
}

func (r *resolver) namespace() string { return namespaceOf(r.workload.GetNamespace()) }

// wrong names a field of the container.
func (r *resolver) wrong(field string, err error) error {
	return fmt.Errorf("%s: containers[%d].%s: %w", r.workload.document, r.workload.index, field, err)
}

func (r *resolver) environment() error {
	for i, from := range r.workload.container.EnvFrom {
		if err := r.envFrom(from); err != nil {
			return r.wrong(fmt.Sprintf("envFrom[%d]", i), err)
		}
	}
	for i, v := range r.workload.container.Env {
		variable := Variable{Name: v.Name, Value: r.expand(v.Value)}
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") {
			return r.wrong(fmt.Sprintf("env[%d].name", i), errors.New("want a name without ="))
		}
		if v.ValueFrom != nil {
			var ok bool
			var err error
			variable.Value, variable.Secret, ok, err = r.valueFrom(v)
			if err != nil {
				return r.wrong(fmt.Sprintf("env[%d] (%s)", i, v.Name), err)
			}
			if !ok {
				continue
			}
		}
		if strings.Contains(variable.Value, "\x00") {
			return r.wrong(fmt.Sprintf("env[%d] (%s)", i, v.Name), errors.New("its value has a zero byte: mount it as a file"))
		}
		r.set(variable)
	}
	return nil
}

// set adds a variable; a later one of the same name replaces the earlier.
func (r *resolver) set(v Variable) {
	r.env = slices.DeleteFunc(r.env, func(old Variable) bool { return old.Name == v.Name })
	r.env = append(r.env, v)
}

func (r *resolver) envFrom(from corev1.EnvFromSource) error {
	var data map[string]string
	secret := false
	switch {
	case from.ConfigMapRef != nil:
		m, err := r.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		if err != nil || m == nil {
			return err
		}
		data = m.Data
	case from.SecretRef != nil:
		s, err := r.secret(from.SecretRef.Name, from.SecretRef.Optional)
		if err != nil || s == nil {
			return err
		}
		secret, data = true, map[string]string{}
		for key, value := range secretData(s) {
			data[key] = string(value)
		}
	default:
		return errors.New("want configMapRef or secretRef")
	}
	for _, key := range sortedKeys(data) {
		r.set(Variable{Name: from.Prefix + key, Value: data[key], Secret: secret})
	}
	return nil
}

// valueFrom is a variable's value out of something else; ok is false for one that
// is optional, or the world's to set, and not there.
func (r *resolver) valueFrom(v corev1.EnvVar) (value string, secret, ok bool, err error) {
	from := v.ValueFrom
	switch {
	case from.SecretKeyRef != nil:
		value, ok, err = r.secretKey(from.SecretKeyRef)
		secret = true
	case from.ConfigMapKeyRef != nil:
		value, ok, err = r.configMapKey(from.ConfigMapKeyRef)
	case from.FieldRef != nil:
		value, err = r.field(from.FieldRef.FieldPath)
		ok = true
	case from.ResourceFieldRef != nil:
		return "", false, false, nil // of a container's limits, which a process has not
	default:
		return "", false, false, errors.New("valueFrom: want one of configMapKeyRef, fieldRef, resourceFieldRef, secretKeyRef")
	}
	var missing *missingError
	if errors.As(err, &missing) && slices.Contains(r.opts.Provided, v.Name) {
		return "", secret, false, nil
	}
	return value, secret, ok, err
}

func (r *resolver) secretKey(ref *corev1.SecretKeySelector) (string, bool, error) {
	s, err := r.secret(ref.Name, ref.Optional)
	if err != nil || s == nil {
		return "", false, err
	}
	value, ok := secretData(s)[ref.Key]
	if !ok && !optional(ref.Optional) {
		return "", false, &missingError{fmt.Sprintf("key %q of secret %q", ref.Key, ref.Name), sortedKeys(secretData(s))}
	}
	return string(value), ok, nil
}

func (r *resolver) configMapKey(ref *corev1.ConfigMapKeySelector) (string, bool, error) {
	m, err := r.configMap(ref.Name, ref.Optional)
	if err != nil || m == nil {
		return "", false, err
	}
	value, ok := m.Data[ref.Key]
	if !ok && !optional(ref.Optional) {
		return "", false, &missingError{fmt.Sprintf("key %q of config map %q", ref.Key, ref.Name), sortedKeys(m.Data)}
	}
	return value, ok, nil
}

// field is what a pod would find in its own object.
func (r *resolver) field(path string) (string, error) {
	fields := map[string]string{
		"metadata.namespace":      r.namespace(),
		"metadata.name":           r.workload.GetName() + "-0",
		"metadata.uid":            "00000000-0000-4000-8000-000000000000",
		"spec.serviceAccountName": r.workload.deployment.Spec.Template.Spec.ServiceAccountName,
		"spec.nodeName":           "nodestorm",
		"status.hostIP":           "127.0.0.1",
		"status.podIP":            "127.0.0.1",
	}
	value, ok := fields[path]
	if !ok {
		return "", fmt.Errorf("fieldRef.fieldPath: unknown field %q (allowed: %s)", path, strings.Join(sortedKeys(fields), ", "))
	}
	return value, nil
}

// missingError says that something the container refers to is not in the file.
type missingError struct {
	what  string
	there []string
}

func (e *missingError) Error() string {
	there := "none of its kind"
	if len(e.there) > 0 {
		there = strings.Join(e.there, ", ")
	}
	return fmt.Sprintf("%s is not in the file (there is: %s); add it to the file", e.what, there)
}

func (r *resolver) secret(name string, optionally *bool) (*corev1.Secret, error) {
	return find(r.secrets, "secret", r.namespace(), name, optionally)
}

func (r *resolver) configMap(name string, optionally *bool) (*corev1.ConfigMap, error) {
	return find(r.configMaps, "config map", r.namespace(), name, optionally)
}

// find returns nil for what is optional and not there.
func find[T any](of map[string]*T, kind, namespace, name string, optionally *bool) (*T, error) {
	if found := of[namespace+"/"+name]; found != nil {
		return found, nil
	}
	if optional(optionally) {
		return nil, nil
	}
	return nil, &missingError{fmt.Sprintf("%s %q of namespace %q", kind, name, namespace), sortedKeys(of)}
}

func secretData(s *corev1.Secret) map[string][]byte {
	data := map[string][]byte{}
	for key, value := range s.Data {
		data[key] = value
	}
	for key, value := range s.StringData {
		data[key] = []byte(value)
	}
	return data
}

func optional(b *bool) bool { return b != nil && *b }

// convert reads an object as what its kind says it is.
func convert(d document, into any) error {
	text, err := json.Marshal(d.Object)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: field %s: found a %s, want a %s", d, wrong.Field, wrong.Value, wrong.Type)
	case err != nil && d.GetKind() == "Secret":
		return fmt.Errorf("%s: field data: a value is not base64; stringData takes plain text", d)
	case err != nil:
		return fmt.Errorf("%s: %w", d, oneline.Error(err))
	}
	return nil
}

// Provider is the value of the container's --cloud-provider, or empty.
func (c *Container) Provider() string {
	for _, arg := range slices.Concat(c.Command, c.Args) {
		if value, ok := strings.CutPrefix(strings.TrimLeft(arg, "-"), "cloud-provider="); ok {
			return value
		}
	}
	return ""
}
