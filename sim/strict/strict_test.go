package strict_test

import (
	"strings"
	"testing"

	"nodestorm/sim/strict"
)

type inner struct {
	Verb string `json:"verb"`
	Age  int    `json:"age"`
}

type common struct {
	Shared string `json:"shared"`
}

type outer struct {
	common
	ID    string            `json:"id"`
	Items []inner           `json:"items"`
	Extra map[string]string `json:"extra"`
	Maybe *inner            `json:"maybe"`
	Named map[string]inner  `json:"named"`
}

func TestUnmarshal(t *testing.T) {
	var got outer
	err := strict.Unmarshal([]byte("---\nid: a\nshared: s\nitems: [{verb: create, age: 3}]\nextra: {any: thing}\nmaybe: {verb: x}\n"), &got)
	if err != nil || got.ID != "a" || got.Shared != "s" || got.Items[0].Age != 3 || got.Maybe.Verb != "x" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestMeant(t *testing.T) {
	releases := []string{"v1.0.6", "v1.0.9", "v1.6.4", "v1.7.0", "v1.14.1"}
	for word, want := range map[string]string{"v1.7.99": "v1.7.0", "v1.17.0": "v1.7.0", "1.7.0": "v1.7.0", "v1.0.7": "v1.0.6", "v1.14.0": "v1.14.1", "nonsense-altogether": ""} {
		if want != "" {
			want = `, did you mean "` + want + `"?`
		}
		if got := strict.Meant(word, releases); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "the document is empty"},
		{"two documents", "id: a\n---\nid: b\n", "more than one YAML document"},
		{"syntax", "id: [a\n", "yaml: line"},
		{"list", "- id: a\n", "not a mapping of fields (allowed: shared, id, items, extra, maybe, named)"},
		{"unknown field", "id: a\nidd: b\n", `unknown field "idd" (allowed: shared, id, items, extra, maybe, named)`},
		{"other case", "ID: a\n", `unknown field "ID"`},
		{"deep unknown field", "items: [{verb: a}, {vrb: b}]\n", `unknown field "items[1].vrb" (allowed: verb, age)`},
		{"unknown field behind a pointer", "maybe: {vrb: b}\n", `unknown field "maybe.vrb" (allowed: verb, age)`},
		{"unknown field below a name", "named: {any: {vrb: b}}\n", `unknown field "named.any.vrb" (allowed: verb, age)`},
		{"two unknown fields", "a: 1\nb: 2\n", `unknown field "a" (allowed: shared, id, items, extra, maybe, named); unknown field "b"`},
		{"duplicate", "id: a\nid: b\n", `already set`},
		{"type", "items: {verb: a}\n", `field "items": found object, want a list`},
		{"deep type", "items: [{age: old}]\n", `field "items.age": found string, want a number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := strict.Unmarshal([]byte(test.text), &outer{})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("id: a\nitems: [{verb: create}]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := strict.Unmarshal(text, &outer{}); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of more than one line: %q", err)
		}
	})
}

func TestNear(t *testing.T) {
	known := []string{"default", "web", "nodeclaims", "pods", "web-1", "kube-system"}
	for word, want := range map[string]string{
		"dfeault": "default", "wbe": "web", "weeb": "web", "nodecliams": "nodeclaims", "nodclaim": "nodeclaims", "kube_system": "kube-system",
		"web": "", "web-2": "", "w": "", "we": "", "shop": "", "podsets": "", "webs-12": "", "wob-1": "web-1",
	} {
		if got := strict.Nearest(word, known); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
