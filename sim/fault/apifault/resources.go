package apifault

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"nodestorm/sim/fault"
)

// CheckResources compares rules with what a cluster serves, CRDs included: a
// resource, subresource or verb that it does not know, or a namespace for what has
// none, never matches.
func CheckResources(client discovery.DiscoveryInterface, rules []fault.Fault) error {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // one group's server may be down
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	for _, r := range rules {
		if err := matchOf(r).served(lists); err != nil {
			return fmt.Errorf("rule %q can never match: %w", r.Name, err)
		}
	}
	return nil
}

func (m Match) served(lists []*metav1.APIResourceList) error {
	if m.Resource == wildcard {
		return nil
	}
	want := schema.ParseGroupResource(m.Resource)
	var verbs, subresources []string
	known, namespaced, matched := false, false, false
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || want.Group != "" && gv.Group != want.Group || want.Group == "" && !builtIn(gv.Group) {
			continue
		}
		for _, r := range list.APIResources {
			resource, sub, _ := strings.Cut(r.Name, "/")
			if resource != want.Resource {
				continue
			}
			known = true
			namespaced = namespaced || r.Namespaced
			if sub != "" && !slices.Contains(subresources, sub) {
				subresources = append(subresources, sub)
			}
			if m.Subresource == wildcard || m.Subresource == sub {
				matched = true
				verbs = append(verbs, r.Verbs...)
			}
		}
	}
	switch {
	case !known:
		return fmt.Errorf("the API server serves no resource %q", m.Resource)
	case !matched:
		return fmt.Errorf("%s has no subresource %q (it has: %s)", m.Resource, m.Subresource, strings.Join(subresources, ", "))
	case m.Namespace != "" && !namespaced && want.Resource != "namespaces":
		return fmt.Errorf("%s are in no namespace", m.Resource)
	}
	if len(m.Verbs) > 0 && !slices.ContainsFunc(m.Verbs, func(v string) bool { return slices.Contains(verbs, v) }) {
		return fmt.Errorf("%s takes no %s", strings.TrimSuffix(m.Resource+"/"+m.Subresource, "/"), strings.Join(m.Verbs, ", "))
	}
	return nil
}
