package ec2

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// filter is what listings are narrowed down by: all filters have to fit, of each one of its values.
type filter struct {
	Name  string   `wire:",required"`
	Value []string `wire:",max=200"`
}

// tag is a label of a resource.
type tag struct {
	Key   string `wire:",max=128"`
	Value string `wire:",max=256"`
}

func tags(labels map[string]string) []tag {
	all := []tag{}
	for key, value := range labels {
		all = append(all, tag{key, value})
	}
	slices.SortFunc(all, func(a, b tag) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// labels are tags by their keys. Keys must differ.
func labels(all []tag) (map[string]string, error) {
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
	if len(is) > maxTags {
		return nil, wire.Errorf("TagLimitExceeded", "More than %d tags specified", maxTags)
	}
	return is, nil
}

// maxTags is how many a resource may have.
const maxTags = 50

// kind is what a kind of resources can be filtered by.
type kind[T any] struct {
	// by are the values of a resource by the names of filters.
	by   map[string]func(*T) []string
	tags func(*T) map[string]string
}

// one is a filter of one value.
func one[T any](of func(*T) string) func(*T) []string {
	return func(r *T) []string { return []string{of(r)} }
}

// filtered are the resources that filters let through. A filter that AWS has and that is not known here is refused like one that
// there is not, and the run cannot be judged.
func (k kind[T]) filtered(c *api.Call, all []*T, filters []filter) ([]*T, error) {
	for _, f := range filters {
		values := k.by[f.Name]
		key, ofTag := strings.CutPrefix(f.Name, "tag:")
		switch {
		case values != nil:
		case k.tags != nil && ofTag:
			values = func(r *T) []string {
				if value, has := k.tags(r)[key]; has {
					return []string{value}
				}
				return nil
			}
		case k.tags != nil && f.Name == "tag-key":
			values = func(r *T) []string {
				var keys []string
				for key := range k.tags(r) {
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

// page is the page of a listing that is asked for.
func page[T any](all []T, most *int64, token string, size int) ([]T, string, error) {
	some, next, err := api.Page(all, most, token, size)
	if err != nil {
		return nil, "", wire.Errorf("InvalidNextToken", "The token '%.80s' is invalid", token)
	}
	return some, next, nil
}

// noPage is the error of a request for a page of some that are named.
func noPage(most *int64, ids []string, parameter string) error {
	// mutant: pages of instances that are named can be had
	if most == nil || len(ids) == 0 {
		return nil
	}
	return wire.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", parameter)
}
