package k8sjob

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Files are what scenarios of a user's own are made of, by their paths: pods get them as a catalogue.
type Files map[string][]byte

// mostFiles is what a ConfigMap can have in all, in bytes; the rest of a MiB is for names.
const mostFiles = 1000 << 10

// Add adds the files of a scenario.
func (f Files) Add(of fs.FS) error {
	return fs.WalkDir(of, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(of, path)
		if err != nil {
			return err
		}
		if other, is := f[path]; is && !bytes.Equal(other, text) {
			return fmt.Errorf("--catalogue: two files of the chosen scenarios are called %s: give them other names", path)
		}
		f[path] = text
		return nil
	})
}

// Check says what is wrong, in a sentence that begins with the flag.
func (f Files) Check() error {
	size := 0
	for path, text := range f {
		size += len(path) + len(text)
	}
	if size > mostFiles {
		return fmt.Errorf("--catalogue: the files of the chosen scenarios have %d KiB, and a ConfigMap has %d at most: choose fewer, "+
			"or build them into the image", size>>10, mostFiles>>10)
	}
	return nil
}

// own is where pods have the files.
const own = "/catalogue"

// addCatalogue gives the pods of a Job the files, from the ConfigMap that is returned.
func (s Spec) addCatalogue(job *batchv1.Job) *corev1.ConfigMap {
	config := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: s.meta(s.Name + "-catalogue"), Data: map[string]string{},
	}
	pod := &job.Spec.Template.Spec
	of := &pod.Containers[0]
	const volume = "catalogue"
	for i, path := range slices.Sorted(maps.Keys(s.Files)) {
		key := fmt.Sprintf("file-%d", i) // keys have no slash
		config.Data[key] = string(s.Files[path])
		// One by one: else folders would be links, into which a catalogue does not go.
		of.VolumeMounts = append(of.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: own + "/" + path, SubPath: key, ReadOnly: true})
	}
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: config.Name}}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: source}})
	of.Args = append(of.Args, "--catalogue", own)
	return config
}
