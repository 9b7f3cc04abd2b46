package world_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"

	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/clock"
)

const (
	asJSON     = runtime.ContentTypeJSON
	asProtobuf = runtime.ContentTypeProtobuf
)

// through is a client of its own behind a proxy with rules.
func through(t *testing.T, w *world.World, contentType string, rules ...fault.Fault) (*rest.Config, *apifault.Proxy) {
	t.Helper()
	path, p, err := w.KubeconfigThrough(rules, nil, "tester", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.UserAgent, cfg.ContentType = -1, "tester/v1", contentType
	return cfg, p
}

func clientFor(t *testing.T, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Calls that no rule is about are as they are without the proxy.
func TestProxyIsTransparent(t *testing.T) {
	w := start(t, config(t, clock.Real))
	for _, contentType := range []string{asJSON, asProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			cfg, p := through(t, w, contentType, fault.Fault{
				Name: "about another", Match: apifault.Match{Resource: "configmaps", Name: "no such"}, Effect: apifault.Drop{},
			})
			everyCall(t, cfg, "transparent-"+contentType[strings.LastIndexByte(contentType, '.')+1:len(contentType)-1])
			if unmet := p.Unmet(); len(unmet) != 1 || unmet[0].Name != "about another" {
				t.Errorf("unmet: %v", unmet)
			}
		})
	}
	t.Run("identity", func(t *testing.T) { identity(t, w) })
}

// everyCall goes through the verbs, subresources and patch types.
func everyCall(t *testing.T, cfg *rest.Config, namespace string) {
	t.Helper()
	namespace = strings.NewReplacer("/", "-", "+", "-").Replace(namespace)
	ctx, c := t.Context(), clientFor(t, cfg)
	try := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}))
	maps := c.CoreV1().ConfigMaps(namespace)
	events, err := maps.Watch(ctx, metav1.ListOptions{})
	try(nil, err)
	defer events.Stop()

	created, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "1"}}, metav1.CreateOptions{})
	try(nil, err)
	stale := created.DeepCopy()
	created.Data["k"] = "2"
	try(maps.Update(ctx, created, metav1.UpdateOptions{}))
	if _, err := maps.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update with an old resource version: %v", err)
	}
	for patchType, patch := range map[types.PatchType]string{
		types.MergePatchType: `{"data":{"m":"1"}}`, types.StrategicMergePatchType: `{"data":{"s":"1"}}`, types.JSONPatchType: `[{"op":"add","path":"/data/j","value":"1"}]`,
	} {
		try(maps.Patch(ctx, "a", patchType, []byte(patch), metav1.PatchOptions{}))
	}
	try(maps.Apply(ctx, applycorev1.ConfigMap("a", namespace).WithData(map[string]string{"y": "1"}), metav1.ApplyOptions{FieldManager: "tester"}))
	got, err := maps.Get(ctx, "a", metav1.GetOptions{})
	try(nil, err)
	if len(got.Data) != 5 {
		t.Errorf("after all patches %v", got.Data)
	}
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "!no", Limit: 1})
	try(nil, err)
	if len(list.Items) != 1 {
		t.Errorf("list of %d", len(list.Items))
	}
	try(nil, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
	try(nil, maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Modified, watch.Modified, watch.Deleted} {
		for {
			event := next(t, events)
			if m, ok := event.Object.(*corev1.ConfigMap); ok && m.Name != "a" {
				continue // the namespace's own
			}
			if event.Type != want {
				t.Fatalf("event %s, want %s", event.Type, want)
			}
			break
		}
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after delete: %v", err)
	}
	scaling(t, cfg, namespace)
	inJSON := rest.CopyConfig(cfg)
	inJSON.ContentType = asJSON
	d, err := dynamic.NewForConfig(inJSON)
	try(nil, err)
	try(d.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(ctx, metav1.ListOptions{}))
	try(c.Discovery().ServerVersion())
}

