package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"nodestorm/sim/history"
)

// nodes is the group of kubelets that have joined.
const nodes = "system:nodes"

// report is what a kubelet's patch of a status says: only what has changed.
type report struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		Phase             corev1.PodPhase          `json:"phase"`
		PodIP             string                   `json:"podIP"`
		ContainerStatuses []corev1.ContainerStatus `json:"containerStatuses"`
		Conditions        []condition              `json:"conditions"`
	} `json:"status"`
}

// podState is what a kubelet has said of one pod.
type podState struct {
	uid         types.UID
	phase       corev1.PodPhase
	ip, waiting string
	exitCode    int32
	reason      string // of the exit
	recorded    string
}

// reported returns what a kubelet's call says of its Node or one of its pods, where
// that is news, in the words of sim/machine/node: real and simulated kubelets read alike.
func (c *Converter) reported(call *auditv1.Event, e history.Event) ([]history.Event, error) {
	if !slices.Contains(call.User.Groups, nodes) || e.Code >= 300 || call.Stage == auditv1.StagePanic {
		return nil, nil
	}
	body := call.RequestObject
	patched := e.Verb == "patch" && call.ObjectRef.Subresource == "status" && body != nil && bytes.HasPrefix(body.Raw, []byte("{"))
	var said report
	if patched {
		if err := json.Unmarshal(body.Raw, &said); err != nil {
			return nil, err
		}
	}
	news := history.Event{At: e.At, Source: history.Node, Actor: "kubelet", Object: e.Object}
	switch {
	case e.Object.Resource == "pods" && e.Verb == "delete":
		delete(c.pods, e.Object) // it is the kubelet that ends a pod
		return nil, nil
	case e.Object.Resource == "pods" && patched:
		news.Verb, news.Detail = c.podNews(e.Object, &said)
		if news.Detail != nil {
			news.Detail["node"] = history.Short(strings.TrimPrefix(call.User.Username, "system:node:"))
		}
	case e.Object.Resource == "nodes" && e.Verb == "create":
		news.Verb, news.Detail = "register", map[string]any{}
		if id, ok := e.Detail["providerID"]; ok {
			news.Detail["providerID"] = id
		}
	case e.Object.Resource == "nodes" && patched:
		news.Verb, news.Detail = said.nodeNews()
	}
	if news.Verb == "" {
		return nil, nil
	}
	return []history.Event{news}, nil
}

// nodeNews is about the Ready condition. Its status is in a patch when it is another.
func (r *report) nodeNews() (verb string, detail map[string]any) {
	for _, c := range r.Status.Conditions {
		if c.Type != string(corev1.NodeReady) || c.Status == "" {
			continue
		}
		verb = "notready"
		if c.Status == string(corev1.ConditionTrue) {
			verb = "ready"
		}
		return verb, map[string]any{"reason": history.Short(c.Reason), "message": history.Short(c.Message)}
	}
	return "", nil
}

// podNews adds a report to what is known of the pod.
func (c *Converter) podNews(pod history.Object, r *report) (verb string, detail map[string]any) {
	p := c.pods[pod]
	if p == nil || p.uid != r.Metadata.UID {
		if c.pods == nil {
			c.pods = map[history.Object]*podState{}
		}
		p = &podState{uid: r.Metadata.UID}
		c.pods[pod] = p
	}
	p.phase, p.ip = cmp.Or(r.Status.Phase, p.phase), cmp.Or(r.Status.PodIP, p.ip)
	p.look(r.Status.ContainerStatuses)
	switch {
	case p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed:
		verb, detail = "terminated", map[string]any{"exitCode": p.exitCode, "reason": p.reason}
	case p.waiting != "":
		verb, detail = "waiting", map[string]any{"reason": p.waiting}
	case p.phase == corev1.PodRunning:
		verb, detail = "running", map[string]any{"ip": p.ip}
	}
	state := verb + " " + p.waiting
	if verb == "" || state == p.recorded {
		return "", nil
	}
	p.recorded = state
	return verb, detail
}

// look finds a container that waits for more than its start, and how they ended. No
// list means that nothing has changed.
func (p *podState) look(containers []corev1.ContainerStatus) {
	if len(containers) == 0 {
		return
	}
	p.waiting, p.exitCode, p.reason = "", 0, ""
	for _, c := range containers {
		if w := c.State.Waiting; w != nil && p.waiting == "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			p.waiting = history.Short(w.Reason)
		}
		if t := c.State.Terminated; t != nil && p.exitCode == 0 {
			p.exitCode, p.reason = t.ExitCode, history.Short(t.Reason)
		}
	}
}
