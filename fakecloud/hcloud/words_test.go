package hcloud

import (
	"slices"
	"testing"

	"nodestorm/fakecloud/hcloud/rest"
)

// Each call has words of its own.
func TestCall(t *testing.T) {
	for _, op := range operations() {
		if got, _ := Call(rest.WordsOf(op.Name)); got != op.Name {
			t.Errorf("%q is %s, and also %s", rest.WordsOf(op.Name), op.Name, got)
		}
	}
	for words, want := range map[string]string{
		"create servers": "POST /servers", "delete servers": "DELETE /servers/{id}", "list servers": "GET /servers",
		"get servers": "GET /servers/{id}", "poweron servers": "POST /servers/{id}/actions/poweron",
		"list actions of servers": "GET /servers/{id}/actions", "list actions": "GET /actions", "get actions": "GET /actions/{id}",
	} {
		if got, _ := Call(words); got != want {
			t.Errorf("%q is %q, want %q", words, got, want)
		}
	}
	if name, known := Call("melt servers"); name != "" || !slices.Contains(known, "create servers") {
		t.Errorf("got %q, and known are %q", name, known)
	}
}
