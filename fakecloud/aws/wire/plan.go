package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// kind is what a value is.
type kind int

const (
	text kind = iota
	truth
	integer
	decimal
	instant
	list
	object
	mapping
)

// plan is how values of a type are spoken.
type plan struct {
	kind    kind
	pointer bool
	fields  []field // of an object
	elem    *plan   // of a list or mapping
}

// field is one of an object.
type field struct {
	*plan
	index int
	// name is as it is written; lower and upper begin with a small letter and a capital.
	name, lower, upper string
	required, omit     bool
	// min and max bound a number, and the length of a list or a text. Nil: it is not bounded.
	min, max *int64
	enum     []string
	path     bool // of restJson: it is in the path
}

var (
	plans   sync.Map // reflect.Type → *plan
	timeOf  = reflect.TypeFor[time.Time]()
	formFor = map[reflect.Kind]kind{
		reflect.String: text, reflect.Bool: truth, reflect.Int64: integer, reflect.Int: integer, reflect.Int32: integer, reflect.Float64: decimal,
		reflect.Slice: list, reflect.Struct: object, reflect.Map: mapping,
	}
)

// planOf is the plan of a type. It panics about a type that cannot be spoken, which is a mistake of ours.
func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := &plan{}
	is := t
	if is.Kind() == reflect.Pointer {
		p.pointer, is = true, is.Elem()
	}
	k, ok := formFor[is.Kind()]
	switch {
	case is == timeOf:
		p.kind = instant
	case !ok:
		panic(fmt.Sprintf("wire: type %s cannot be spoken", t))
	default:
		p.kind = k
	}
	switch p.kind {
	case list, mapping:
		p.elem = planOf(is.Elem())
	case object:
		for f := range is.Fields() {
			if f.IsExported() {
				p.fields = append(p.fields, fieldOf(f))
			}
		}
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan)
}

func fieldOf(f reflect.StructField) field {
	words := strings.Split(f.Tag.Get("wire"), ",")
	is := field{plan: planOf(f.Type), index: f.Index[0], name: f.Name}
	if words[0] != "" {
		is.name = words[0]
	}
	is.lower, is.upper = first(is.name, unicode.ToLower), first(is.name, unicode.ToUpper)
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "required":
			is.required = true
		case "omit":
			is.omit = true
		case "path":
			is.path = true
		case "min":
			is.min = bound(value)
		case "max":
			is.max = bound(value)
		case "enum":
			is.enum = strings.Split(value, "|")
		default:
			panic(fmt.Sprintf("wire: field %s: %q is no word of a tag", f.Name, word))
		}
	}
	return is
}

func bound(value string) *int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("wire: %q is no bound", value))
	}
	return &n
}

func first(name string, change func(rune) rune) string {
	return string(change(rune(name[0]))) + name[1:]
}

// named is the field of that name, in the form of a protocol, or nil.
func (p *plan) named(name string, of func(*field) string) *field {
	k := slices.IndexFunc(p.fields, func(f field) bool { return of(&f) == name })
	if k < 0 {
		return nil
	}
	return &p.fields[k]
}

// check finds what is wrong with the value of a request's field. Path is what it is called there.
func (f *field) check(v reflect.Value, path string) error {
	if f.pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	n, of := int64(0), "value"
	switch f.kind {
	case integer:
		n = v.Int()
	case text:
		if v.String() == "" {
			return nil
		}
		if f.enum != nil && !slices.Contains(f.enum, v.String()) {
			return Errorf("InvalidParameterValue", "Value (%.80s) for parameter %s is invalid. Valid values are: %s.", v.String(), path,
				strings.Join(f.enum, ", "))
		}
		n, of = int64(v.Len()), "length"
	case list:
		n, of = int64(v.Len()), "number of items"
		if n == 0 {
			return nil
		}
	default:
		return nil
	}
	if f.min != nil && n < *f.min || f.max != nil && n > *f.max {
		return Errorf("InvalidParameterValue", "The %s of parameter %s is %d, which is out of range%s.", of, path, n, f.bounds())
	}
	return nil
}

func (f *field) bounds() string {
	switch {
	case f.min != nil && f.max != nil:
		return fmt.Sprintf(" (%d to %d)", *f.min, *f.max)
	case f.min != nil:
		return fmt.Sprintf(" (at least %d)", *f.min)
	}
	return fmt.Sprintf(" (at most %d)", *f.max)
}
