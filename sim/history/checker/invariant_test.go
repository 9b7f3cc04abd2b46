package checker_test

import (
	"testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// What happens breaks an invariant, and that nothing has happened does only if it asks for
// something.
func TestBreaks(t *testing.T) {
	const created = "{source: api, verb: create, resource: nodeclaims}"
	for _, test := range []struct {
		text   string
		events []history.Entry
		want   bool
	}{
		{"never: " + created, []history.Entry{claim(1, "a"), ended(9)}, true},
		{"never: " + created, []history.Entry{api(1, "create", "pods", "p", nil), ended(9)}, false},
		{"count: " + created + "\natMost: 1", []history.Entry{claim(1, "a"), claim(2, "b"), ended(9)}, true},
		{"count: " + created + "\natLeast: 1", []history.Entry{api(1, "create", "pods", "p", nil), ended(9)}, true},
		{"happens: " + created, []history.Entry{api(1, "create", "pods", "p", nil), ended(9)}, true},
		{"since: " + created + "\nhappens: {source: api, verb: delete}", []history.Entry{api(1, "create", "pods", "p", nil), ended(9)}, false},
		{"since: " + created + "\nhappens: {source: api, verb: delete}", []history.Entry{claim(1, "a"), ended(9)}, true},
		{"throughout: {value: detail.to, of: {source: log}, atMost: 1}", []history.Entry{claim(1, "a"), ended(9)}, false},
		{"noSequence: [{match: " + created + "}]", []history.Entry{claim(1, "a"), ended(9)}, true},
	} {
		s := parse(t, test.text)
		for i := range test.events {
			test.events[i].Seq = uint64(i + 1)
		}
		if found := checker.Find(test.events, s); s.Breaks(found) != test.want {
			t.Errorf("%s: %+v breaks it %t, want %t", test.text, found, !test.want, test.want)
		}
	}
}
