// Package k8sjob writes a night as an Indexed Job of Kubernetes, whose indexes are shards, and a
// second Job that joins what they left. It starts nothing: what it writes is for kubectl, or
// for whatever queues Jobs.
package k8sjob

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/night/image"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/run/verdict"
	"nodestorm/sim/oneline"
	"nodestorm/sim/time/clock"
)

// Spec is what a night is to be.
type Spec struct {
	Name      string // of both Jobs, which the second has "-merge" behind
	Namespace string // empty: that of the client that applies it
	Image     string // nodestorm's own, with the builds that are replayed
	Shards    int    // 1 to shard.Most
	Parallel  int    // how many shards at a time; 0: all
	Verify    []string
	Files     Files // of the user's own scenarios among them
	Clock     clock.Mode
	// Plain says that no build in the image has the clock in it, Kubernetes neither: pods then
	// need no capability.
	Plain bool
	// Claim is a PersistentVolumeClaim that is there. Empty: one is made, of the class, or
	// the cluster's own for none, of the size, for pods on all nodes.
	Claim, Class string
	Storage      string
	// Bucket is s3://BUCKET/PREFIX, where runs are kept in place of a claim, with what the
	// Secret has as the environment: credentials, and which store it is. Storage is then what
	// a pod may leave.
	Bucket, Secret string
	// CPU and Memory are a shard's own, Scratch is what its worlds may write.
	CPU, Memory, Scratch string
	Retries              int           // of a shard, 0 to MostRetries
	Deadline             time.Duration // for all shards, from a minute
}

// MostRetries is how often a shard can be tried again: each time it begins anew.
const MostRetries = 10

// Check says what is wrong, in a sentence that begins with the flag.
func (s Spec) Check() error {
	if bad := validation.IsDNS1123Label(s.Name); len(bad) > 0 || len(s.Name) > mostName {
		return fmt.Errorf("--name %q: want a name of at most %d small letters, digits and hyphens, as in night-2026-11-23: pods have it in "+
			"theirs", s.Name, mostName)
	}
	if bad := validation.IsDNS1123Label(s.Namespace); s.Namespace != "" && len(bad) > 0 {
		return fmt.Errorf("--namespace %q: %s", s.Namespace, bad[0])
	}
	if _, err := name.ParseReference(s.Image); s.Image == "" || err != nil {
		return fmt.Errorf("--image %q: want the reference under which the cluster's nodes find nodestorm's image with the builds, such as "+
			"registry.example/team/nodestorm:v1; nodestorm target image makes it", s.Image)
	}
	if s.Shards < 1 || s.Shards > shard.Most {
		return fmt.Errorf("--shards %d: want 1 to %d", s.Shards, shard.Most)
	}
	if s.Parallel < 0 || s.Parallel > s.Shards {
		return fmt.Errorf("--at-once %d: want 1 to the number of shards, %d; 0 is all", s.Parallel, s.Shards)
	}
	if bad := validation.IsDNS1123Subdomain(s.Claim); s.Claim != "" && len(bad) > 0 {
		return fmt.Errorf("--claim %q: %s", s.Claim, bad[0])
	}
	if bad := validation.IsDNS1123Subdomain(s.Class); s.Class != "" && len(bad) > 0 {
		return fmt.Errorf("--storage-class %q: %s", s.Class, bad[0])
	}
	if (s.Bucket == "") != (s.Secret == "") {
		return fmt.Errorf("--bucket %q with --secret %q: want both, s3://BUCKET/PREFIX and the Secret with AWS_ACCESS_KEY_ID, "+
			"AWS_SECRET_ACCESS_KEY and, unless it is AWS's, %s", s.Bucket, s.Secret, bucket.EnvEndpoint)
	}
	if _, err := bucket.Open(s.Bucket); s.Bucket != "" && err != nil {
		return fmt.Errorf("--bucket %w", err)
	}
	if bad := validation.IsDNS1123Subdomain(s.Secret); s.Secret != "" && len(bad) > 0 {
		return fmt.Errorf("--secret %q: %s", s.Secret, bad[0])
	}
	if s.Bucket != "" && s.Claim+s.Class != "" {
		return errors.New("--bucket is in place of a claim: want it without --claim and --storage-class")
	}
	if s.Claim != "" && s.Class != "" {
		return errors.New("--storage-class is that of a claim that is made, and --claim names one that is there: want one of them")
	}
	for flag, of := range map[string]string{"storage": s.Storage, "cpu": s.CPU, "memory": s.Memory, "scratch": s.Scratch} {
		if quantity, err := resource.ParseQuantity(of); err != nil || quantity.Sign() <= 0 {
			return fmt.Errorf("--%s %q: want a quantity of Kubernetes that is more than nothing, such as 2, 500m or 4Gi", flag, of)
		}
	}
	if s.Retries < 0 || s.Retries > MostRetries {
		return fmt.Errorf("--retries %d: want 0 to %d", s.Retries, MostRetries)
	}
	if s.Deadline < time.Minute {
		return fmt.Errorf("--deadline %s: want 1m or more", s.Deadline)
	}
	return s.Files.Check()
}

