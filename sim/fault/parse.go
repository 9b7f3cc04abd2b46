package fault

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/strict"
)

// maxFile is more than any list of faults that people write needs, in bytes.
const maxFile = 1 << 20

// Load is Parse of a file. Its errors name the file.
func Load(file string, lists ...*List) ([]Fault, error) {
	text, err := strict.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	faults, err := Parse(text, lists...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return faults, nil
}

// Parse reads faults out of YAML or JSON with lists of them in the fields that the Lists are called.
// An error is one line that names the fault and the field, and what is allowed there.
func Parse(text []byte, lists ...*List) (all []Fault, err error) {
	lists = slices.SortedFunc(slices.Values(lists), func(a, b *List) int { return strings.Compare(a.Name, b.Name) })
	var fields []reflect.StructField
	for _, l := range lists {
		fields = append(fields, field(l.Name, reflect.SliceOf(l.rowType())))
	}
	document := reflect.New(reflect.StructOf(fields))
	if err := strict.Unmarshal(text, document.Interface()); err != nil {
		return nil, err
	}
	for i, l := range lists {
		rows := document.Elem().Field(i)
		if rows.IsNil() {
			continue
		}
		var faults []Fault
		for n := range rows.Len() {
			f, err := l.read(rows.Index(n))
			if err != nil {
				return nil, err
			}
			if f.Name == "" {
				return nil, fmt.Errorf("%s %d has no name: want unique names", l.noun(), n+1)
			}
			if err := l.Check(f); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(faults, func(other Fault) bool { return other.Name == f.Name }) {
				return nil, fmt.Errorf("%s %q is there twice: want unique names", l.noun(), f.Name)
			}
			faults = append(faults, f)
		}
		if l.Together != nil {
			if err := l.Together(faults); err != nil {
				return nil, err
			}
		}
		all = append(all, faults...)
	}
	return all, nil
}

// field is one of a struct that strict reads.
func field(key string, t reflect.Type) reflect.StructField {
	return reflect.StructField{Name: "F_" + key, Type: t, Tag: reflect.StructTag("json:" + strconv.Quote(key))}
}

// embedded are the fields of a struct, as ones of another.
func embedded(t reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, field(key, f.Type))
	}
	return fields
}

// rowType is a struct with the fields of a fault as YAML has them: of its effects, each of which has
// one, one is there.
func (l *List) rowType() reflect.Type {
	fields := []reflect.StructField{field("name", reflect.TypeFor[string]())}
	if match := reflect.TypeOf(l.Match); l.Within != "" {
		fields = append(fields, field(l.Within, match))
	} else {
		fields = append(fields, embedded(match)...)
	}
	fields = append(fields, embedded(reflect.TypeFor[Plan]())...)
	var effects []reflect.StructField
	for _, k := range l.Kinds() {
		effects = append(effects, field(k.Key, reflect.PointerTo(reflect.TypeOf(k.Effect))))
	}
	if l.Below != "" {
		return reflect.StructOf(append(fields, field(l.Below, reflect.StructOf(effects))))
	}
	return reflect.StructOf(append(fields, effects...))
}

// read makes a fault of a row.
func (l *List) read(row reflect.Value) (Fault, error) {
	column := func(key string) reflect.Value { return row.FieldByName("F_" + key) }
	of := func(t reflect.Type) any { // with the fields that beside has taken from it
		whole := reflect.New(t).Elem()
		for i, f := range embedded(t) {
			whole.Field(i).Set(row.FieldByName(f.Name))
		}
		return whole.Interface()
	}
	f := Fault{Name: column("name").String(), Plan: of(reflect.TypeFor[Plan]()).(Plan)}
	if l.Within != "" {
		f.Match = column(l.Within).Interface().(Match)
	} else {
		f.Match = of(reflect.TypeOf(l.Match)).(Match)
	}
	in := row
	if l.Below != "" {
		in = column(l.Below)
	}
	var effects []Effect
	for _, k := range l.Kinds() {
		if given := in.FieldByName("F_" + k.Key); !given.IsNil() {
			effects = append(effects, given.Elem().Interface().(Effect))
		}
	}
	if len(effects) != 1 {
		return f, fmt.Errorf("%s %q: %w", l.noun(), f.Name, l.miscounted(effects))
	}
	f.Effect = effects[0]
	return f, nil
}
