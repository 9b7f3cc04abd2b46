package manifest

import (
	"maps"
	"slices"
	"strings"
)

// expand fills in $(NAME) of variables that are set, as a kubelet does: $$ is a
// $, and what is not set stays as it is.
func (r *resolver) expand(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
			continue
		case !strings.HasPrefix(after, "(") || !closed:
			out.WriteByte('$')
			text = after
			continue
		}
		if value, ok := r.value(name); ok {
			out.WriteString(value)
		} else {
			out.WriteString("$(" + name + ")")
		}
		text = rest
	}
}

func (r *resolver) expandAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, r.expand(text))
	}
	return out
}

func (r *resolver) value(name string) (string, bool) {
	i := slices.IndexFunc(r.env, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return "", false
	}
	return r.env[i].Value, true
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
