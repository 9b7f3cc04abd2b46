package apifault

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"nodestorm/sim/fault"
)

// Load reads a file of rules. An error says in one line what is wrong and what would be right. What a cluster must be
// asked about (resources of CRDs), it leaves to CheckResources.
func Load(text []byte) ([]fault.Fault, error) { return fault.Parse(text, Rules) }

var knownVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// checkTogether finds what is wrong with good rules that are to be armed together, in that order: one that can never match,
// and those that contradict.
func checkTogether(rules []fault.Fault) error {
	if len(rules) == 0 {
		return errors.New("there is no rule: the field rules is missing or empty")
	}
	for i, r := range rules {
		match := matchOf(r)
		for _, before := range rules[:i] {
			if first := matchOf(before); before.Always() && first.covers(&match) {
				if reflect.DeepEqual(first, match) {
					return fmt.Errorf("rule %q contradicts rule %q: both are about the same calls, and only the first takes them; "+
						"give it a limit, or drop one", r.Name, before.Name)
				}
				return fmt.Errorf("rule %q can never act: rule %q before it takes all of its calls; "+
					"put it first, or give the other a limit", r.Name, before.Name)
			}
		}
	}
	return nil
}

func matchOf(rule fault.Fault) Match {
	match, _ := rule.Match.(Match)
	return match
}

// Check implements fault.Match.
func (m Match) Check() error {
	if m.Resource == "" {
		return fmt.Errorf("match.resource is missing: want a plural such as pods or machinedeployments.cluster.x-k8s.io, "+
			"or %q for all", wildcard)
	}
	for _, verb := range m.Verbs {
		if !slices.Contains(knownVerbs, verb) {
			return fmt.Errorf("unknown verb %q (allowed: %s)", verb, strings.Join(knownVerbs, ", "))
		}
	}
	for field, pattern := range map[string]string{"client": m.Client, "namespace": m.Namespace, "name": m.Name} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("match.%s is no pattern: %q has an open bracket or ends in a backslash", field, pattern)
		}
	}
	if strings.ContainsAny(m.Client, "/ ") {
		return fmt.Errorf("match.client is %q: want the user agent's product only, %q", m.Client, product(m.Client))
	}
	if err := m.checkResource(); err != nil {
		return err
	}
	return m.checkVerbs()
}

// One implements fault.Match.
func (Match) One() string { return "" }

// checkResource looks up resources that Kubernetes itself serves.
func (m *Match) checkResource() error {
	if m.Resource == wildcard {
		return nil
	}
	gr := schema.ParseGroupResource(m.Resource)
	if strings.ContainsAny(m.Resource, "/* ") || m.Resource != strings.ToLower(m.Resource) {
		return fmt.Errorf("match.resource is %q: want one plural in lower case; what follows a slash is match.subresource", m.Resource)
	}
	if !builtIn(gr.Group) {
		return nil // a CRD's, or an aggregated API's
	}
	var near []string
	for gvk := range scheme.Scheme.AllKnownTypes() {
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		switch {
		case gr.Group != "" && gvk.Group != gr.Group:
		case plural.Resource == gr.Resource:
			return nil
		case singular.Resource == gr.Resource:
			near = append(near, plural.Resource)
		}
	}
	// Served by Kubernetes, and not in the client's scheme.
	if slices.Contains([]string{"customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io"}, m.Resource) {
		return nil
	}
	if len(near) > 0 {
		return fmt.Errorf("unknown resource %q: want the plural, %q", m.Resource, near[0])
	}
	return fmt.Errorf("unknown resource %q: it is none of Kubernetes' own; a CRD's needs its group, "+
		"as in machinedeployments.cluster.x-k8s.io", m.Resource)
}

// checkVerbs finds verbs that never go with the rest of the match.
func (m *Match) checkVerbs() error {
	sub := m.Subresource != "" && m.Subresource != wildcard
	named := m.Name != "" && m.Name != wildcard
	var never []string
	for _, verb := range m.Verbs {
		switch verb {
		case "list", "watch", "deletecollection":
			if sub {
				never = append(never, verb+" is never about a subresource")
			}
		case "create":
			if named && m.Subresource == "" {
				never = append(never, "create has no name in its path")
			}
		}
	}
	if len(never) == len(m.Verbs) && len(never) > 0 {
		return fmt.Errorf("it can never match: %s", strings.Join(never, ", "))
	}
	return nil
}

// covers reports whether the match is about every call that other is about. Of two
// patterns it knows only whether they are the same.
func (m *Match) covers(other *Match) bool {
	for _, verb := range knownVerbs {
		if other.hasVerb(verb) && !m.hasVerb(verb) {
			return false
		}
	}
	within := func(pattern, s string) bool {
		return pattern == "" || pattern == wildcard || pattern == s || !strings.ContainsAny(s, `*?[\`) && matchesGlob(pattern, s)
	}
	mine, theirs := schema.ParseGroupResource(m.Resource), schema.ParseGroupResource(other.Resource)
	anyGroup := mine.Group == "" && mine.Resource == theirs.Resource && builtIn(theirs.Group)
	return (m.Resource == wildcard || m.Resource == other.Resource || anyGroup) &&
		(m.Subresource == wildcard || m.Subresource == other.Subresource) &&
		within(m.Namespace, other.Namespace) && within(m.Name, other.Name) && within(m.Client, other.Client)
}

func (m *Match) hasVerb(verb string) bool { return len(m.Verbs) == 0 || slices.Contains(m.Verbs, verb) }
