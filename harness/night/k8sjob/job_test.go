package k8sjob

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"nodestorm/harness/night/image"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/time/clock"
)

func night() Spec {
	return Spec{
		Name: "night", Image: image.Name, Shards: 4, Verify: []string{"--all"}, Clock: clock.Auto,
		Storage: "10Gi", CPU: "2", Memory: "4Gi", Scratch: "8Gi", Retries: 2, Deadline: 6 * time.Hour,
	}
}

// written is the manifest's text, and its objects by kind and name.
func written(t *testing.T, s Spec) (text string, all map[string]runtime.Object) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, "nodestorm nightly\nmanifest"); err != nil {
		t.Fatal(err)
	}
	read, err := objects.Read(b.Bytes())
	if err != nil {
		t.Fatalf("%v:\n%s", err, &b)
	}
	all = map[string]runtime.Object{}
	for _, o := range read {
		typed, err := scheme.Scheme.New(o.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, typed, true); err != nil {
			t.Errorf("%s: %v", o, err)
		}
		all[o.GetKind()+"/"+o.GetName()] = typed
	}
	return b.String(), all
}

func TestWrite(t *testing.T) {
	text, all := written(t, night())
	if !strings.HasPrefix(text, "# Made by: nodestorm nightly manifest\n") || strings.Contains(text, "null") || strings.Contains(text, "status:\n") {
		t.Errorf("the text is not for people:\n%s", text)
	}
	if len(all) != 6 {
		t.Errorf("%d objects", len(all))
	}
	shards := all["Job/night"].(*batchv1.Job)
	args := strings.Join(shards.Spec.Template.Spec.Containers[0].Args, " ")
	if *shards.Spec.Completions != 4 || *shards.Spec.Parallelism != 4 || *shards.Spec.BackoffLimitPerIndex != 2 || *shards.Spec.ActiveDeadlineSeconds != 6*3600 ||
		args != "verify --all --clock auto --shard job/4 --out /runs/night/shard-$(JOB_COMPLETION_INDEX)" {
		t.Errorf("%+v\n%s", shards.Spec, args)
	}
	if shards.Spec.Template.Spec.AutomountServiceAccountToken == nil || *shards.Spec.Template.Spec.AutomountServiceAccountToken {
		t.Error("shards have a token of the API server")
	}
	if limits := shards.Spec.Template.Spec.Containers[0].Resources.Limits; limits.Cpu().Sign() != 0 || limits.Memory().String() != "4Gi" {
		t.Errorf("limits are %v", limits)
	}
	for _, of := range []runtime.Object{shards, all["Job/night-merge"]} {
		pod := of.(*batchv1.Job).Spec.Template.Spec
		own := pod.Containers[0].SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || !*own.ReadOnlyRootFilesystem || *own.AllowPrivilegeEscalation || own.Capabilities.Drop[0] != "ALL" || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("more rights than are needed: %+v, %+v", pod.SecurityContext, own)
		}
	}
	if added := all["Job/night-merge"].(*batchv1.Job).Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add; len(added) > 0 {
		t.Errorf("who merges has %v", added)
	}
}

// Shards have the files of a user's own scenarios, and nothing else has them.
func TestWriteCatalogue(t *testing.T) {
	s := night()
	s.Files = Files{}
	files := fstest.MapFS{"sub/late.feature": {Data: []byte("Feature: late\n")}, "late.yaml": {Data: []byte("id: late\n")}}
	if err := errors.Join(s.Files.Add(files), s.Files.Add(files)); err != nil {
		t.Fatal(err)
	}
	_, all := written(t, s)
	data := all["ConfigMap/night-catalogue"].(*corev1.ConfigMap).Data
	pod := all["Job/night"].(*batchv1.Job).Spec.Template.Spec
	there := fstest.MapFS{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.Name == "catalogue" && mount.ReadOnly {
			there[strings.TrimPrefix(mount.MountPath, "/catalogue/")] = &fstest.MapFile{Data: []byte(data[mount.SubPath])}
		}
	}
	if !reflect.DeepEqual(there, files) {
		t.Errorf("pods have %v", there)
	}
	if args := strings.Join(pod.Containers[0].Args, " "); !strings.HasSuffix(args, " --catalogue /catalogue") {
		t.Errorf("%s", args)
	}
	if volumes := all["Job/night-merge"].(*batchv1.Job).Spec.Template.Spec.Volumes; len(volumes) != 2 {
		t.Errorf("who merges has %v", volumes)
	}
	if err := s.Files.Add(fstest.MapFS{"late.yaml": {}}); err == nil || !strings.Contains(err.Error(), "are called late.yaml") {
		t.Errorf("two files of one name: %v", err)
	}
	s.Files["large"] = make([]byte, mostFiles)
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "a ConfigMap has 1000 at most") {
		t.Errorf("%v", err)
	}
}

// Only the clock in programs wants a capability.
func TestPlain(t *testing.T) {
	for _, plain := range []bool{false, true} {
		s := night()
		s.Plain = plain
		_, all := written(t, s)
		added := all["Job/night"].(*batchv1.Job).Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add
		if plain != (len(added) == 0) {
			t.Errorf("plain is %v: %v are added", plain, added)
		}
	}
}

