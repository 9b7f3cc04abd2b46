// Package listing has what EC2's listings share: filters, tags, pages, and resources that are asked for by their IDs.
package listing

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// Filter is what listings are narrowed down by: all filters have to fit, of each one of its values.
type Filter struct {
	Name  string   `wire:",required"`
	Value []string `wire:",max=200"`
}

// Tag is a label of a resource.
type Tag struct {
	Key   string `wire:",max=128"`
	Value string `wire:",max=256"`
}

// Tags are labels as tags, in the order of their keys.
func Tags(labels map[string]string) []Tag {
	all := []Tag{}
	for key, value := range labels {
		all = append(all, Tag{key, value})
	}
	slices.SortFunc(all, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// Labels are tags by their keys. Keys must differ.
func Labels(all []Tag) (map[string]string, error) {
	is := map[string]string{}
	for _, t := range all {
		switch _, twice := is[t.Key]; {
		case t.Key == "":
			return nil, wire.Errorf("InvalidParameterValue", "Tag keys cannot be empty")
		case strings.HasPrefix(strings.ToLower(t.Key), "aws:"):
			return nil, wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		case twice:
			return nil, wire.Errorf("InvalidParameterValue", "Duplicate tag key '%s' specified.", t.Key)
		}
		is[t.Key] = t.Value
	}
	if len(is) > MaxTags {
		return nil, wire.Errorf("TagLimitExceeded", "More than %d tags specified", MaxTags)
	}
	return is, nil
}

// MaxTags is how many a resource may have.
const MaxTags = 50

// Kind is what a kind of resources can be filtered by.
type Kind[T any] struct {
	// By are the values of a resource by the names of filters.
	By map[string]func(*T) []string
	// Tags are those of a resource; nil: it has none.
	Tags func(*T) map[string]string
}

// One is a filter of one value.
func One[T any](of func(*T) string) func(*T) []string {
	return func(r *T) []string { return []string{of(r)} }
}

// Filtered are the resources that filters let through. A filter that AWS has and that is not known here is refused like one that
// there is not, and the run cannot be judged.
func (k Kind[T]) Filtered(c *api.Call, all []*T, filters []Filter) ([]*T, error) {
	for _, f := range filters {
		values := k.By[f.Name]
		key, ofTag := strings.CutPrefix(f.Name, "tag:")
		switch {
		case values != nil:
		case k.Tags != nil && ofTag:
			values = func(r *T) []string {
				if value, has := k.Tags(r)[key]; has {
					return []string{value}
				}
				return nil
			}
		case k.Tags != nil && f.Name == "tag-key":
			values = func(r *T) []string {
				var keys []string
				for key := range k.Tags(r) {
					keys = append(keys, key)
				}
				return keys
			}
		default:
			c.ReportUnserved(fmt.Sprintf("the cloud does not know the filter %.80q of %s", f.Name, c.Operation()))
			return nil, wire.Errorf("InvalidParameterValue", "The filter '%.80s' is invalid", f.Name)
		}
		var left []*T
		for _, r := range all {
			if slices.ContainsFunc(values(r), func(is string) bool {
				return slices.ContainsFunc(f.Value, func(want string) bool { return api.Like(want, is) })
			}) {
				left = append(left, r)
			}
		}
		all = left
	}
	return all, nil
}

// Page is the page of a listing that is asked for.
func Page[T any](all []T, most *int64, token string, size int) ([]T, string, error) {
	some, next, err := api.Page(all, most, token, size)
	if err != nil {
		return nil, "", wire.Errorf("InvalidNextToken", "The token '%.80s' is invalid", token)
	}
	return some, next, nil
}

// NoPage is the error of a request for a page of some that are named.
func NoPage(most *int64, ids []string, parameter string) error {
	// mutant: pages of instances that are named can be had
	if most == nil || len(ids) == 0 {
		return nil
	}
	return wire.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", parameter)
}

// Chosen are the resources with IDs that are named, in the order of all; without names, all.
func Chosen[T any](all []*T, ids []string, id func(*T) string, missing func(string) error) (some []*T, err error) {
	if len(ids) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, name := range ids {
		wanted[name] = true
	}
	for _, r := range all {
		if wanted[id(r)] {
			some = append(some, r)
			delete(wanted, id(r))
		}
	}
	for _, name := range ids {
		if wanted[name] {
			return nil, missing(name)
		}
	}
	return some, nil
}