// scaling uses the scale subresource with the scale client, as autoscalers do.
func scaling(t *testing.T, cfg *rest.Config, namespace string) {
	t.Helper()
	ctx := t.Context()
	if _, err := clientFor(t, cfg).AppsV1().Deployments(namespace).Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scales := scalesFor(t, cfg, namespace)
	web := schema.GroupResource{Group: "apps", Resource: "deployments"}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the Deployment's controller writes too
		s, err := scales.Get(ctx, web, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		s.Spec.Replicas = 3
		_, err = scales.Update(ctx, web, s, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := scales.Patch(ctx, web.WithVersion("v1"), "web", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}); err != nil || s.Spec.Replicas != 4 {
		t.Fatalf("patched to %v, %v", s, err)
	}
}

func scalesFor(t *testing.T, cfg *rest.Config, namespace string) scale.ScaleInterface {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(d)
	if err != nil {
		t.Fatal(err)
	}
	scales, err := scale.NewForConfig(cfg, restmapper.NewDiscoveryRESTMapper(groups), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(d))
	if err != nil {
		t.Fatal(err)
	}
	return scales.Scales(namespace)
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	none := int32(0)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
	}}
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			t.Fatal("the watch has ended")
		}
		return event
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
	}
	panic("unreachable")
}

// The API server sees the client, by whatever it authenticates with, and no other client
// gets in.
func identity(t *testing.T, w *world.World) {
	ctx := t.Context()
	path, p, err := w.KubeconfigThrough(nil, nil, "reader", "readers")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	who := func(cfg *rest.Config) string {
		t.Helper()
		review, err := clientFor(t, cfg).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Error(err)
			return ""
		}
		return fmt.Sprint(review.Status.UserInfo.Username, review.Status.UserInfo.Groups)
	}
	if got := who(cfg); got != "reader[readers system:authenticated]" {
		t.Errorf("with its certificate the client is %s", got)
	}
	if _, err := clientFor(t, cfg).CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("what the client may not read: %v", err)
	}
	accounts := w.Client().CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tester"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(ctx, "tester", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := rest.AnonymousClientConfig(cfg)
	account.BearerToken = token.Status.Token
	if got := who(account); !strings.HasPrefix(got, "system:serviceaccount:default:tester[") {
		t.Errorf("with a token the client is %s", got)
	}
	if _, err := clientFor(t, rest.AnonymousClientConfig(cfg)).CoreV1().Pods("").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		t.Errorf("a client without credentials: %v", err)
	}
	stranger, err := w.User("stranger", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	stranger.Host, stranger.CAData = p.URL(), p.ClientConfig().CAData
	if _, err := clientFor(t, stranger).CoreV1().Pods("").List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("another user's certificate is let in")
	}
	h2, err := rest.HTTPClientFor(p.ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := h2.Get(p.URL() + "/version")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s, want HTTP/2", resp.Proto, resp.Status)
	}
}

// scene is what an effect is tried in: once behind the rule, once without.
type scene struct {
	t      *testing.T
	w      *world.World
	p      *apifault.Proxy
	cfg    *rest.Config
	client kubernetes.Interface
	name   string // of objects of its own
}

func (s *scene) create() *corev1.ConfigMap {
	s.t.Helper()
	m, err := s.w.Client().CoreV1().ConfigMaps("default").Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *scene) get() (*corev1.ConfigMap, error) {
	return s.client.CoreV1().ConfigMaps("default").Get(s.t.Context(), s.name, metav1.GetOptions{})
}

