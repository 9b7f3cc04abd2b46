package vocabulary

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// Comparison is what a pattern compares a detail with.
type Comparison interface {
	// Op is how, "" for equality; Values are with what, as they are written.
	Op() string
	Values() []string
	// Plain are the values that are compared as a whole and known, and MayMatch reports whether one of these texts can match.
	Plain() []string
	MayMatch(of []string) bool
}

// Compare finds a comparison that no value of a source's detail can meet. The key may have parts.
func Compare(source history.Source, key string, v Comparison) error {
	name, _, parted := strings.Cut(key, ".")
	form := FormOf(source, name)
	if v.Op() == "exists" || form == "" {
		return nil
	}
	if name == "conditions" && parted {
		form = Condition
	}
	switch form {
	case Mapping:
		if parted {
			return nil
		}
		return fmt.Errorf("detail %q is a mapping: say which part, as in %s.%s", key, key, cmp.Or(slices.Concat(Parts(key), []string{"PART"})...))
	case List:
		return compareList(source, key, v)
	case Mark:
		if !v.MayMatch([]string{"true"}) || slices.ContainsFunc(v.Plain(), func(value string) bool { return value != "true" }) {
			return fmt.Errorf("detail %q: %q is no value of it: it is true or missing; say {exists: false} of where it is missing", key,
				v.Values()[0])
		}
		return nil
	case Truth:
		return compareOneOf(key, v, []string{"true", "false"})
	case Condition:
		return compareCondition(key, v)
	case Number:
		return compareNumber(key, v)
	}
	return compareText(source, key, v)
}

// compareOneOf is for details of which all values are known.
func compareOneOf(key string, v Comparison, known []string) error {
	for _, value := range v.Plain() {
		// mutant: any value is one
		if !slices.Contains(known, value) {
			return fmt.Errorf("detail %q: %q is no value of it (allowed: %s)%s", key, value, strings.Join(known, ", "), strict.Meant(value, known))
		}
	}
	if !v.MayMatch(known) {
		return fmt.Errorf("detail %q: no value of it is like that (there are %s)", key, strings.Join(known, ", "))
	}
	return nil
}

// levels are those of Karpenter's log.
var levels = []string{"DEBUG", "INFO", "WARN", "ERROR", "PANIC", "FATAL"}

// states are those of conditions.
var states = []string{"True", "False", "Unknown"}

// compareCondition finds what is no condition's text.
func compareCondition(key string, v Comparison) error {
	for _, value := range v.Values() {
		value = strings.TrimSuffix(value, ".*") // of a pattern
		if strings.Contains(value, "$") || slices.Contains(states, value) {
			continue
		}
		slip := slices.IndexFunc(states, func(state string) bool { return state != value && strings.EqualFold(state, value) })
		if near := strict.Nearest(value, states); near != "" {
			slip = slices.Index(states, near)
		}
		if slip >= 0 {
			return fmt.Errorf("detail %q: %q is no value of it, did you mean %q?", key, value, states[slip])
		}
	}
	for _, value := range v.Plain() {
		// mutant: any text is a condition's
		if !IsCondition(value) {
			return fmt.Errorf("detail %q: %q is no value of it: want True, False or Unknown, with the reason after it as in %q, or "+
				"{contains: REASON}", key, value, "False: KubeletNotReady")
		}
	}
	if v.Op() == "above" || v.Op() == "below" {
		return fmt.Errorf("detail %q is no number", key)
	}
	return nil
}

// compareNumber finds what is no number as events write them, and bounds beyond which there is none.
func compareNumber(key string, v Comparison) error {
	whole, signed := IsWhole(key), Signed(key)
	if v.Op() == "below" {
		if than, _ := strconv.ParseFloat(v.Values()[0], 64); than <= 0 && !signed {
			return fmt.Errorf("detail %q: none is below %s", key, v.Values()[0])
		}
	}
	for _, value := range v.Plain() {
		number, err := strconv.ParseFloat(value, 64)
		written := strconv.FormatFloat(number, 'f', -1, 64)
		switch {
		// mutant: any text is a number
		case err != nil:
			return fmt.Errorf("detail %q: %q is no number", key, value)
		case written != value:
			return fmt.Errorf("detail %q: %q is not how an event has a number, did you mean %q?", key, value, written)
		case whole && number != float64(int64(number)), !signed && number < 0:
			return fmt.Errorf("detail %q: %q is no value of it: want a whole number that is not below zero", key, value)
		}
	}
	return nil
}

var (
	// taintItem is an item of the details that are lists of taints.
	taintItem = regexp.MustCompile(`^[^\s:]+:(NoSchedule|PreferNoSchedule|NoExecute)$`)
	// amountItem is an item of a Node's extended resources.
	amountItem = regexp.MustCompile(`^[^\s/=]+/[^\s/=]+=\d\S*$`)
	// reference is how events name an object that another one is of.
	reference = regexp.MustCompile(`^[A-Z][A-Za-z]*/.+$`)
)

// compareList finds comparisons that no list can have: its items are compared as a whole.
func compareList(source history.Source, key string, v Comparison) error {
	if v.Op() != "contains" && v.Op() != "lacks" {
		return fmt.Errorf("detail %q is a list: say {contains: ITEM} or {lacks: ITEM}, of whole items", key)
	}
	if source != history.API { // where all of them are of taints, but for one
		return nil
	}
	for _, value := range v.Values() {
		if key == "extended" {
			if !strings.Contains(value, "$") && !amountItem.MatchString(value) {
				return fmt.Errorf("detail %q is a list of amounts, whose items are compared as a whole, and %q is "+
					`none: want DOMAIN/NAME=AMOUNT, such as "example.com/device=2"`, key, value)
			}
			continue
		}
		// mutant: a part of a list's item is one
		if !strings.Contains(value, "$") && !taintItem.MatchString(value) {
			return fmt.Errorf("detail %q is a list of taints, whose items are compared as a whole, and %q is "+
				"none: want KEY[=VALUE]:EFFECT, such as %q", key, value, strings.TrimRight(strings.SplitN(value, ":", 2)[0], " ")+":NoSchedule")
		}
	}
	return nil
}

// compareText finds what no text of a detail is, where all are known.
func compareText(source history.Source, key string, v Comparison) error {
	if source == history.Logged && key == "level" {
		for _, value := range v.Plain() {
			// mutant: any level of a log is one
			if near := strict.Nearest(strings.ToUpper(value), levels); near != "" {
				return fmt.Errorf("detail %q: %q is no value of it, did you mean %q?", key, value, near)
			}
		}
	}
	if source != history.API {
		return nil
	}
	switch key {
	case "subresource":
		for _, value := range v.Plain() {
			// mutant: any part of an object is one
			if known := Subresources(); !slices.Contains(known, value) {
				return fmt.Errorf("unknown subresource %q (allowed: %s)%s", value, strings.Join(known, ", "), strict.Meant(value, known))
			}
		}
	case "reason":
		for _, value := range v.Plain() {
			// mutant: any reason is one
			if near := strict.Nearest(value, Reasons()); near != "" {
				return fmt.Errorf("detail %q: no event has the reason %q, did you mean %q? Say {matches: %q} if one has", key, value, near, value)
			}
		}
	case "type":
		return compareOneOf(key, v, []string{"Normal", "Warning"})
	case "about", "owner":
		for _, value := range v.Plain() {
			if !reference.MatchString(value) {
				return fmt.Errorf("detail %q: %q is no value of it: want KIND/NAME, such as ReplicaSet/web, or {contains: %q}", key, value, value)
			}
		}
	}
	return nil
}
