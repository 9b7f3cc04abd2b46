package wire

import (
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// appendXML writes a value, without an element of its own.
func appendXML(b []byte, p Protocol, v reflect.Value, of *plan) []byte {
	if of.pointer {
		v = v.Elem()
	}
	switch of.kind {
	case text:
		return appendText(b, v.String())
	case truth:
		return strconv.AppendBool(b, v.Bool())
	case integer:
		return strconv.AppendInt(b, v.Int(), 10)
	case decimal:
		return strconv.AppendFloat(b, v.Float(), 'f', -1, 64)
	case instant:
		return v.Interface().(time.Time).UTC().AppendFormat(b, timeForm)
	case list:
		item := "item"
		if p == AWSQuery {
			item = "member"
		}
		for k := range v.Len() {
			b = appendElement(b, p, item, v.Index(k), of.elem)
		}
	case object:
		for k := range of.fields {
			f := &of.fields[k]
			is := v.Field(f.index)
			if f.missing(is) {
				continue
			}
			name := f.name
			if p == EC2Query {
				name = f.lower
			}
			b = appendElement(b, p, name, is, f.plan)
		}
	}
	return b
}

func appendElement(b []byte, p Protocol, name string, v reflect.Value, of *plan) []byte {
	b = append(append(append(b, '<'), name...), '>')
	b = appendXML(b, p, v, of)
	return append(append(append(b, '<', '/'), name...), '>')
}

// missing reports whether an answer does not have the field: nil, an empty text or time, and an empty list that says so in its tag.
func (f *field) missing(v reflect.Value) bool {
	switch {
	case f.pointer:
		return v.IsNil()
	case f.kind == text, f.kind == instant:
		return v.IsZero()
	case f.kind == list, f.kind == mapping:
		return f.omit && v.Len() == 0
	}
	return f.omit && v.IsZero()
}

// plain are the bytes that a text can have as they are: ASCII but for those that mean something in XML, and for control characters.
var plain = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = !strings.ContainsRune("&<>\"", c)
	}
	return is
}()

// appendText escapes what XML cannot have in a text.
func appendText(b []byte, s string) []byte {
	from := 0
	for k := 0; k < len(s); {
		c := s[k]
		if plain[c] {
			k++
			continue
		}
		var as string
		width := 1
		switch {
		case c == '&':
			as = "&amp;"
		case c == '<':
			as = "&lt;"
		case c == '>':
			as = "&gt;"
		case c == '"':
			as = "&#34;"
		case c == '\r':
			as = "&#xD;"
		case c < ' ' && c != '\t' && c != '\n':
			as = "\uFFFD"
		case c >= utf8.RuneSelf:
			var is rune
			if is, width = utf8.DecodeRuneInString(s[k:]); is == utf8.RuneError || is == '\uFFFE' || is == '\uFFFF' {
				as = "\uFFFD"
			}
		}
		if as != "" {
			b = append(append(b, s[from:k]...), as...)
			from = k + width
		}
		k += width
	}
	return append(b, s[from:]...)
}
