package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Converter turns lines of an audit log, in their order, into events. It
// remembers the taints of each node to find what a call added and removed, and what
// kubelets said of their pods. The zero value is ready; it is not safe for concurrent
// use.
type Converter struct {
	// Stranger is called for each call whose caller kube-apiserver did not know: with no credentials, or wrong ones. Any process on
	// the machine can make such calls, in any program's name and with any method, so they are no events. Nil: not called.
	Stranger func()

	taints map[string][]string // by node
	pods   map[history.Object]*podState
}

// Events returns the event of one line, and after it what a kubelet's call means for
// its Node or pod, with source "node". There is none for a line that holds no
// finished call (another stage). An error says what the line is instead, or what of
// it cannot be read; record it as history.Unreadable, since a history that lacks a
// call proves nothing.
func (c *Converter) Events(line []byte) ([]history.Event, error) {
	var call auditv1.Event
	if err := json.Unmarshal(line, &call); err != nil {
		return nil, fmt.Errorf("not an audit event: %w", err)
	}
	// mutant: who shows no credentials is who he says he is
	if unknown(&call) {
		if c.Stranger != nil && call.Stage == auditv1.StageResponseComplete {
			c.Stranger()
		}
		return nil, nil
	}
	if call.Verb == "" || call.Stage == "" {
		return nil, fmt.Errorf("not an audit event: verb or stage is missing")
	}
	finished := call.Stage == auditv1.StageResponseComplete || call.Stage == auditv1.StagePanic
	// mutant: patches are missing from the history
	if !finished || call.ObjectRef == nil {
		return nil, nil
	}
	ref := call.ObjectRef
	event := history.Event{
		At:     call.StageTimestamp.Time,
		Source: history.API,
		Verb:   call.Verb,
		Object: history.Object{Resource: ref.Resource, Namespace: ref.Namespace, Name: ref.Name},
		Detail: map[string]any{},
	}
	event.Actor, event.Detail["agent"] = actor(&call)
	if event.Detail["agent"] == event.Actor || event.Detail["agent"] == "" {
		delete(event.Detail, "agent")
	}
	for _, group := range call.User.Groups {
		// mutant: which of two replicas has called is not in the history
		if name, is := strings.CutPrefix(group, replicaGroup); is {
			event.Detail["replica"] = name
		}
	}
	if ref.Subresource != "" {
		event.Detail["subresource"] = ref.Subresource
	}
	if call.Stage == auditv1.StagePanic {
		event.Detail["panic"] = true
	}
	failed := false
	if status := call.ResponseStatus; status != nil {
		// mutant: a refused call looks like a good one
		event.Code = int(status.Code)
		// Who applies what is not there creates it, by a patch.
		// mutant: what is applied anew is changed
		if call.Verb == "patch" && status.Code == http.StatusCreated {
			event.Verb, event.Detail["applied"] = "create", true
		}
		if failed = status.Code >= 400; failed {
			event.Detail["error"] = history.Short(status.Message)
		}
	}
	if !failed {
		if err := c.facts(&call, &event); err != nil {
			return nil, err
		}
	}
	if len(event.Detail) == 0 {
		event.Detail = nil
	}
	news, err := c.reported(&call, event)
	if err != nil {
		return nil, fmt.Errorf("report of %s %s: %w", event.Verb, event.Object, err)
	}
	return append([]history.Event{event}, news...), nil
}

// unknown reports whether kube-apiserver knew no caller. Where credentials are wrong it notes no user at all.
func unknown(call *auditv1.Event) bool {
	refused := call.ResponseStatus != nil && call.ResponseStatus.Code == http.StatusUnauthorized
	return slices.Contains(call.User.Groups, "system:unauthenticated") || call.User.Username == "" && refused
}

