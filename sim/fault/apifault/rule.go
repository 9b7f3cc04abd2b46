package apifault

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"nodestorm/sim/fault"
)

// Rules are what can go wrong with some of the client's calls.
//
// Of a call that several active rules are about, the first in their order that does not skip it takes it. At counts
// from when the rule is armed, or from the event of its When; what a rule holds back goes on when its For is over. Its
// occasions are matching calls. Every step is in the history; a rule that is over before it made a difference never
// becomes effective, and Proxy.Unmet lists it.
var Rules = &fault.List{
	Name: "rules", About: "a program's way to its API server", Noun: "rule", Match: Match{}, Within: "match", Below: "act",
	Order: "delay answer drop hold lose otherWriter staleList freeze cut expire", Together: checkTogether,
}

// What sentences are about: calls of a program, and lists and watches only.
var (
	calls   = Rules.Subject(`EVERY-CALL "CALL" of the program "PROGRAM"`, "", "", "match.client")
	lists   = Rules.Subject(`EVERY-CALL "LIST" of the program "PROGRAM"`, "", "", "match.client")
	watches = Rules.Subject(`EVERY-CALL "WATCH" of the program "PROGRAM"`, "", "", "match.client")
)

// How the sentences begin of rules that schedules draw.
const (
	drawnCall  = `{calls} "{writes}" of the program "{program}"`
	drawnWatch = `every call "{watches}" of the program "{program}"`
)

// Match says which calls a rule is about. Fields that are not given match
// anything, but see Subresource. Namespace, Name and Client are patterns as of
// path.Match: "workers-*".
type Match struct {
	// Client is the product of the user agent, such as "cluster-autoscaler": programs may share
	// the client's credential.
	Client string `json:"client,omitempty"`
	// Verbs are those of RBAC: get, list, watch, create, update, patch, delete,
	// deletecollection.
	Verbs []string `json:"verbs,omitempty"`
	// Resource is the plural as in RBAC, with its group after a dot unless it is
	// one of Kubernetes' own: "pods", "machinedeployments.cluster.x-k8s.io". "*"
	// is any. Required.
	Resource string `json:"resource"`
	// Subresource is "scale", "status", and so on. Empty is the object itself, as
	// in RBAC; "*" is any, and the object itself.
	Subresource string `json:"subresource,omitempty"`
	// Namespace is that of the object, a pattern with *.
	Namespace string `json:"namespace,omitempty"`
	// Name is that in the path, a pattern with *. Lists and watches have one when a field selector
	// asks for it, and creations have none.
	Name string `json:"name,omitempty"`
}

// wildcard stands for any resource, or any subresource.
const wildcard = "*"

func (m *Match) matches(info *request.RequestInfo, agent string) bool {
	// mutant: an API fault acts on any verb
	if !info.IsResourceRequest || len(m.Verbs) > 0 && !slices.Contains(m.Verbs, info.Verb) {
		return false
	}
	if m.Resource != wildcard {
		gr := schema.ParseGroupResource(m.Resource)
		if gr.Resource != info.Resource || gr.Group != "" && gr.Group != info.APIGroup || gr.Group == "" && !builtIn(info.APIGroup) {
			return false
		}
	}
	return (m.Subresource == wildcard || m.Subresource == info.Subresource) &&
		// mutant: an API fault acts on any client
		matchesGlob(m.Namespace, info.Namespace) && matchesGlob(m.Name, info.Name) && matchesGlob(m.Client, product(agent))
}

// builtIn reports whether a group is one that Kubernetes itself serves, whose
// resources rules may name without it.
func builtIn(group string) bool {
	return group == "" || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".x-k8s.io")
}

func matchesGlob(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	ok, _ := path.Match(pattern, s) // Check has looked at the pattern
	return ok
}
