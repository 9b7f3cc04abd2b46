package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"nodestorm/harness/draft/lines"
	"nodestorm/harness/program"
)

// auditLog reads kube-apiserver's audit log: an event in JSON a line, or lists of them.
func (r reader) auditLog(in *lines.File) error {
	begin := in.Begin(4096)
	if bytes.Equal(firstLine(begin), []byte("{")) {
		if err := r.json(in); err != nil {
			return err
		}
		if r.c.readAny == 0 {
			return fmt.Errorf("%s: %w", in.Name(), errNoAudit)
		}
		return nil
	}
	wrong, first, last := 0, "", 0
	for line, ok := in.Next(); ok; line, ok = in.Next() {
		at := bytes.IndexByte(line, '{')
		if at < 0 {
			if len(bytes.TrimSpace(line)) > 0 {
				wrong, last = wrong+1, in.Line()
			}
			continue
		}
		if err := r.c.audit(line[at:]); err != nil {
			wrong, last = wrong+1, in.Line()
			if first == "" {
				first = fmt.Sprintf("%s:%d: %v", in.Name(), in.Line(), err)
			}
		}
	}
	r.c.noteMissing(in)
	switch {
	case in.Err() != nil:
		return in.Err()
	case r.c.readAny == 0 && first != "":
		return fmt.Errorf("%s; %w", first, errNoAudit)
	case r.c.readAny == 0:
		return fmt.Errorf("%s: %w", in.Name(), errNoAudit)
	case wrong > 0:
		r.c.addNote("%s: %d lines are no audit events or are cut off, the last of them line %d; all others were taken", in.Base(), wrong, last)
	}
	return nil
}

var errNoAudit = errors.New("no audit log: want an event of audit.k8s.io in JSON on each line, as kube-apiserver writes with " +
	"--audit-log-format=json; --log takes logs, --events events")

// version is in what programs call themselves.
var version = regexp.MustCompile(`/v?([0-9]+\.[0-9]+\.[0-9]+)`)

// bodies are the resources whose objects are looked into: no others, least of all secrets.
var bodies = map[string]string{
	"nodes": "Node", "pods": "Pod", "nodepools": "NodePool", "nodeclaims": "NodeClaim", "priorityclasses": "PriorityClass",
	"machinedeployments": "MachineDeployment", "machinepools": "MachinePool", "deployments": "Deployment", "events": "Event",
}

// audit takes a call. Errors are about its form only.
func (c *Cluster) audit(raw []byte) error {
	var call auditv1.Event
	if err := json.Unmarshal(raw, &call); err != nil {
		return fmt.Errorf("not an audit event: %w", err)
	}
	if call.Verb == "" || call.Stage == "" {
		return errors.New("not an audit event: verb or stage is missing")
	}
	c.readAny++
	if by := program.Autoscaler(call.User.Username + " " + call.UserAgent); by != "" {
		found := ""
		if m := version.FindStringSubmatch(call.UserAgent); m != nil && m[1] != "0.0.0" && strings.HasPrefix(call.UserAgent, by) {
			found = m[1]
		}
		c.runs(by, found)
	}
	ref := call.ObjectRef
	if ref == nil || call.Stage != auditv1.StageResponseComplete || call.ResponseStatus != nil && call.ResponseStatus.Code >= 400 {
		return nil
	}
	switch {
	case ref.Resource == "pods" && ref.Subresource == "binding":
		return c.bound(&call)
	case ref.Resource == "pods" && ref.Subresource == "status":
		return c.unscheduled(&call)
	case ref.Resource == "configmaps" || ref.Subresource != "" && ref.Subresource != "status" || bodies[ref.Resource] == "":
		return nil
	}
	switch call.Verb {
	case "create", "update", "patch":
		body := call.ResponseObject
		if call.Verb == "create" && !isObject(body) {
			body = call.RequestObject
		}
		if !isObject(body) {
			return nil
		}
		return c.addObject(body.Raw, bodies[ref.Resource], ref.APIGroup+"/"+ref.APIVersion)
	}
	return nil
}

// isObject reports whether the body is a whole object, not a patch.
func isObject(body *runtime.Unknown) bool {
	return body != nil && len(body.Raw) > 0 && body.Raw[0] == '{' && bytes.Contains(body.Raw, []byte(`"spec"`)) ||
		body != nil && bytes.Contains(body.Raw, []byte(`"involvedObject"`))
}

func (c *Cluster) bound(call *auditv1.Event) error {
	if call.RequestObject == nil {
		return nil
	}
	return decode(call.RequestObject.Raw, func(b *corev1.Binding) {
		c.pod(call.ObjectRef.Namespace, call.ObjectRef.Name).node = b.Target.Name
	})
}

// unscheduled is what the scheduler says of a pod, as a whole or as a patch.
func (c *Cluster) unscheduled(call *auditv1.Event) error {
	for _, body := range []*runtime.Unknown{call.RequestObject, call.ResponseObject} {
		if body == nil || len(body.Raw) == 0 || body.Raw[0] != '{' {
			continue
		}
		err := decode(body.Raw, func(p *corev1.Pod) {
			for _, cond := range p.Status.Conditions {
				if cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionFalse && cond.Reason == corev1.PodReasonUnschedulable {
					c.pod(call.ObjectRef.Namespace, call.ObjectRef.Name).markUnschedulable(call.StageTimestamp.Time, cond.Message)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
