package checker

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// check finds what is wrong with the pattern, given what is captured before. A pattern that no event can match is: that
// something never happens, or is absent, would be true of every history.
func (p *Pattern) check(captured map[string]bool) error {
	if !p.Source.isSet() {
		return fmt.Errorf("source is missing (allowed: %v)", history.Sources())
	}
	for _, source := range p.Source.values {
		if !slices.Contains(history.Sources(), history.Source(source)) {
			return fmt.Errorf("unknown source %q (allowed: %v)", source, history.Sources())
		}
	}
	for _, check := range []func() error{
		p.checkValues, p.checkVerb, p.checkResource, p.checkAbout, p.checkCode, p.checkNamespace, p.checkName, p.checkActor,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
		if !p.Detail[key].isSet() {
			return fmt.Errorf("detail %q has no value to compare with", key)
		}
		if err := p.checkDetail(key); err != nil {
			return err
		}
	}
	for _, name := range p.captures() {
		// mutant: a capture from nowhere is allowed
		if !captured[name] {
			return fmt.Errorf("$%s is not captured by an element before", name)
		}
	}
	return nil
}

// sources are those that the pattern names; none of a pattern that says which it is not of.
func (p *Pattern) sources() (sources []history.Source) {
	if p.Source.op != "" {
		return nil
	}
	for _, source := range p.Source.values {
		sources = append(sources, history.Source(source))
	}
	return sources
}

// ofSource names the sources in an error.
func (p *Pattern) ofSource() string { return "of source " + strings.Join(p.Source.values, ", ") }