// facts adds to the event what the bodies say, and the name of an object that
// the API server named.
func (c *Converter) facts(call *auditv1.Event, event *history.Event) error {
	var asked, got body
	if !hasDetail(call.ObjectRef) { // others have fields of these names, too, and other things in them
		event.Object.Name = cmp.Or(event.Object.Name, nameIn(call.ResponseObject))
		return nil
	}
	if err := asked.read(call.RequestObject); err != nil {
		return fmt.Errorf("request of %s %s: %w", event.Verb, event.Object, err)
	}
	if err := got.read(call.ResponseObject); err != nil {
		return fmt.Errorf("response of %s %s: %w", event.Verb, event.Object, err)
	}
	if event.Object.Name == "" {
		event.Object.Name = got.Metadata.Name
	}
	add := func(facts map[string]any) { maps.Copy(event.Detail, facts) }
	switch resource := call.ObjectRef.Resource; {
	case resource == "nodes":
		if event.Verb == "create" { // not at its deletion, which finalizers may put off
			delete(c.taints, event.Object.Name)
			add(got.resources())
		}
		if got.present {
			if call.ObjectRef.Subresource == "" { // labels may come later, as those of a controller manager
				add(got.machine())
			}
			add(got.node())
			add(c.taintChange(event.Object.Name, taintStrings(got.Spec.Taints)))
		}
	case (call.ObjectRef.Subresource == "scale" || resource == "nodepools") && asked.present:
		add(asked.replicas())
	case resource == "nodeclaims" && got.present:
		add(got.nodeClaim())
		add(got.machine())
	case resource == "certificatesigningrequests" && got.present:
		add(got.certificate())
	case resource == vocabulary.VPAs && got.present:
		add(got.resources())
	case resource == vocabulary.VPACheckpoints && got.present:
		add(got.samples())
	case (resource == vocabulary.ProvisioningRequests || resource == vocabulary.Workloads) && got.present:
		add(got.conditions())
	case resource == "events" && got.present:
		add(got.event())
	case resource == "pods" && call.ObjectRef.Subresource == "status" && asked.present:
		add(asked.unschedulable())
	case resource == "pods" || resource == "bindings":
		add(asked.pod())
		add(got.pod())
		if event.Verb == "create" && call.ObjectRef.Subresource == "" {
			add(got.resources())
		}
	}
	return nil
}

// hasDetail reports whether the bodies of calls on it become detail.
func hasDetail(object *auditv1.ObjectReference) bool {
	return object.Subresource == "scale" ||
		vocabulary.ResourceNamed(object.Resource).Detailed
}

// taintChange returns the node's taints and what changed since its last call.
func (c *Converter) taintChange(node string, now []string) map[string]any {
	if c.taints == nil {
		c.taints = map[string][]string{}
	}
	before := c.taints[node]
	c.taints[node] = now
	facts := map[string]any{"taints": now}
	if added := subtract(now, before); len(added) > 0 {
		facts["added"] = added
	}
	if removed := subtract(before, now); len(removed) > 0 {
		// mutant: taints that went are not recorded
		facts["removed"] = removed
	}
	return facts
}

func subtract(list, remove []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(remove, s) })
}

// actor returns who called: the user without "system:" and a service account's
// namespace, or the program for users that say nothing (administrators, nodes), or the one
// whose identity it is known to be.
func actor(call *auditv1.Event) (who, program string) {
	user := call.User
	if call.ImpersonatedUser != nil {
		user = *call.ImpersonatedUser
	}
	program = history.Short(call.UserAgent)
	if end := strings.IndexAny(program, "/ "); end >= 0 {
		program = program[:end]
	}
	who = strings.TrimPrefix(user.Username, "system:")
	if account, ok := strings.CutPrefix(who, "serviceaccount:"); ok {
		// mutant: service accounts are all one
		who = account[strings.LastIndexByte(account, ':')+1:]
	}
	if program != "" && (who == "" || strings.HasPrefix(who, "node:") || slices.Contains(user.Groups, "system:masters")) {
		who = program
	}
	for _, group := range user.Groups {
		if named, is := strings.CutPrefix(group, programGroup); is {
			who = named
		}
	}
	return history.Short(who), program
}