// What is left to a cluster, or is there already, is not made.
func TestWriteOther(t *testing.T) {
	s := night()
	s.Clock, s.Claim, s.Parallel, s.Namespace = clock.Real, "nights", 2, "ci"
	_, all := written(t, s)
	if _, made := all["PersistentVolumeClaim/night"]; made || len(all) != 5 {
		t.Error("a claim is made beside the one that is there")
	}
	shards := all["Job/night"].(*batchv1.Job)
	if added := shards.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add; len(added) > 0 || *shards.Spec.Parallelism != 2 || shards.Namespace != "ci" {
		t.Errorf("in real time %v are added, %d play at a time, in %q", added, *shards.Spec.Parallelism, shards.Namespace)
	}
	if claim := shards.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName; claim != "nights" {
		t.Errorf("the claim is %q", claim)
	}
	s.Claim, s.Class = "", "fast"
	_, all = written(t, s)
	if claim := all["PersistentVolumeClaim/night"].(*corev1.PersistentVolumeClaim); *claim.Spec.StorageClassName != "fast" || claim.Spec.AccessModes[0] != corev1.ReadWriteMany {
		t.Errorf("%+v", claim.Spec)
	}
}

// With a bucket shards leave their runs there, and need no volume in common.
func TestWriteBucket(t *testing.T) {
	s := night()
	s.Bucket, s.Secret = "s3://nights/team/", "nights-s3"
	text, all := written(t, s)
	if len(all) != 5 || strings.Contains(text, "PersistentVolumeClaim") || !strings.Contains(text, "s3://nights/team/night/merged.tar.gz") {
		t.Errorf("%d objects:\n%s", len(all), text)
	}
	for name, want := range map[string]string{
		"night":       "verify --all --clock auto --shard job/4 --out /runs/night/shard-$(JOB_COMPLETION_INDEX) --upload s3://nights/team/night",
		"night-merge": "nightly merge --job night s3://nights/team/night --out /runs/night/merged --upload s3://nights/team/night",
	} {
		pod := all["Job/"+name].(*batchv1.Job).Spec.Template.Spec
		own := pod.Containers[0]
		if got := strings.Join(own.Args, " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if pod.Volumes[0].EmptyDir == nil || pod.Volumes[0].EmptyDir.SizeLimit.String() != "10Gi" || len(own.EnvFrom) != 1 || own.EnvFrom[0].SecretRef.Name != "nights-s3" {
			t.Errorf("%s: %+v, %+v", name, pod.Volumes[0], own.EnvFrom)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"no name":        {func(s *Spec) { s.Name = "" }, `--name ""`},
		"capitals":       {func(s *Spec) { s.Name = "Night" }, `--name "Night": want a name of at most 40 small letters`},
		"a long name":    {func(s *Spec) { s.Name = strings.Repeat("n", 41) }, "at most 40"},
		"a namespace":    {func(s *Spec) { s.Namespace = "a/b" }, `--namespace "a/b"`},
		"no image":       {func(s *Spec) { s.Image = "" }, `--image "": want the reference`},
		"no reference":   {func(s *Spec) { s.Image = "A b" }, `--image "A b"`},
		"no shards":      {func(s *Spec) { s.Shards = 0 }, "--shards 0: want 1 to 1000"},
		"many shards":    {func(s *Spec) { s.Shards = 1001 }, "--shards 1001"},
		"more at once":   {func(s *Spec) { s.Parallel = 5 }, "--at-once 5: want 1 to the number of shards, 4"},
		"a claim":        {func(s *Spec) { s.Claim = "a b" }, `--claim "a b"`},
		"a class":        {func(s *Spec) { s.Class = "a b" }, `--storage-class "a b"`},
		"claim, class":   {func(s *Spec) { s.Claim, s.Class = "a", "b" }, "want one of them"},
		"a bucket alone": {func(s *Spec) { s.Bucket = "s3://nights" }, "want both"},
		"a secret alone": {func(s *Spec) { s.Secret = "nights" }, "want both"},
		"no bucket":      {func(s *Spec) { s.Bucket, s.Secret = "nights", "s" }, "want s3://BUCKET/PREFIX"},
		"no secret":      {func(s *Spec) { s.Bucket, s.Secret = "s3://nights", "A b" }, `--secret "A b"`},
		"bucket, claim":  {func(s *Spec) { s.Bucket, s.Secret, s.Claim = "s3://nights", "s", "c" }, "in place of a claim"},
		"no quantity":    {func(s *Spec) { s.CPU = "two" }, `--cpu "two": want a quantity`},
		"nothing":        {func(s *Spec) { s.Memory = "0" }, `--memory "0"`},
		"less":           {func(s *Spec) { s.Storage = "-1Gi" }, `--storage "-1Gi"`},
		"no scratch":     {func(s *Spec) { s.Scratch = "" }, `--scratch ""`},
		"many retries":   {func(s *Spec) { s.Retries = 11 }, "--retries 11: want 0 to 10"},
		"minus one":      {func(s *Spec) { s.Retries = -1 }, "--retries -1"},
		"no time":        {func(s *Spec) { s.Deadline = time.Second }, "--deadline 1s: want 1m or more"},
		"of no machine":  {func(s *Spec) { s.Image = "registry.example/x:y:z" }, "--image"},
	} {
		s := night()
		test.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if err := night().Check(); err != nil {
		t.Error(err)
	}
}
