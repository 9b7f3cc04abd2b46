package rest

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
	Values []string
	Not    bool
}

// keyPattern and valuePattern are a label's, with an optional prefix for the key.
var (
	keyPattern   = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)
	valuePattern = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
	setPattern   = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\((.*)\)$`)
)

// ParseSelector reads a label selector. An empty one selects everything.
func ParseSelector(text string) (selector, error) {
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
		r = requirement{key: m[1], Not: m[2] == "notin", Values: strings.Split(m[3], ",")}
	} else if key, value, ok := cut(text, "!="); ok {
		r = requirement{key: key, Values: []string{value}, Not: true}
	} else if key, value, ok := cut(text, "=="); ok {
		r = requirement{key: key, Values: []string{value}}
	} else if key, value, ok := cut(text, "="); ok {
		r = requirement{key: key, Values: []string{value}}
	} else if key, ok := strings.CutPrefix(text, "!"); ok {
		r = requirement{key: strings.TrimSpace(key), Not: true}
	} else {
		r = requirement{key: text}
	}
	if !keyPattern.MatchString(r.key) {
		return r, fmt.Errorf("label key %q is not valid", r.key)
	}
	for i, value := range r.Values {
		r.Values[i] = strings.TrimSpace(value)
		if !valuePattern.MatchString(r.Values[i]) {
			return r, fmt.Errorf("label value %q is not valid", r.Values[i])
		}
	}
	return r, nil
}

func cut(text, operator string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, operator)
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}

// Matches reports whether labels are selected.
func (s selector) Matches(labels map[string]string) bool {
	for _, r := range s {
		value, has := labels[r.key]
		switch {
		case r.Values == nil && has == r.Not:
			return false
		case r.Values != nil && r.Not && has && slices.Contains(r.Values, value):
			return false
		case r.Values != nil && !r.Not && (!has || !slices.Contains(r.Values, value)):
			return false
		}
	}
	return true
}

// value is the one that the selector asks a key to have, or empty.
func (s selector) value(key string) string {
	for _, r := range s {
		if r.key == key && !r.Not && len(r.Values) == 1 {
			return r.Values[0]
		}
	}
	return ""
}

// CheckLabels says which label is not valid.
func CheckLabels(labels map[string]string) error {
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