// mostName leaves room in the names of pods, which are host names, for an index and a word.
const mostName = 40

const (
	shards  = "verify" // the containers' names
	merging = "merge"
	runs    = "/runs" // where the claim is
)

// Write writes the manifest. The specification has passed Check.
func (s Spec) Write(w io.Writer, command string) error {
	if _, err := fmt.Fprintf(w, `# Made by: %s
#
# %d shards are replayed, each by a pod, and a pod of a second Job joins what they left when
# all have ended, or cannot: its status and log are the night's. The table, index.html,
# matrix.json and junit.xml are in %s.
#
# A shard of which nothing can be said (status 3) is tried again %d times, one that failed (1)
# is not. A pod that was evicted, preempted or drained counts as no try.
`, oneline.Of(command), s.Shards, s.result(), s.Retries); err != nil {
		return err
	}
	for _, o := range s.objects() {
		text, err := plain(o)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// result is where the whole is, for people.
func (s Spec) result() string {
	if s.Bucket != "" {
		return s.kept() + "/merged.tar.gz"
	}
	return fmt.Sprintf("%s/%s/merged of the claim", runs, s.Name)
}

// kept is where the night's shards are in the bucket.
func (s Spec) kept() string { return strings.TrimSuffix(s.Bucket, "/") + "/" + s.Name }

// plain is an object in YAML, without what only a server writes.
func plain(o runtime.Object) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	strip(fields)
	return yaml.Marshal(fields)
}

// strip leaves out what is null or has nothing in it, but for emptyDir, as whose value that counts.
func strip(fields map[string]any) {
	for key, value := range fields {
		switch of := value.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			if strip(of); len(of) == 0 {
				delete(fields, key)
			}
		case []any:
			for _, item := range of {
				if inner, is := item.(map[string]any); is {
					strip(inner)
				}
			}
		}
	}
}

func (s Spec) objects() (all []runtime.Object) {
	if s.Claim == "" && s.Bucket == "" {
		all = append(all, s.claim())
	}
	shards := s.shards()
	if len(s.Files) > 0 {
		all = append(all, s.addCatalogue(shards))
	}
	return append(append(all, s.rights()...), shards, s.merge())
}

func (s Spec) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.Namespace, Labels: map[string]string{"app.kubernetes.io/name": "nodestorm",
		"app.kubernetes.io/instance": s.Name}}
}

func (s Spec) claim() *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: s.meta(s.Name),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(s.Storage)}},
		},
	}
	if s.Class != "" {
		claim.Spec.StorageClassName = &s.Class
	}
	return claim
}

// mergeName is what belongs to the second Job.
func (s Spec) mergeName() string { return s.Name + "-" + merging }

// rights let the second Job see when the first has ended, and nothing else.
func (s Spec) rights() []runtime.Object {
	const group = "rbac.authorization.k8s.io"
	meta := s.meta(s.mergeName())
	return []runtime.Object{
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta},
		&rbacv1.Role{
			TypeMeta: metav1.TypeMeta{APIVersion: group + "/v1", Kind: "Role"}, ObjectMeta: meta,
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, ResourceNames: []string{s.Name},
				Verbs: []string{"get", "list", "watch"}}},
		},
		&rbacv1.RoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: group + "/v1", Kind: "RoleBinding"}, ObjectMeta: meta,
			RoleRef:  rbacv1.RoleRef{APIGroup: group, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: meta.Name}},
		},
	}
}