// checkSources is what check says of the sources if it has something to say of each: events of one that it has nothing to say of
// may match.
func (p *Pattern) checkSources(check func(history.Source) error) (first error) {
	for _, source := range p.sources() {
		err := check(source)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// checkValues finds what no value of a field can be.
func (p *Pattern) checkValues() error {
	for _, name := range fieldNames {
		if err := p.field(name).check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
		if err := p.Detail[key].check(); err != nil {
			return fmt.Errorf("detail %q: %w", key, err)
		}
	}
	return nil
}

// checkVerb finds a verb that no event has.
func (p *Pattern) checkVerb() error {
	var known []string
	for _, source := range p.sources() {
		verbs := vocabulary.Verbs(source)
		if verbs == nil {
			return nil
		}
		known = append(known, verbs...)
	}
	if len(known) == 0 || !p.Verb.isSet() || p.Verb.op == "exists" {
		return nil
	}
	for _, verb := range p.Verb.Plain() {
		// mutant: any verb is one
		if !slices.Contains(known, verb) {
			return fmt.Errorf("unknown verb %q %s (allowed: %s)%s", verb, p.ofSource(), strings.Join(known, ", "), strict.Meant(verb, known))
		}
	}
	if !p.Verb.MayMatch(known) {
		return fmt.Errorf("verb: no verb %s is like that (there are %s)", p.ofSource(), strings.Join(known, ", "))
	}
	return nil
}

// checkResource finds a resource that no event is about.
func (p *Pattern) checkResource() error {
	for _, word := range p.Resource.Plain() {
		// mutant: any resource is one
		if err := p.checkSources(func(source history.Source) error { return resourceOf(source, word) }); err != nil {
			return err
		}
	}
	if p.Source.onlyHas(string(history.API)) && p.Resource.isSet() && p.Resource.op == "" &&
		!slices.ContainsFunc(p.Resource.values, func(word string) bool { return !vocabulary.Unwritten(word) }) {
		return fmt.Errorf("resource: no call on %q is in a history: there are too many", p.Resource.values[0])
	}
	for _, word := range p.Resource.WholeValues() {
		if near := strict.Nearest(word, vocabulary.Served()); near != "" && p.Source.onlyHas(string(history.API)) {
			return fmt.Errorf("resource: %q is unknown, did you mean %q? Say {matches: %q} if the scenario brings it", word, near, word)
		}
	}
	return nil
}

func resourceOf(source history.Source, word string) error {
	if meant := vocabulary.Meant(word); meant != "" {
		return fmt.Errorf("resource: %q is none, did you mean %q?", word, meant)
	}
	switch source {
	case history.API:
		return served(word)
	case history.Fault: // with the group, where one is of a call to the API server
		plural, _, grouped := strings.Cut(word, ".")
		if err := served(plural); err != nil && !grouped && !slices.Contains(inFaults, word) {
			return err
		}
		return nil
	}
	known := vocabulary.ResourcesOf(source, "")
	if known == nil || slices.Contains(known, word) {
		return nil
	}
	known = slices.DeleteFunc(known, func(resource string) bool { return resource == "" })
	if len(known) == 0 {
		return fmt.Errorf("resource: events of source %s are about none", source)
	}
	return fmt.Errorf("resource: no event of source %s is about %q (allowed: %s)%s", source, word, strings.Join(known, ", "),
		strict.Meant(word, known))
}

// inFaults are the resources of what can be broken beside calls to the API server.
var inFaults = []string{vocabulary.Instances, vocabulary.NodeGroups}

// plural is how the API server names resources.
var plural = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// served finds what no API server of a world has, as far as that can be known: a scenario may bring resources of its own.
func served(word string) error {
	if meant := vocabulary.Plural(word); meant != "" {
		return fmt.Errorf("resource: %q is none, did you mean %q?", word, meant)
	}
	if resource, part, is := strings.Cut(word, "/"); is {
		return fmt.Errorf("resource: %q is none: say resource: %s, and say subresource: %s in detail", word, resource, part)
	}
	if resource, _, is := strings.Cut(word, "."); is {
		return fmt.Errorf("resource: %q is none: an event has no group, did you mean %q?", word, resource)
	}
	if !plural.MatchString(word) {
		return fmt.Errorf("resource: %q is none: want the plural in lower case, such as pods", word)
	}
	return nil
}

// checkAbout finds events that are about other things than the pattern, or about nothing.
func (p *Pattern) checkAbout() error {
	verbs := []string{""}
	if p.Verb.isSet() {
		if verbs = p.Verb.Plain(); p.Verb.op != "" || len(verbs) < len(p.Verb.values) {
			return nil
		}
	}
	var known []string
	for _, source := range p.sources() {
		for _, verb := range verbs {
			about := vocabulary.ResourcesOf(source, verb)
			if about == nil && (verb == "" || slices.Contains(vocabulary.Verbs(source), verb)) {
				return nil
			}
			known = append(known, about...)
		}
	}
	if len(known) == 0 {
		return nil
	}
	slices.Sort(known)
	known = slices.DeleteFunc(slices.Compact(known), func(resource string) bool { return resource == "" })
	what := "events " + p.ofSource()
	if p.Verb.isSet() {
		what = fmt.Sprintf("events of verb %s %s", strings.Join(verbs, ", "), p.ofSource())
	}
	for _, name := range []string{"resource", "namespace", "name"} {
		v := p.field(name)
		asks := v.isSet() && v.op != "not" && (v.op != "exists" || v.values[0] != "false")
		// mutant: what is about nothing can have a name
		if asks && len(known) == 0 {
			return fmt.Errorf("%s: %s are about nothing", name, what)
		}
		if asks && name == "resource" && v.op != "exists" && !v.MayMatch(known) {
			return fmt.Errorf("resource: %s are about %s", what, strings.Join(known, " or "))
		}
	}
	return nil
}

// statuses are all that an answer can have.
var statuses = func() (all []string) {
	for code := 100; code < 600; code++ {
		all = append(all, strconv.Itoa(code))
	}
	return all
}()

// checkCode finds what is no status.
func (p *Pattern) checkCode() error {
	if !p.Code.isSet() || p.Code.op == "exists" {
		return nil
	}
	if err := p.checkSources(func(source history.Source) error {
		if vocabulary.HasCode(source) {
			return nil
		}
		return fmt.Errorf("code: events %s have none", p.ofSource())
	}); err != nil {
		return err
	}
	for _, code := range p.Code.Plain() {
		// mutant: any word is a status
		if !slices.Contains(statuses, code) {
			return fmt.Errorf("code: %q is none: want a status such as 200, of 100 to 599; say {matches: \"2..\"} for a class of them, "+
				"{above: 399} for refusals", code)
		}
	}
	if !p.Code.MayMatch(statuses) {
		return fmt.Errorf("code: no status is like that: they are 100 to 599")
	}
	return nil
}

// label is how a namespace can be called.
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// checkNamespace finds what no namespace can be called.
func (p *Pattern) checkNamespace() error {
	if !p.Namespace.isSet() || p.Namespace.op == "exists" {
		return nil
	}
	for _, name := range p.Namespace.Plain() {
		if !label.MatchString(name) {
			return fmt.Errorf("namespace: %q is none: %s", name, asWhole(name))
		}
	}
	return p.checkSources(func(source history.Source) error {
		if vocabulary.HasNamespace(source) {
			return nil
		}
		return fmt.Errorf("namespace: events %s have none", p.ofSource())
	})
}

// asWhole says how to compare a part of a name.
func asWhole(name string) string {
	return fmt.Sprintf("it is compared as a whole; say {matches: %q} for all that are like it",
		strings.NewReplacer("*", ".*", "?", ".").Replace(name))
}

// freelyNamed are the resources of the API server whose objects have names in letters of any size.
var freelyNamed = []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}

// checkName finds what nothing can be called.
func (p *Pattern) checkName() error {
	if slices.Contains(p.sources(), history.Fault) { // of which one that is armed has a pattern of names
		return nil
	}
	for _, name := range p.Name.Plain() {
		// mutant: a name can have stars
		if strings.ContainsAny(name, "*?[]{}^|\\\t\n") {
			return fmt.Errorf("name: nothing is called %q: %s", name, asWhole(name))
		}
		kubernetes := !slices.ContainsFunc(p.sources(), func(s history.Source) bool { return s != history.API && s != history.Node })
		lower := strings.ToLower(name)
		if kubernetes && p.sources() != nil && p.Resource.isSet() && p.Resource.op == "" && lower != name &&
			!slices.ContainsFunc(p.Resource.values, func(r string) bool { return slices.Contains(freelyNamed, r) }) {
			return fmt.Errorf("name: nothing is called %q: names are in lower case, did you mean %q?", name, lower)
		}
	}
	return nil
}

// checkActor finds an actor that no program is: that it never does something would be true of
// every history.
func (p *Pattern) checkActor() error {
	if p.Source.op != "" || !p.Actor.isSet() || p.Actor.op != "" && p.Actor.op != "not" {
		return nil
	}
	for _, name := range p.Actor.values {
		is := func(source string) bool { // where any name may be one, a known one with a typo is none
			of := history.Source(source)
			return vocabulary.IsActor(of, name) && (vocabulary.Actors(of) != nil || strict.Nearest(name, vocabulary.Actors(history.API)) == "")
		}
		if strings.HasPrefix(name, "$") || strings.Contains(name, "${") || slices.ContainsFunc(p.Source.values, is) {
			continue
		}
		meant := strict.Meant(name, vocabulary.Actors(history.Source(p.Source.values[0])))
		return fmt.Errorf("unknown actor %q of source %s: it is a program, such as karpenter or kubelet, or a "+
			"controller of Kubernetes, such as node-controller; say {matches: %q} if it is neither%s", name,
			strings.Join(p.Source.values, ", "), regexp.QuoteMeta(name), meant)
	}
	return nil
}
