package installer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"nodestorm/harness/cloud/vsphere"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
)

// askedKubelets is the verb of the record of how asking ended.
const askedKubelets = "asked kubelets"

// askKubelets does what kubectl logs and a metrics server do, until all are answered
// or the time is over. Each answer that is not the one before is recorded.
func askKubelets(ctx context.Context, s *scene.Scene, a words.Args) error {
	set, clk := a.Text(0), s.World.Clock()
	last := map[string]string{}
	for deadline := clk.Now().Add(a.Duration(1)); ; {
		if refused := askEach(ctx, s, set, last); refused == nil || clk.Now().After(deadline) {
			detail := map[string]any{"refused": refused != nil}
			if refused != nil {
				detail["error"] = refused.Error()
			}
			s.World.History().Record(history.Event{
				Source: history.Harness, Verb: askedKubelets, Actor: "somebody",
				Object: history.Object{Resource: "daemonsets", Namespace: corev1.NamespaceDefault, Name: set}, Detail: detail,
			})
			return nil
		}
		if err := s.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
	}
}

func askEach(ctx context.Context, s *scene.Scene, set string, last map[string]string) (refused error) {
	note := func(verb string, about history.Object, err error) {
		text := ""
		if err != nil {
			text = err.Error()
			refused = fmt.Errorf("%s of %s: %w", verb, about, err)
		}
		if key := verb + about.String(); last[key] != text || last[key+"known"] == "" {
			last[key], last[key+"known"] = text, "yes"
			detail := map[string]any{"refused": err != nil}
			if err != nil {
				detail["error"] = text
			}
			s.World.History().Record(history.Event{Source: history.Harness, Verb: verb, Actor: "somebody", Object: about, Detail: detail})
		}
	}
	machines := vsphere.Machines(s)
	pods, err := s.World.Client().CoreV1().Pods(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: "app=" + set})
	if err != nil {
		return err
	}
	if len(pods.Items) < len(machines) {
		return fmt.Errorf("%d pods of DaemonSet %q on %d nodes", len(pods.Items), set, len(machines))
	}
	for _, p := range pods.Items {
		err := getRaw(ctx, s, "/api/v1/namespaces/"+corev1.NamespaceDefault+"/pods/"+p.Name+"/log")
		note("logs", history.Object{Resource: "pods", Namespace: corev1.NamespaceDefault, Name: p.Name}, err)
	}
	for _, n := range machines {
		err := getRaw(ctx, s, "/api/v1/nodes/"+n+"/proxy/metrics")
		note("metrics", history.Object{Resource: "nodes", Name: n}, err)
	}
	return refused
}

// getRaw asks kube-apiserver as kubectl get --raw does. The error is what the answer says.
func getRaw(ctx context.Context, s *scene.Scene, path string) error {
	admin := s.World.Admin()
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // real: nothing is far away
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(admin.Host, "/")+path, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode == http.StatusOK {
		return err
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message = fmt.Sprintf("%.300s", body)
	}
	return fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(status.Message))
}
