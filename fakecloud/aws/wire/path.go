package wire

import "reflect"

// SetPath puts the parameter of a restJson path into the field that is for it.
func SetPath(into any, value string) error {
	v := reflect.ValueOf(into).Elem()
	p := planOf(v.Type())
	for k := range p.fields {
		if f := &p.fields[k]; f.path {
			v.Field(f.index).SetString(value)
			return f.check(v.Field(f.index), f.name)
		}
	}
	return nil
}
