package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mount reads a mounted volume; ok is false for one that holds nothing of the
// manifest's (hostPath, emptyDir, a service account's token).
func (r *resolver) mount(m corev1.VolumeMount) (_ Mount, ok bool, err error) {
	volumes := r.workload.deployment.Spec.Template.Spec.Volumes
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
	if i < 0 {
		return Mount{}, false, fmt.Errorf("name: there is no volume %q", m.Name)
	}
	if !path.IsAbs(m.MountPath) || slices.Contains(strings.Split(m.MountPath, "/"), "..") {
		return Mount{}, false, fmt.Errorf("mountPath: %q is no absolute path, or has .. in it", m.MountPath)
	}
	if m.SubPathExpr != "" {
		return Mount{}, false, errors.New("subPathExpr: want subPath")
	}
	mount := Mount{Path: path.Clean(m.MountPath), Files: map[string][]byte{}}
	if ok, err = r.volume(volumes[i].VolumeSource, &mount); err != nil || !ok {
		return Mount{}, false, fail(err, "volume %q: %w", m.Name, err)
	}
	for name := range mount.Files {
		if !filepath.IsLocal(name) {
			return Mount{}, false, fmt.Errorf("volume %q: path %q leads out of it", m.Name, name)
		}
	}
	if m.SubPath != "" {
		mount.Files, err = subPathFiles(mount.Files, m.SubPath)
	}
	return mount, err == nil, err
}

func fail(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func (r *resolver) volume(v corev1.VolumeSource, into *Mount) (ok bool, err error) {
	switch {
	case v.ConfigMap != nil:
		return r.project(into, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items, Optional: v.ConfigMap.Optional}})
	case v.Secret != nil:
		return r.project(into, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.Secret.SecretName}, Items: v.Secret.Items, Optional: v.Secret.Optional}})
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			more, err := r.project(into, source)
			if err != nil {
				return false, err
			}
			ok = ok || more
		}
		return ok, nil
	case v.HostPath != nil, v.EmptyDir != nil:
		return false, nil
	}
	return false, errors.New("want one of configMap, emptyDir, hostPath, projected, secret")
}

// project adds the files of a config map or a secret.
func (r *resolver) project(into *Mount, source corev1.VolumeProjection) (ok bool, err error) {
	data, items, optionally := map[string][]byte{}, []corev1.KeyToPath(nil), (*bool)(nil)
	switch {
	case source.ConfigMap != nil:
		m, err := r.configMap(source.ConfigMap.Name, source.ConfigMap.Optional)
		if err != nil || m == nil {
			return false, err
		}
		for key, value := range m.Data {
			data[key] = []byte(value)
		}
		maps.Copy(data, m.BinaryData)
		items, optionally = source.ConfigMap.Items, source.ConfigMap.Optional
	case source.Secret != nil:
		s, err := r.secret(source.Secret.Name, source.Secret.Optional)
		if err != nil || s == nil {
			return false, err
		}
		data, items, optionally = secretData(s), source.Secret.Items, source.Secret.Optional
		into.Secret = true
	default:
		return false, nil // a token, or the pod's own fields
	}
	if len(items) == 0 {
		maps.Copy(into.Files, data)
		return true, nil
	}
	for _, item := range items {
		value, there := data[item.Key]
		if !there && !optional(optionally) {
			return false, &missingError{fmt.Sprintf("key %q", item.Key), sortedKeys(data)}
		}
		if there {
			into.Files[item.Path] = value
		}
	}
	return true, nil
}

// subPathFiles is a volume's file, or folder, at subPath.
func subPathFiles(files map[string][]byte, subPath string) (map[string][]byte, error) {
	under := map[string][]byte{}
	for name, data := range files {
		if name == path.Clean(subPath) {
			return map[string][]byte{"": data}, nil
		}
		if rest, ok := strings.CutPrefix(name, path.Clean(subPath)+"/"); ok {
			under[rest] = data
		}
	}
	if len(under) == 0 {
		return nil, fmt.Errorf("subPath: %q is not in the volume (there is: %s)", subPath, strings.Join(sortedKeys(files), ", "))
	}
	return under, nil
}

// Place writes the mounted files below dir, readable by us only, and makes the
// container's command line and environment look for them there.
func (c *Container) Place(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var moved []string
	for i, m := range c.Mounts {
		base := fmt.Sprintf("mount-%d", i)
		for name, data := range m.Files {
			at := path.Join(base, name)
			if err := root.MkdirAll(path.Dir(at), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s: placing %s: %w", c.Source, m.Path, err)
			}
			if err := root.WriteFile(at, data, 0o600); err != nil {
				return fmt.Errorf("%s: placing %s: %w", c.Source, m.Path, err)
			}
		}
		moved = append(moved, m.Path, filepath.Join(dir, base))
	}
	for _, list := range [][]string{c.Command, c.Args} {
		for i := range list {
			list[i] = relocate(list[i], moved)
		}
	}
	for i := range c.Env {
		c.Env[i].Value = relocate(c.Env[i].Value, moved)
	}
	return nil
}

// relocate replaces the first mount path, of pairs old and new, that the text is
// or, after a "=", "," or ":", has inside as a whole path.
func relocate(text string, moved []string) string {
	for i := 0; i < len(moved); i += 2 {
		at := strings.Index(text, moved[i])
		if at < 0 || at > 0 && !strings.ContainsRune("=,:", rune(text[at-1])) {
			continue
		}
		rest := text[at+len(moved[i]):]
		if rest == "" || strings.ContainsRune("/,:", rune(rest[0])) {
			return text[:at] + moved[i+1] + rest
		}
	}
	return text
}
