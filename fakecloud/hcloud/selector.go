package hcloud

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// selector is a parsed label selector, as docs.hetzner.cloud has it under "Label Selector". The
// syntax is that of Kubernetes, whose parser this package leaves alone: fakecloud has nothing of Kubernetes in it.
type selector []requirement

type requirement struct {
	key string
	// values: one of them, or with not none of them; nil means the key alone.
	values []string
	not    bool
}

// keyPattern and valuePattern are a label's, with an optional prefix for the key.
var (
	keyPattern   = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)
	valuePattern = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
	setPattern   = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\((.*)\)$`)
)

// parseSelector reads a label selector. An empty one selects everything.
func parseSelector(text string) (selector, error) {
	var s selector
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	for _, part := range splitOutside(text) {
		r, err := parseRequirement(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		s = append(s, r)
	}
	return s, nil
}

// splitOutside splits at commas that are not in parentheses.
func splitOutside(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

func parseRequirement(text string) (requirement, error) {
	var r requirement
	if m := setPattern.FindStringSubmatch(text); m != nil {
		r = requirement{key: m[1], not: m[2] == "notin", values: strings.Split(m[3], ",")}
	} else if key, value, ok := cut(text, "!="); ok {
		r = requirement{key: key, values: []string{value}, not: true}
	} else if key, value, ok := cut(text, "=="); ok {
		r = requirement{key: key, values: []string{value}}
	} else if key, value, ok := cut(text, "="); ok {
		r = requirement{key: key, values: []string{value}}
	} else if key, ok := strings.CutPrefix(text, "!"); ok {
		r = requirement{key: strings.TrimSpace(key), not: true}
	} else {
		r = requirement{key: text}
	}
	if !keyPattern.MatchString(r.key) {
		return r, fmt.Errorf("label key %q is not valid", r.key)
	}
	for i, value := range r.values {
		r.values[i] = strings.TrimSpace(value)
		if !valuePattern.MatchString(r.values[i]) {
			return r, fmt.Errorf("label value %q is not valid", r.values[i])
		}
	}
	return r, nil
}

func cut(text, operator string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, operator)
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}

// matches reports whether labels are selected.
func (s selector) matches(labels map[string]string) bool {
	for _, r := range s {
		value, has := labels[r.key]
		switch {
		case r.values == nil && has == r.not:
			return false
		case r.values != nil && r.not && has && slices.Contains(r.values, value):
			return false
		case r.values != nil && !r.not && (!has || !slices.Contains(r.values, value)):
			return false
		}
	}
	return true
}

// value is the one that the selector asks a key to have, or empty.
func (s selector) value(key string) string {
	for _, r := range s {
		if r.key == key && !r.not && len(r.values) == 1 {
			return r.values[0]
		}
	}
	return ""
}

// checkLabels says which label is not valid.
func checkLabels(labels map[string]string) error {
	for key, value := range labels {
		if !keyPattern.MatchString(key) {
			return fmt.Errorf("label key %q is not valid", key)
		}
		if !valuePattern.MatchString(value) {
			return fmt.Errorf("label value %q of key %q is not valid", value, key)
		}
	}
	return nil
}
