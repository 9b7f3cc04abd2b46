package replay_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
)

// checkIdentity makes sure that the process has the rights of its chart, and no
// more: those of its own kubeconfig.
func checkIdentity(t *testing.T, pid int) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Error(err)
		return
	}
	var path string
	for pair := range strings.SplitSeq(string(env), "\x00") {
		if value, ok := strings.CutPrefix(pair, "KUBECONFIG="); ok {
			path = value
		}
	}
	client := clientWith(t, path)
	if client == nil {
		return
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	if user := self.Status.UserInfo; user.Username != "system:serviceaccount:karpenter:karpenter" || strings.Contains(fmt.Sprint(user.Groups), "system:masters") {
		t.Errorf("the target is %s of %v", user.Username, user.Groups)
	}
	checkRights(t, client, []right{
		{allowed: true, verb: "list", resource: "nodes"},
		{allowed: true, verb: "create", group: "karpenter.sh", resource: "nodeclaims"},
		{verb: "list", resource: "secrets"},
		{verb: "create", resource: "pods"},
		{verb: "create", group: "rbac.authorization.k8s.io", resource: "clusterrolebindings"},
		{verb: "impersonate", resource: "users"},
		{verb: "*", group: "*", resource: "*"},
	})
	if _, err := client.CoreV1().Secrets(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the target lists secrets: %v, want it to be forbidden", err)
	}
}

// clientWith is one with the target's kubeconfig, nil if that is none.
func clientWith(t *testing.T, path string) kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Errorf("the target's kubeconfig %q: %v", path, err)
		return nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Error(err)
		return nil
	}
	return client
}

// right is what the target may do, or may not.
type right struct {
	allowed                             bool
	verb, group, resource, sub, of, ask string // of: a name; ask: in that namespace
}

func checkRights(t *testing.T, client kubernetes.Interface, rights []right) {
	for _, may := range rights {
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: may.verb, Group: may.group, Resource: may.resource, Subresource: may.sub, Name: may.of, Namespace: may.ask,
			}},
		}, metav1.CreateOptions{})
		if err != nil || review.Status.Allowed != may.allowed {
			t.Errorf("the target may %s %s/%s %s: %t, %v; want %t", may.verb, may.resource, may.sub, may.of, review.Status.Allowed, err, may.allowed)
		}
	}
}

// openMetrics are what strangers may ask for: autoscalers have no setting that closes
// their metrics.
func openMetrics() map[string][]string {
	may := maps.Clone(processtest.Anonymous)
	may["karpenter"], may["cluster-autoscaler"] = []string{"/metrics"}, []string{"/metrics"}
	return may
}

// checkWayOut makes sure that a program has no other way out than the world's, which
// records who wants to go where.
func checkWayOut(t *testing.T, w *world.World, pid int) (secret string) {
	env := processtest.Env(pid)
	for _, pair := range w.Egress().Env() {
		if !slices.Contains(env, pair) {
			t.Errorf("the target has no %s: %v", pair, env)
		}
		if name, address, _ := strings.Cut(pair, "="); name == "HTTPS_PROXY" {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			secret, _ = u.User.Password()
		}
	}
	if secret == "" {
		t.Error("the way out has no secret")
	}
	return secret
}

// intrude has a client without credentials write to all that a world listens on. What is returned looks for it in the history, once
// the run is over.
func intrude(t *testing.T, w *world.World, tmp string) (check func()) {
	log := w.History()
	before := uint64(len(log.Since(0)))
	processtest.Intrude(t, tmp)
	return func() { processtest.CheckIntruded(t, log.Since(before)) }
}

// checkLoopback makes sure that no process of a world can be reached from outside.
func checkLoopback(t *testing.T, tmp string, atLeast int) {
	listening := 0
	for _, p := range processtest.ProcessesUnder(tmp) {
		addresses, err := processtest.Listening(p.PID)
		if err != nil {
			t.Error(err)
		}
		for _, a := range addresses {
			listening++
			if !a.Addr().IsLoopback() {
				t.Errorf("%s listens on %s", p.Command, a)
			}
		}
	}
	if listening < atLeast {
		t.Errorf("%d addresses, want %d: three of the control plane, and the target's", listening, atLeast)
	}
}

var (
	pem    = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----\n([A-Za-z0-9+/=\n]+)-----END`)
	inYAML = regexp.MustCompile(`client-key-data: (\S+)`)
)

// privateKeys are the base64 of all private keys in the files below dir.
func privateKeys(t *testing.T, dir string) (keys []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/member/") { // etcd's own
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range inYAML.FindAllSubmatch(text, -1) {
			decoded, err := base64.StdEncoding.DecodeString(string(m[1]))
			if err != nil {
				return err
			}
			keys = append(keys, string(m[1]))
			text = append(text, decoded...)
		}
		for _, m := range pem.FindAllSubmatch(text, -1) {
			keys = append(keys, strings.ReplaceAll(string(m[1]), "\n", ""))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return keys
}

// secretLooks is what credentials look like: keys, kubeconfigs, tokens.
var secretLooks = regexp.MustCompile(`PRIVATE KEY|client-key-data|client-certificate-data|[Bb]earer [A-Za-z0-9]|eyJ[A-Za-z0-9_-]{8,}\.eyJ`)

// leaks says which files below dir hold one of the keys, or what looks like a secret.
func leaks(t *testing.T, dir string, keys []string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// What the control plane says of an intruder's is none.
		if m := secretLooks.Find(bytes.ReplaceAll(text, []byte("invalid bearer token"), nil)); m != nil {
			found = append(found, fmt.Sprintf("%s has %q", path, m))
		}
		oneLine := strings.NewReplacer("\n", "", `\n`, "").Replace(string(text))
		for _, key := range keys {
			if middle := key[max(0, len(key)/2-20):min(len(key), len(key)/2+20)]; strings.Contains(oneLine, middle) {
				found = append(found, fmt.Sprintf("%s has a private key", path))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLeaks(t *testing.T) {
	const key = "MHcCAQEEIBY0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/aaaa"
	keys := []string{key}
	for text, want := range map[string]bool{
		"nothing":                                    false,
		`{"detail": "` + key + `"}`:                  true,
		key[:40] + "\n" + key[40:]:                   true,
		"-----BEGIN EC PRIVATE KEY-----":             true,
		"    client-key-data: LS0t":                  true,
		"Authorization: Bearer abc":                  true,
		"token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0": true,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := leaks(t, dir, keys); (len(got) > 0) != want {
			t.Errorf("%q: %q, want %t", text, got, want)
		}
	}
	dir := t.TempDir()
	pem := "-----BEGIN EC PRIVATE KEY-----\n" + key[:64] + "\n" + key[64:] + "\n-----END EC PRIVATE KEY-----\n"
	kubeconfig := "users:\n- user:\n    client-key-data: " + base64.StdEncoding.EncodeToString([]byte(pem)) + "\n"
	for name, text := range map[string]string{"a.key": pem, "kubeconfig": kubeconfig} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := privateKeys(t, dir); len(got) != 3 || got[0] != key || got[2] != key {
		t.Errorf("private keys %q", got)
	}
}
