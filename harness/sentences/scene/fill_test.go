package scene

import (
	"reflect"
	"testing"

	"nodestorm/sim/history"
)

// What stands for a field of the record that was waited for is filled in.
func TestFilledIn(t *testing.T) {
	evicted := history.Entry{Event: history.Event{
		Source: history.API, Actor: "karpenter", Verb: "create", Object: history.Object{Resource: "pods", Namespace: "shop", Name: "a"},
		Detail: map[string]any{"subresource": "eviction"},
	}}
	s := &Scene{Awaited: &evicted}
	for text, want := range map[string]string{"Pod/$namespace/$name": "Pod/shop/a", "x/$actor-$detail.subresource": "x/karpenter-eviction",
		"x/$detail.node": "!"} {
		got, err := s.Fill(text)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%s is %s (%v), want %s", text, got, err, want)
		}
	}
	object := map[string]any{"spec": map[string]any{"claims": []any{map[string]any{"name": "$name"}}, "args": []any{"echo $name", "$(name)",
		3}}}
	want := map[string]any{"spec": map[string]any{"claims": []any{map[string]any{"name": "a"}}, "args": []any{"echo $name", "$(name)", 3}}}
	if err := s.FillIn(object, nil); err != nil || !reflect.DeepEqual(object, want) {
		t.Errorf("filled in: %v (%v), want %v", object, err, want)
	}
	owner := map[string]any{"uid": "$uid(Thing/shop/one)", "name": "a $uid(b)"}
	uid := func(object string) (string, error) { return "uid of " + object, nil }
	want = map[string]any{"uid": "uid of Thing/shop/one", "name": "a $uid(b)"}
	if err := s.FillIn(owner, uid); err != nil || !reflect.DeepEqual(owner, want) {
		t.Errorf("filled in: %v (%v), want %v", owner, err, want)
	}
	if err := (&Scene{}).FillIn(map[string]any{"a": []any{"$name"}}, nil); err == nil {
		t.Error("$name without a record is filled in")
	}
}
