package checker_test

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// What no vocabulary has may be misspelt. That it is absent is shown where an event shows that there is such a thing; what a
// vocabulary has may truly be absent.
func TestHollow(t *testing.T) {
	defined := api(5, "create", "customresourcedefinitions", "widgets.example.com", nil)
	a := api(10, "create", "nodeclaims", "a", detail{"conditions": detail{"Launched": "True"}})
	paid := api(11, "patch", "nodeclaims", "a", detail{"conditions": detail{"Paid": "False"}})
	const (
		noWidget  = `never: {source: api, verb: delete, resource: widgets}`
		fewPaid   = "count: {source: api, resource: nodeclaims, detail: {conditions.Paid: \"True\"}}\natMost: 0"
		nonePaid  = "noSequence: [{match: {source: api, resource: nodeclaims, detail: {conditions.Paid: \"True\"}}}]"
		unpaid    = `happens: {source: api, resource: nodeclaims, detail: {conditions.Paid: {exists: false}}}`
		absent    = "sequence:\n- match: {source: api, verb: create, resource: nodeclaims}\n- match: {source: harness, verb: ended}\n  absent: [{source: api, verb: create, resource: widgets}]"
		neverWent = `never: {source: api, verb: delete, resource: nodeclaims}`
		neverLeft = `never: {source: api, resource: nodeclaims, detail: {conditions.Drifted: "True"}}`
	)
	for _, test := range []struct {
		text   string
		shows  *history.Entry // that there is such a thing
		reason string         // without it; empty: it holds all the same
	}{
		{noWidget, nil, `no call is on the resource "widgets", which nodestorm does not know, nor is one defined`},
		{absent, &defined, `no call is on the resource "widgets"`},
		{fewPaid, &paid, `no event of source api has the detail "conditions.Paid"`},
		{nonePaid, &paid, `no event of source api has the detail "conditions.Paid"`},
		{unpaid, &paid, `no event of source api has the detail "conditions.Paid"`},
		{neverWent, nil, ""},
		{neverLeft, nil, ""},
	} {
		statement := parse(t, "statement: s\n"+test.text)
		want := checker.Unknown
		if test.reason == "" {
			want = checker.Valid
		}
		got := checker.Find(story(a, ended(30)), statement)
		if got.Result != want || got.Hollow != (want == checker.Unknown) || !strings.Contains(got.Reason, test.reason) {
			t.Errorf("%s\n%s, %t; want %s (%s)", test.text, got, got.Hollow, want, test.reason)
		}
		if test.shows == nil {
			continue
		}
		if got := checker.Find(story(a, *test.shows, ended(30)), statement); got.Result != checker.Valid || got.Hollow {
			t.Errorf("%s\nwith %+v: %s", test.text, test.shows.Event, got)
		}
	}
	// What is there is found as ever, and a broken statement stays broken.
	broken := api(12, "delete", "widgets", "w", nil)
	if got := checker.Find(story(a, broken, ended(30)), parse(t, "statement: s\n"+noWidget)); got.Result != checker.Invalid || len(got.Evidence) != 1 {
		t.Errorf("%s", got)
	}
}
