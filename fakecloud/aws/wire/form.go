package wire

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of forms. AWS documents none: they are far beyond what its SDKs send.
const (
	maxParameters = 20_000
	maxDepth      = 24
	maxIndex      = 100_000
)

// node is a part of a form: the parameters whose names begin alike.
type node struct {
	value *string
	parts map[string]*node
}

// Form is a request of a query protocol.
type Form struct {
	Action, Version string
	root            node
}

// ParseForm reads a form.
func ParseForm(body []byte) (*Form, error) {
	f := &Form{}
	n := 0
	for pair := range strings.SplitSeq(string(body), "&") {
		if pair == "" {
			continue
		}
		if n++; n > maxParameters {
			return nil, Errorf("MalformedQueryString", "the request has more than %d parameters", maxParameters)
		}
		rawKey, rawValue, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(rawKey)
		value, err2 := url.QueryUnescape(rawValue)
		if err != nil || err2 != nil || !utf8.ValidString(key) || !utf8.ValidString(value) {
			return nil, Errorf("MalformedQueryString", "the request is no form in UTF-8")
		}
		switch key {
		case "Action":
			f.Action = value
		case "Version":
			f.Version = value
		default:
			if err := f.root.put(key, value); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (n *node) put(key, value string) error {
	depth := 0
	for part := range strings.SplitSeq(key, ".") { // what ends with a dot has an empty part, which nothing is called
		if depth++; depth > maxDepth {
			return Errorf("MalformedQueryString", "the parameter %.80s has more than %d parts", key, maxDepth)
		}
		if n.parts == nil {
			n.parts = map[string]*node{}
		}
		next := n.parts[part]
		if next == nil {
			next = &node{}
			n.parts[part] = next
		}
		n = next
	}
	if n.value != nil {
		return Errorf("InvalidParameterValue", "the parameter %.80s is given twice", key)
	}
	n.value = &value
	return nil
}

// DecodeForm reads a form into what into points to.
func DecodeForm(f *Form, p Protocol, into any) error {
	v := reflect.ValueOf(into).Elem()
	return formReader{p}.object(planOf(v.Type()), &f.root, v, "")
}

type formReader struct{ Protocol }

func (r formReader) called(f *field) string {
	if r.Protocol == EC2Query {
		return f.upper
	}
	return f.name
}

func (r formReader) object(p *plan, n *node, v reflect.Value, path string) error {
	if n.value != nil {
		return Errorf("UnknownParameter", "The parameter %.80s is not recognized", path)
	}
	for name := range n.parts {
		if p.named(name, r.called) == nil {
			return unknown(join(path, name))
		}
	}
	for k := range p.fields {
		f := &p.fields[k]
		at := join(path, r.called(f))
		part := n.parts[r.called(f)]
		if part == nil {
			continue
		}
		of := v.Field(f.index)
		if err := r.value(f.plan, part, of, at); err != nil {
			return err
		}
		if err := f.check(of, at); err != nil {
			return err
		}
	}
	for k := range p.fields {
		if f := &p.fields[k]; f.required && n.parts[r.called(f)] == nil {
			return Errorf("MissingParameter", "The request must contain the parameter %s", join(path, r.called(f)))
		}
	}
	return nil
}

// unknown is the error about a parameter that is not described. It is EC2's; what other services answer is not documented.
func unknown(path string) error {
	return Errorf(UnknownParameter, "The parameter %.80s is not recognized", path)
}

// DryRun is the code of the answer to a call that would have succeeded and is not to be carried out.
const DryRun = "DryRunOperation"

// UnknownParameter is the code of the error about a parameter that an operation does not have, or that is not described.
const UnknownParameter = "UnknownParameter"

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (r formReader) value(p *plan, n *node, v reflect.Value, path string) error {
	if p.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch p.kind {
	case object:
		return r.object(p, n, v, path)
	case list:
		return r.list(p, n, v, path)
	case mapping:
		return unknown(path)
	}
	if n.value == nil || len(n.parts) > 0 {
		for part := range n.parts {
			return unknown(join(path, part))
		}
	}
	return scalar(p, *n.value, v, path)
}

func (r formReader) list(p *plan, n *node, v reflect.Value, path string) error {
	if r.Protocol == AWSQuery && n.parts["member"] != nil {
		if len(n.parts) > 1 || n.value != nil {
			return unknown(path)
		}
		n, path = n.parts["member"], path+".member"
	}
	if n.value != nil && (*n.value != "" || len(n.parts) > 0) {
		return unknown(path)
	}
	var indices []int
	for part := range n.parts {
		k, err := strconv.Atoi(part)
		switch {
		case err != nil || strconv.Itoa(k) != part:
			return unknown(join(path, part))
		case k < 1 || k > maxIndex:
			return Errorf("InvalidParameterValue", "The index %d of parameter %.80s is out of range (1 to %d)", k, path, maxIndex)
		}
		indices = append(indices, k)
	}
	slices.Sort(indices)
	v.Set(reflect.MakeSlice(v.Type(), len(indices), len(indices)))
	for k, index := range indices {
		part := strconv.Itoa(index)
		if err := r.value(p.elem, n.parts[part], v.Index(k), join(path, part)); err != nil {
			return err
		}
	}
	return nil
}

// scalar reads a text.
func scalar(p *plan, value string, v reflect.Value, path string) error {
	var err error
	switch p.kind {
	case text:
		v.SetString(value)
	case truth:
		var is bool
		if is, err = strconv.ParseBool(value); err == nil {
			v.SetBool(is)
		}
	case integer:
		var is int64
		if is, err = strconv.ParseInt(value, 10, 32); err == nil {
			v.SetInt(is)
		}
	case decimal:
		var is float64
		if is, err = strconv.ParseFloat(value, 64); err == nil {
			v.SetFloat(is)
		}
	case instant:
		var is time.Time
		if is, err = time.Parse(time.RFC3339, value); err == nil {
			v.Set(reflect.ValueOf(is))
		}
	}
	if err != nil {
		return Errorf("InvalidParameterValue", "Value (%.80s) for parameter %s is invalid.", value, path)
	}
	return nil
}