func (s Spec) shards() *batchv1.Job {
	parallel := s.Parallel
	if parallel == 0 {
		parallel = s.Shards
	}
	args := append(append([]string{"verify"}, s.Verify...), "--clock", s.Clock.String(),
		"--shard", fmt.Sprintf("job/%d", s.Shards), "--out", fmt.Sprintf("%s/%s/shard-$(%s)", runs, s.Name, shard.EnvIndex))
	if s.Bucket != "" {
		args = append(args, "--upload", s.kept())
	}
	pod := s.pod(shards, args, corev1.ResourceRequirements{
		// No limit of processors: a throttled process fires its timers late.
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(s.CPU), corev1.ResourceMemory: resource.MustParse(s.Memory)},
		// mutant: shards are throttled
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(s.Memory)},
	})
	pod.Spec.AutomountServiceAccountToken = ptr.To(false)
	// mutant: plain builds want a capability
	if s.Clock.Virtual() && !s.Plain {
		// The default seccomp profiles allow the clock's pidfd_getfd with it alone. To a
		// program that is not root's the kernel gives nothing of it.
		pod.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"}
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: s.meta(s.Name),
		Spec: batchv1.JobSpec{
			CompletionMode:        ptr.To(batchv1.IndexedCompletion),
			Completions:           ptr.To(int32(s.Shards)),
			Parallelism:           ptr.To(int32(parallel)),
			ActiveDeadlineSeconds: ptr.To(int64(s.Deadline / time.Second)),
			BackoffLimitPerIndex:  ptr.To(int32(s.Retries)),
			// Two pods would write to one folder.
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				// mutant: a shard that failed is tried again
				onExit(batchv1.PodFailurePolicyActionFailIndex, shards, verdict.ExitNotAsExpected, exitUsage),
				// mutant: a pod that was drained counts as a try
				{Action: batchv1.PodFailurePolicyActionIgnore,
					OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
				onExit(batchv1.PodFailurePolicyActionCount, shards, verdict.ExitInconclusive),
			}},
			Template: pod,
		},
	}
}

// exitUsage is the status of what no try makes better.
const exitUsage = 2

func onExit(action batchv1.PodFailurePolicyAction, container string, codes ...int) batchv1.PodFailurePolicyRule {
	of := &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &container, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn}
	for _, code := range codes {
		of.Values = append(of.Values, int32(code))
	}
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: of}
}

func (s Spec) merge() *batchv1.Job {
	where := runs + "/" + s.Name
	memory := resource.MustParse("1Gi")
	args := []string{"nightly", "merge", "--job", s.Name, where, "--out", where + "/merged"}
	if s.Bucket != "" {
		args = []string{"nightly", "merge", "--job", s.Name, s.kept(), "--out", where + "/merged", "--upload", s.kept()}
	}
	pod := s.pod(merging, args, corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: memory},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
	})
	pod.Spec.ServiceAccountName = s.mergeName()
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: s.meta(s.mergeName()),
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To(int32(MostRetries)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				// They are the night's: merging again says the same.
				onExit(batchv1.PodFailurePolicyActionFailJob, merging, verdict.ExitNotAsExpected, exitUsage, verdict.ExitInconclusive),
				{Action: batchv1.PodFailurePolicyActionIgnore,
					OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
			}},
			Template: pod,
		},
	}
}

// pod runs nodestorm with the least that it needs.
func (s Spec) pod(container string, args []string, needs corev1.ResourceRequirements) corev1.PodTemplateSpec {
	claim := s.Claim
	if claim == "" {
		claim = s.Name
	}
	scratch, storage := resource.MustParse(s.Scratch), resource.MustParse(s.Storage)
	left := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
	var environment []corev1.EnvFromSource
	if s.Bucket != "" {
		left = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &storage}}
		named := corev1.LocalObjectReference{Name: s.Secret}
		environment = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named}}}
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: s.meta("").Labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			// A world ends within seconds, and its record is whole then.
			TerminationGracePeriodSeconds: ptr.To(int64(60)),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(image.User)), RunAsGroup: ptr.To(int64(image.User)),
				FSGroup:        ptr.To(int64(image.User)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: container, Image: s.Image, ImagePullPolicy: corev1.PullIfNotPresent, Args: args, EnvFrom: environment, Resources: needs,
				SecurityContext: &corev1.SecurityContext{
					// mutant: a shard may write to the root of its container
					AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "runs", MountPath: runs}, {Name: "scratch", MountPath: image.Scratch}},
			}},
			Volumes: []corev1.Volume{
				{Name: "runs", VolumeSource: left},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &scratch}}},
			},
		},
	}
}
