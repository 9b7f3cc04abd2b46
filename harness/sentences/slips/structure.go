package slips

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

var (
	// computeResources are those that requests and limits name without a domain.
	computeResources = []string{"cpu", "memory", "ephemeral-storage", "storage"}
	// fieldsOf are fields that patches change, by what they are of.
	fieldsOf = map[string][]string{
		"template": {"metadata", "spec"},
		"metadata": {"labels", "annotations", "finalizers", "name", "namespace", "deletionTimestamp"},
	}
	// labelValues are those of labels that have few values.
	labelValues = map[string][]string{
		"kubernetes.io/arch":               {"amd64", "arm64", "s390x", "ppc64le"},
		"kubernetes.io/os":                 {"linux", "windows"},
		"karpenter.sh/capacity-type":       {"spot", "on-demand", "reserved"},
		"node.kubernetes.io/instance-type": {"amd64", "arm64", "linux"}, // parts of it
	}
)

// structure finds what is wrong with a part of an object, whatever object it is of.
type structure struct {
	step  int
	wrong []Problem
}

func (s *structure) add(format string, args ...any) {
	s.wrong = append(s.wrong, Problem{s.step, fmt.Errorf(format, args...)})
}

// ofStructure finds parts of objects, and of patches of them, that no API server takes, or takes and nothing comes of.
func ofStructure(steps []*messages.PickleStep) (wrong []Problem) {
	for i, step := range steps {
		if step.Argument == nil || step.Argument.DocString == nil {
			continue
		}
		s := structure{step: i}
		for n := range documents(step.Argument.DocString.Content) {
			if strings.HasSuffix(step.Text, " is patched with:") && len(n.Content) > 0 {
				s.patch(n.Content[0])
			}
			s.walk(n, nil, 100)
		}
		wrong = append(wrong, s.wrong...)
	}
	return wrong
}

// patch finds fields of a patch that no object has.
func (s *structure) patch(n *yaml.Node) {
	known := []string{"metadata", "spec", "status", "data"}
	for key := range pairs(n) {
		// mutant: a patch may be of any field
		if near := strict.Nearest(key.Value, known); near != "" {
			s.add("the patch is of %q, which no object has: did you mean %q?", key.Value, near)
		}
	}
}

// walk looks at a node below such fields. Aliases are left alone.
func (s *structure) walk(n *yaml.Node, path []string, depth int) {
	if depth == 0 {
		return
	}
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, child := range n.Content {
			s.walk(child, path, depth-1)
		}
	case yaml.MappingNode:
		s.mapping(n, path)
		for key, value := range pairs(n) {
			s.walk(value, append(slices.Clone(path), key.Value), depth-1)
		}
	}
}

func (s *structure) mapping(n *yaml.Node, path []string) {
	last, above := "", ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	if len(path) > 1 {
		above = path[len(path)-2]
	}
	of := map[string]*yaml.Node{}
	for key, value := range pairs(n) {
		of[key.Value] = value
		if slices.Contains(labelled, last) && strings.Contains(key.Value, "/") {
			s.domain(key.Value)
		}
		switch {
		// mutant: a container may ask for any resource
		case above == "resources" && (last == "requests" || last == "limits") && !strings.Contains(key.Value, "/") &&
			!strings.HasPrefix(key.Value, "hugepages-") && !slices.Contains(computeResources, key.Value):
			s.add("%s: the API server refuses the resource %q: want %s, or one with a domain, such as example.com/gpu%s", last, key.Value,
				strings.Join(computeResources, ", "), strict.Meant(key.Value, computeResources))
		case key.Value == "apiVersion" && strings.Contains(value.Value, "/"):
			s.group("apiVersion", value.Value[:strings.Index(value.Value, "/")])
		case key.Value == "resource" && strings.Contains(value.Value, "."):
			s.group("resource", value.Value[strings.Index(value.Value, ".")+1:])
		case key.Value == "group":
			s.group(cmp.Or(last, key.Value), value.Value)
		// mutant: a port may have any number
		case (key.Value == "containerPort" || key.Value == "hostPort") && !isPort(value.Value):
			s.add("%s: the API server refuses %s: want a number from 1 to 65535", key.Value, value.Value)
		// mutant: a number of an object may begin with a zero
		case value.Kind == yaml.ScalarNode && value.Style == 0 && zeroLed.MatchString(value.Value):
			s.add("%s: the number %s begins with a zero: leave the zero out, or put it where it belongs", key.Value, value.Value)
		// mutant: what patches change has any field
		case strict.Nearest(key.Value, fieldsOf[last]) != "":
			s.add("%s has no field %q: did you mean %q?", last, key.Value, strict.Nearest(key.Value, fieldsOf[last]))
		case last == "nodeSelector":
			s.values(key.Value, value)
		}
	}
	if last == "nodeClassRef" && of["group"] != nil && of["kind"] != nil {
		s.class(of["group"].Value, of["kind"].Value)
	}
	if last != "requirements" && last != "matchExpressions" || of["operator"] == nil {
		return
	}
	// mutant: a requirement may be of no key
	if of["key"] == nil {
		s.add("%s: the API server refuses one without a key", last)
	} else if of["values"] != nil {
		s.values(of["key"].Value, of["values"].Content...)
	}
}