// label changes the object as another client.
func (s *scene) label(value string) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{"l":%q}}}`, value)
	if _, err := s.w.Client().CoreV1().ConfigMaps("default").Patch(s.t.Context(), s.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) watch(ctx context.Context) watch.Interface {
	s.t.Helper()
	m, err := s.w.Client().CoreV1().ConfigMaps("default").Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	events, err := s.client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: m.ResourceVersion, FieldSelector: "metadata.name=" + s.name})
	if err != nil {
		s.t.Fatal(err)
	}
	return events
}

// clear ends the rule of the scene, if there is one.
func (s *scene) clear() { _ = s.p.Clear(theRule) }

const theRule = "the rule"

// virtually returns how much of the world's time f takes.
func (s *scene) virtually(f func()) time.Duration {
	began := s.w.Clock().Now()
	f()
	return s.w.Clock().Since(began)
}

// quiet waits until a minute of the world's time is over. Time does not jump there while
// anybody works: what would come, unless it were held back, has come.
func (s *scene) quiet() <-chan time.Time { return s.w.Clock().After(time.Minute) }

func seconds(n int) strict.Duration { return strict.Duration(time.Duration(n) * time.Second) }

func on(verbs ...string) apifault.Match {
	return apifault.Match{Client: "tester", Verbs: verbs, Resource: "configmaps", Namespace: "default"}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var effects = []struct {
	name string
	rule fault.Fault
	// seen reports whether the effect is there.
	seen func(*scene) bool
}{
	{"delay", fault.Fault{Match: on("get"), Effect: apifault.Delay{By: seconds(300)}}, func(s *scene) bool {
		s.create()
		took := s.virtually(func() {
			if _, err := s.get(); err != nil {
				s.t.Error(err)
			}
		})
		return took >= 5*time.Minute && took < 6*time.Minute
	}},
	{"answer 409", fault.Fault{Match: on("update"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Answer{Code: 409}}, func(s *scene) bool {
		m := s.create()
		_, err := s.client.CoreV1().ConfigMaps("default").Update(s.t.Context(), m, metav1.UpdateOptions{})
		if err != nil && !strings.Contains(err.Error(), "Operation cannot be fulfilled on configmaps") {
			s.t.Error(err)
		}
		return apierrors.IsConflict(err)
	}},
	{"answer 429", fault.Fault{Match: on("get"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Answer{Code: 429, RetryAfter: seconds(1)}}, func(s *scene) bool {
		s.create()
		var codes []int // client-go waits, in real time, and tries again
		cfg := rest.CopyConfig(s.cfg)
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err == nil {
					codes = append(codes, resp.StatusCode)
				}
				return resp, err
			})
		})
		s.client = clientFor(s.t, cfg)
		if _, err := s.get(); err != nil {
			s.t.Error(err)
		}
		return slices.Equal(codes, []int{http.StatusTooManyRequests, http.StatusOK})
	}},
	{"answer 503", fault.Fault{Match: on("get"), Plan: fault.Plan{Skip: 1, Limit: 1}, Effect: apifault.Answer{Code: 503}}, func(s *scene) bool {
		s.create()
		_, first := s.get()
		_, second := s.get()
		_, third := s.get()
		return first == nil && apierrors.IsServiceUnavailable(second) && third == nil
	}},
	{"answer 500", fault.Fault{Match: on("get"), Effect: apifault.Answer{Code: 500}}, func(s *scene) bool {
		s.create()
		_, err := s.get()
		return apierrors.IsInternalError(err)
	}},
	{"answer 403", fault.Fault{Match: on("create"), Effect: apifault.Answer{Code: 403}}, func(s *scene) bool {
		_, err := s.client.CoreV1().ConfigMaps("default").Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
		_, there := s.get()
		return apierrors.IsForbidden(err) && apierrors.IsNotFound(there)
	}},
	{"slow answer 504", fault.Fault{Match: on("get"), Effect: apifault.Answer{Code: 504, After: seconds(300)}}, func(s *scene) bool {
		s.create()
		var err error
		took := s.virtually(func() { _, err = s.get() })
		return apierrors.IsTimeout(err) && took >= 5*time.Minute && took < 6*time.Minute
	}},
	{"drop", fault.Fault{Match: on("create"), Effect: apifault.Drop{}}, func(s *scene) bool {
		_, err := s.client.CoreV1().ConfigMaps("default").Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
		_, there := s.get()
		return err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && apierrors.IsNotFound(there)
	}},
	{"lose", fault.Fault{Match: on("create"), Effect: apifault.Lose{}}, func(s *scene) bool {
		_, err := s.client.CoreV1().ConfigMaps("default").Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
		_, there := s.get()
		return err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && there == nil
	}},
	{"hold", fault.Fault{Match: on("create"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Hold{}}, func(s *scene) bool {
		done := make(chan error, 1)
		go func() {
			_, err := s.client.CoreV1().ConfigMaps("default").Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}}, metav1.CreateOptions{})
			done <- err
		}()
		held := false
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if _, err := s.get(); err == nil {
				break
			}
		}
		select {
		case err := <-done:
			done <- err
		case <-s.quiet(): // the object is there, the reply is not
			held = true
		}
		s.clear()
		return <-done == nil && held
	}},
	{"other writer before an update", fault.Fault{Match: on("update", "patch"), Plan: fault.Plan{Limit: 1}, Effect: apifault.OtherWriter{}}, func(s *scene) bool {
		m := s.create()
		_, err := s.client.CoreV1().ConfigMaps("default").Update(s.t.Context(), m, metav1.UpdateOptions{})
		now, _ := s.get()
		return apierrors.IsConflict(err) && now.Annotations[apifault.Annotation] != ""
	}},
	{"other writer after a get", fault.Fault{Match: on("get"), Plan: fault.Plan{Limit: 1}, Effect: apifault.OtherWriter{Patch: map[string]any{"data": map[string]any{"k": "theirs"}}}}, func(s *scene) bool {
		s.create()
		m, err := s.get()
		if err != nil || m.Data != nil {
			s.t.Error(m, err)
		}
		_, err = s.client.CoreV1().ConfigMaps("default").Update(s.t.Context(), m, metav1.UpdateOptions{})
		now, _ := s.get()
		return apierrors.IsConflict(err) && now.Data["k"] == "theirs"
	}},
	{"other writer before a scale", fault.Fault{Match: apifault.Match{Verbs: []string{"update", "patch"}, Resource: "deployments.apps", Subresource: "scale"}, Effect: apifault.OtherWriter{}}, func(s *scene) bool {
		ctx := s.t.Context()
		if _, err := s.w.Client().AppsV1().Deployments("default").Create(ctx, deployment(s.name), metav1.CreateOptions{}); err != nil {
			s.t.Error(err)
		}
		deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
		scales := scalesFor(s.t, s.cfg, "default")
		update := func() error {
			now, err := scales.Get(ctx, deployments, s.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = scales.Update(ctx, deployments, &autoscalingv1.Scale{ObjectMeta: now.ObjectMeta, Spec: autoscalingv1.ScaleSpec{Replicas: 1}}, metav1.UpdateOptions{})
			return err
		}
		_, patched := scales.Patch(ctx, deployments.WithVersion("v1"), s.name, types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{})
		for range 10 { // the Deployment's controller writes too, but not each time
			if !apierrors.IsConflict(update()) {
				return false
			}
		}
		return patched == nil // a patch knows no version
	}},
	{"stale list", fault.Fault{Match: on("list"), Effect: apifault.StaleList{}}, func(s *scene) bool {
		s.create()
		list, err := s.client.CoreV1().ConfigMaps("default").List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			s.t.Error(err)
		}
		for _, m := range list.Items {
			if m.Name == s.name {
				return false
			}
		}
		return len(list.Items) > 0
	}},
	{"freeze", fault.Fault{Match: on("watch"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Freeze{}}, func(s *scene) bool {
		s.create()
		events := s.watch(s.t.Context())
		defer events.Stop()
		s.label("1")
		s.label("2")
		silent := false
		select {
		case event := <-events.ResultChan():
			return event.Type != watch.Modified
		case <-s.quiet():
			silent = true
		}
		s.clear()
		first, second := next(s.t, events), next(s.t, events)
		return first.Type == watch.Modified && second.Type == watch.Modified && silent
	}},
	{"cut", fault.Fault{Match: on("watch"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Cut{After: seconds(60)}}, func(s *scene) bool {
		s.create()
		ended := false
		took := s.virtually(func() {
			events := s.watch(s.t.Context())
			defer events.Stop()
			s.label("1")
			if event := next(s.t, events); event.Type != watch.Modified {
				s.t.Errorf("event %v", event)
			}
			select {
			case event, open := <-events.ResultChan():
				ended = !open || event.Type == watch.Error && !apierrors.IsResourceExpired(apierrors.FromObject(event.Object))
			case <-s.w.Clock().After(3 * time.Minute):
			}
		})
		return ended && took >= time.Minute && took < 80*time.Second
	}},
	{"expire", fault.Fault{Match: on("watch"), Plan: fault.Plan{Limit: 1}, Effect: apifault.Expire{}}, func(s *scene) bool {
		s.create()
		events := s.watch(s.t.Context())
		defer events.Stop()
		select {
		case event := <-events.ResultChan():
			_, open := <-events.ResultChan()
			return event.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) && !open
		case <-s.quiet():
			return false
		}
	}},
}

// Each effect is there with its rule, in both encodings, and not without it; the
// history knows which it was.
func TestProxyEffects(t *testing.T) {
	w := start(t, config(t, clock.Auto))
	tester, err := w.Plane().User("tester", "system:masters") // as of a program, whose calls are not repeated
	if err != nil {
		t.Fatal(err)
	}
	for _, contentType := range []string{asJSON, asProtobuf} {
		for i, effect := range effects {
			t.Run(effect.name+"/"+contentType, func(t *testing.T) {
				try := func(name string, rules ...fault.Fault) (bool, *apifault.Proxy) {
					p, err := apifault.Start(apifault.Config{Client: tester, Writer: w.Admin(), Clock: w.Clock(), History: w.History()}, rules...)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = p.Close() })
					cfg := p.ClientConfig()
					cfg.QPS, cfg.UserAgent, cfg.ContentType = -1, "tester/v1", contentType
					return effect.seen(&scene{t, w, p, cfg, clientFor(t, cfg), name}), p
				}
				name := fmt.Sprintf("effect-%d-%d", i, len(contentType))
				rule := effect.rule
				rule.Name = theRule
				seen, p := try(name, rule)
				if !seen {
					t.Error("no effect")
				}
				if unmet := p.Unmet(); len(unmet) > 0 {
					t.Errorf("unmet: %+v", unmet)
				}
				if seen, _ := try(name + "-without"); seen {
					t.Error("seen without the rule: what looks for it cannot fail")
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				if state := p.Rules()[0]; state.Armed.IsZero() || state.Matched == 0 || state.Effective.IsZero() || state.Cleared.IsZero() {
					t.Errorf("life of the rule: %+v", state)
				}
			})
		}
	}
	if t.Failed() {
		return
	}
	verbs := map[string]int{}
	for _, r := range w.History().Events() {
		if r.Source == history.Fault {
			verbs[r.Verb]++
		}
	}
	if n := 2 * len(effects); verbs["armed"] != n || verbs["matched"] < n || verbs["effective"] < n || verbs["cleared"] != n {
		t.Errorf("%d rules left %v", n, verbs)
	}
}

// An event of the history starts a rule, also for watches that are open by then.
func TestProxyWhen(t *testing.T) {
	w := start(t, config(t, clock.Auto))
	when := &checker.Pattern{}
	for field, text := range map[string]string{"source": "api", "verb": "create", "resource": "configmaps", "name": "signal"} {
		values := &checker.Values{}
		if err := values.UnmarshalJSON([]byte(fmt.Sprintf("%q", text))); err != nil {
			t.Fatal(err)
		}
		switch field {
		case "source":
			when.Source = values
		case "verb":
			when.Verb = values
		case "resource":
			when.Resource = values
		case "name":
			when.Name = values
		}
	}
	cfg, p := through(t, w, asJSON,
		fault.Fault{Name: theRule, Match: on("watch"), Plan: fault.Plan{When: when, At: strict.Duration(30 * time.Second)}, Effect: apifault.Expire{}},
		fault.Fault{Name: "never", Match: on("delete"), Effect: apifault.Drop{}},
	)
	s := &scene{t, w, p, cfg, clientFor(t, cfg), "seen"}
	s.create()
	events := s.watch(t.Context())
	defer events.Stop()
	s.label("1")
	if event := next(t, events); event.Type != watch.Modified {
		t.Fatalf("before the signal: %v", event)
	}
	signal := &scene{t, w, p, cfg, s.client, "signal"}
	took := s.virtually(func() {
		signal.create()
		if event := next(t, events); event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
			t.Errorf("after the signal: %v", event)
		}
	})
	if took < 29*time.Second || took > 40*time.Second {
		t.Errorf("it took %s from the signal, want 30s", took)
	}
	in := verdict.FromHistory(history.InMemory(w.History().Events()), scenarios.Record{}, "")
	if len(in.FaultsUnmet) != 1 || !strings.HasPrefix(in.FaultsUnmet[0], "never on ") {
		t.Errorf("unmet by the history: %q", in.FaultsUnmet)
	}
}

// What a rule needs and a cluster does not serve is found before the run.
func TestProxyCheckResources(t *testing.T) {
	w := start(t, config(t, clock.Real))
	d := w.Client().Discovery()
	for _, test := range []struct {
		match apifault.Match
		want  string // "" : fine
	}{
		{apifault.Match{Resource: "pods", Subresource: "eviction", Verbs: []string{"create"}}, ""},
		{apifault.Match{Resource: "deployments.apps", Subresource: "scale", Namespace: "default"}, ""},
		{apifault.Match{Resource: "deployments"}, ""},
		{apifault.Match{Resource: "machines.cluster.x-k8s.io"}, `serves no resource "machines.cluster.x-k8s.io"`},
		{apifault.Match{Resource: "pods", Subresource: "scale"}, `pods has no subresource "scale" (it has: `},
		{apifault.Match{Resource: "nodes", Namespace: "default"}, "nodes are in no namespace"},
		{apifault.Match{Resource: "deployments.apps", Subresource: "scale", Verbs: []string{"create"}}, "deployments.apps/scale takes no create"},
	} {
		rule := fault.Fault{Name: theRule, Match: test.match, Effect: apifault.Drop{}}
		err := errors.Join(apifault.Rules.Check(rule), apifault.CheckResources(d, []fault.Fault{rule}))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.match, err)
		}
	}
}
