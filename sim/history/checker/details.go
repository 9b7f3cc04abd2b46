package checker

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// checkDetail finds a detail that no event has, and a value that it never has.
func (p *Pattern) checkDetail(key string) error {
	if err := p.checkKey(key); err != nil {
		return err
	}
	return p.checkSources(func(source history.Source) error { return vocabulary.Compare(source, key, p.Detail[key]) })
}

// checkKey finds a detail that no event of the sources has, or none about the resources.
func (p *Pattern) checkKey(key string) error {
	name, part, parted := strings.Cut(key, ".")
	var known []string
	for _, source := range p.sources() {
		known = append(known, vocabulary.Details(source)...)
	}
	if len(known) == 0 {
		return nil
	}
	// mutant: any detail is one
	if !slices.Contains(known, name) {
		return fmt.Errorf("unknown detail %q %s (allowed: %s)%s", key, p.ofSource(), strings.Join(known, ", "), strict.Meant(name, known))
	}
	if err := p.checkOnlyOf(name); err != nil || !parted {
		return err
	}
	if err := p.checkSources(func(source history.Source) error {
		if form := vocabulary.FormOf(source, name); form != vocabulary.Mapping {
			return fmt.Errorf("detail %q has no parts: it is a %s", name, form)
		}
		return nil
	}); err != nil {
		return err
	}
	if near := strict.Nearest(part, vocabulary.Parts(name)); near != "" {
		return fmt.Errorf("detail %q: unknown part, did you mean %q? (known: %s)", key, name+"."+near, strings.Join(vocabulary.Parts(name), ", "))
	}
	return nil
}

// checkOnlyOf finds a detail that calls on the resources of the pattern do not have.
func (p *Pattern) checkOnlyOf(detail string) error {
	only := vocabulary.OnlyOf(detail)
	if only == nil || !p.Source.onlyHas(string(history.API)) || !p.Resource.isSet() || p.Resource.op == "exists" || p.Resource.MayMatch(only) {
		return nil
	}
	return fmt.Errorf("detail %q: only events about %s have it", detail, strings.Join(only, " or "))
}

// checkPath finds a field that no event of the pattern has.
func (p *Pattern) checkPath(path string) error {
	if err := checkField(path); err != nil {
		return err
	}
	if key, is := strings.CutPrefix(path, "detail."); is {
		return p.checkKey(key)
	}
	return nil
}