// group finds a group of APIs that is almost one of those of Karpenter and Cluster API.
func (s *structure) group(field, group string) {
	// mutant: a reference may be to any group
	if near := strict.NearestName(group, vocabulary.CustomGroups()); near != "" {
		s.add("%s: %q is no group of APIs: did you mean %q?", field, group, near)
	}
}

// class finds a node class of a kind that its group does not have.
func (s *structure) class(group, kind string) {
	// mutant: a group may have any kind of node class
	if kinds := vocabulary.CustomKinds(group); len(kinds) > 0 && !slices.Contains(kinds, kind) {
		s.add("nodeClassRef: %s has no kind %q: want %s", group, kind, strings.Join(kinds, " or "))
	}
}

// domain finds the key of a label whose domain is almost one of those that the programs have.
func (s *structure) domain(key string) {
	domain, _, _ := strings.Cut(key, "/")
	// mutant: the domain of a label may be almost another
	if near := strict.NearestName(domain, domains()); near != "" {
		s.add("%s: %q is spelled almost like the domain %q: did you mean that?", key, domain, near)
	}
}

// domains are those of labels that Kubernetes and the programs have.
var domains = sync.OnceValue(func() []string {
	all := vocabulary.CustomGroups()
	for _, word := range vocabulary.Words() {
		if domain, _, is := strings.Cut(word, "/"); is {
			all = append(all, domain)
		}
	}
	return all
})

// isPort reports whether a text is the number of a port, or of a row of an outline.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n <= 65535 || strings.Contains(text, "<")
}

// zeroLed is a number or a quantity that begins with a zero.
var zeroLed = regexp.MustCompile(`^0[0-9]+(m|[KMGT]i?)?$`)

// values finds values of a label that are almost one of the few that it has.
func (s *structure) values(key string, values ...*yaml.Node) {
	known := labelValues[key]
	for _, value := range values {
		words := []string{value.Value}
		if strings.HasSuffix(key, "/instance-type") {
			words = strings.Split(value.Value, "-")
		}
		for _, word := range words {
			// mutant: a label with few values may have another one
			if near := nearest(word, known); near != "" {
				s.add("%s: %q is no value of it: did you mean %q?", key, word, near)
			}
		}
	}
}

// nearest is strict.Nearest, or a word with the same letters and the same digits in another order.
func nearest(word string, known []string) string {
	if near := strict.Nearest(word, known); near != "" || slices.Contains(known, word) {
		return near
	}
	for _, other := range known {
		if len(word) == len(other) && digits.ReplaceAllString(word, "") == digits.ReplaceAllString(other, "") &&
			letters.ReplaceAllString(word, "") == letters.ReplaceAllString(other, "") {
			return other
		}
	}
	return ""
}
