package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// DecodeJSON reads an object into what into points to. Nothing is an object without fields.
func DecodeJSON(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	malformed := Errorf("SerializationException", "the request is no JSON object in UTF-8")
	if !utf8.Valid(body) {
		return malformed
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var is any
	if d.Decode(&is) != nil {
		return malformed
	}
	if _, err := d.Token(); err != io.EOF {
		return malformed
	}
	if _, ok := is.(map[string]any); !ok {
		return malformed
	}
	v := reflect.ValueOf(into).Elem()
	return fromJSON(planOf(v.Type()), is, v, "")
}

func fromJSON(p *plan, is any, v reflect.Value, path string) error {
	wrong := Errorf("SerializationException", "Unexpected value for %s", path)
	if is == nil {
		return nil
	}
	if p.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch p.kind {
	case object:
		of, ok := is.(map[string]any)
		if !ok {
			return wrong
		}
		return objectFromJSON(p, of, v, path)
	case list:
		of, ok := is.([]any)
		if !ok {
			return wrong
		}
		v.Set(reflect.MakeSlice(v.Type(), len(of), len(of)))
		for k := range of {
			if err := fromJSON(p.elem, of[k], v.Index(k), fmt.Sprintf("%s[%d]", path, k)); err != nil {
				return err
			}
		}
		return nil
	case mapping:
		of, ok := is.(map[string]any)
		if !ok {
			return wrong
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range slices.Sorted(maps.Keys(of)) {
			value := reflect.New(v.Type().Elem()).Elem()
			if err := fromJSON(p.elem, of[key], value, join(path, key)); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
		return nil
	}
	return scalarFromJSON(p, is, v, wrong)
}

func objectFromJSON(p *plan, of map[string]any, v reflect.Value, path string) error {
	called := func(f *field) string { return f.name }
	for _, key := range slices.Sorted(maps.Keys(of)) {
		f := p.named(key, called)
		if f == nil || f.path {
			return unknown(join(path, key))
		}
		at := join(path, key)
		if err := fromJSON(f.plan, of[key], v.Field(f.index), at); err != nil {
			return err
		}
		if err := f.check(v.Field(f.index), at); err != nil {
			return err
		}
	}
	for k := range p.fields {
		f := &p.fields[k]
		if f.required && !f.path && of[f.name] == nil {
			return Errorf("ValidationException", "Value null at '%s' failed to satisfy constraint: Member must not be null", join(path, f.name))
		}
	}
	return nil
}

func scalarFromJSON(p *plan, is any, v reflect.Value, wrong error) error {
	switch p.kind {
	case text:
		s, ok := is.(string)
		if !ok {
			return wrong
		}
		v.SetString(s)
	case truth:
		b, ok := is.(bool)
		if !ok {
			return wrong
		}
		v.SetBool(b)
	default:
		number, ok := is.(json.Number)
		if !ok {
			return wrong
		}
		return numberFromJSON(p, number.String(), v, wrong)
	}
	return nil
}

func numberFromJSON(p *plan, number string, v reflect.Value, wrong error) error {
	if p.kind == integer {
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return wrong
		}
		v.SetInt(n)
		return nil
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || p.kind == instant && math.Abs(n) > 1e11 {
		return wrong
	}
	if p.kind == instant {
		v.Set(reflect.ValueOf(time.UnixMilli(int64(n * 1000)).UTC()))
		return nil
	}
	v.SetFloat(n)
	return nil
}

// Tree is an answer as JSON has it, of maps, lists, texts, truths and numbers, with names as its protocol has them.
func Tree(p Protocol, answer any) any {
	v := reflect.ValueOf(answer)
	return tree(p, v, planOf(v.Type()))
}

func tree(p Protocol, v reflect.Value, of *plan) any {
	if of.pointer {
		v = v.Elem()
	}
	switch of.kind {
	case text:
		return v.String()
	case truth:
		return v.Bool()
	case integer:
		return v.Int()
	case decimal:
		return v.Float()
	case instant:
		at := v.Interface().(time.Time)
		if p.IsForm() {
			return formatTime(at)
		}
		return json.Number(strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', -1, 64))
	case list:
		all := make([]any, v.Len())
		for k := range all {
			all[k] = tree(p, v.Index(k), of.elem)
		}
		return all
	case mapping:
		all := map[string]any{}
		for _, key := range v.MapKeys() {
			all[key.String()] = tree(p, v.MapIndex(key), of.elem)
		}
		return all
	}
	all := map[string]any{}
	for k := range of.fields {
		f := &of.fields[k]
		if is := v.Field(f.index); !f.missing(is) {
			name := f.name
			if p == EC2Query {
				name = f.lower
			}
			all[name] = tree(p, is, f.plan)
		}
	}
	return all
}
