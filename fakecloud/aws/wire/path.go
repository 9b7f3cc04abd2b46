package wire

import (
	"net/url"
	"reflect"
	"strings"
)

// MatchPath is what stands in a restJson path, as it was escaped, where a pattern has names in braces, and whether it fits.
func MatchPath(pattern, path string) (values map[string]string, fits bool) {
	want, is := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(is) {
		return nil, false
	}
	values = map[string]string{}
	for k, part := range want {
		name, named := strings.CutPrefix(part, "{")
		value, err := url.PathUnescape(is[k]) // which may have a slash
		switch {
		case named && is[k] != "" && err == nil:
			values[strings.TrimSuffix(name, "}")] = value
		case part != is[k]:
			return nil, false
		}
	}
	return values, true
}

// SetPath puts the parameters of a restJson path into the fields that are for them.
func SetPath(into any, values map[string]string) error {
	v := reflect.ValueOf(into).Elem()
	p := planOf(v.Type())
	for k := range p.fields {
		if f := &p.fields[k]; f.path {
			v.Field(f.index).SetString(values[f.name])
			if err := f.check(v.Field(f.index), f.name); err != nil {
				return err
			}
		}
	}
	return nil
}
