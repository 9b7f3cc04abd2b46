package words

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestExpressions(t *testing.T) {
	for _, test := range []struct {
		source, words, example string
		says                   map[string]string // a step and its arguments; "!" where it does not match
	}{
		{`N server[s] of the group "NAME" [is|are] created within DURATION`, `N servers of the group "NAME" are created within DURATION`,
			`2 servers of the group "web" are created within 5m`, map[string]string{
				`1 server of the group "a b" is created within 2m30s`:  "1|a b|2m30s",
				`12 servers of the group "c" are created within 500ms`: "12|c|500ms",
				`1 server of the group c is created within 2m`:         "!",
				`1 server of the group "c" is created within 2`:        "!",
				`x 1 server of the group "c" is created within 2m`:     "!",
			}},
		{`every CALL of "CALL" to the API server`, `every CALL of "CALL" to the API server`,
			`every CALL of "update,patch nodes" to the API server`,
			map[string]string{`every CALL of "get nodes" to the API server`: "get nodes"}},
		{`EVERY-CALL "CLOUD-CALL" to the cloud FOR-GROUP is lost WHEN`, `EVERY-CALL "CLOUD-CALL" to the cloud FOR-GROUP is lost WHEN`,
			`the first call "create servers" to the cloud for instances of the group "web" is lost, from 30s on, for 5m`, map[string]string{
				`every call "list servers" to the cloud is lost`:                                           "every call|list servers||",
				`every call "a b" to the cloud for servers of the group "c" is lost, with probability 0.5`: `every call|a b| for servers of the group "c"|, with probability 0.5`,
				`every call "list servers" to the cloud  is lost`:                                          "!",
			}},
		{`objects are (created|applied):`, `objects are created|applied:`, `objects are created:`,
			map[string]string{"objects are applied:": "applied", "objects are gone:": "!"}},
		{`EVENT in any 1m, for (each object|all objects together):`, `EVENT in any 1m, for (each object|all objects together):`,
			`"cluster-autoscaler" has sent "delete" of "nodes" in any 1m, for each object:`, map[string]string{}},
		{`a pod[s] that [requests|request] CPU`, `a pods that request CPU`, `a pods that request 1 CPU`,
			map[string]string{"a pod that requests 500m CPU": "500m", "a pods that request 1.5 CPU": "1.5", "a pod that requests CPU": "!"}},
		{`api.hetzner.cloud`, `api.hetzner.cloud`, `api.hetzner.cloud`, map[string]string{"api.hetzner.cloud": "", "apixhetzner.cloud": "!"}},
	} {
		e := New(test.source)
		if e.Words != test.words || e.Example != test.example {
			t.Errorf("%s: %q, as in %q", test.source, e.Words, e.Example)
		}
		if _, is := e.Match(e.Example); !is {
			t.Errorf("%s does not match its example", test.source)
		}
		for step, want := range test.says {
			got := "!"
			if args, is := e.Match(step); is {
				got = strings.Join(args.Texts(), "|")
			}
			if got != want {
				t.Errorf("%s: %s: %q, want %q", test.source, step, got, want)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	e := New(`"Node/NAME" is drained N times in DURATION, not in TIME:`)
	args, is := e.Match(`"Node/a" is drained 3 times in 1h30m, not in TIME:`)
	if !is || args.Check() != nil || args.Int(1) != 3 || args.Duration(2) != 90*time.Minute || args.Named("Node/NAME") != "Node/a" {
		t.Errorf("%t, %+v", is, args)
	}
	var names []string
	for _, a := range e.Arguments {
		names = append(names, a.Name)
	}
	if want := []string{"Node/NAME", "N", "DURATION", "TEXT"}; !slices.Equal(names, want) {
		t.Errorf("arguments %q, want %q", names, want)
	}
	if last := e.Tabled().Arguments[3].Name; last != "TABLE" || e.Arguments[3].Name != "TEXT" {
		t.Errorf("below it: %s", last)
	}
	for said, want := range map[string]string{
		`"Node/a" is drained 3 times in 0s, not in TIME:`:                    `"0s" is no duration such as 30s or 2m30s`,
		`"Node/a" is drained 99999999999999999999 times in 1s, not in TIME:`: `"99999999999999999999" is no number`,
	} {
		args, is := e.Match(said)
		if err := args.Check(); !is || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", said, err)
		}
	}
}

func TestNearest(t *testing.T) {
	all := []*Expression{New(`the pod "NAME" is Running within DURATION`), New(`the server "NAME" is off`), New(`every server is off`)}
	for _, test := range []struct {
		said  string
		place int // -1: none
		wrong string
	}{
		{`the pod web is Running within 5m`, 0, `web is not a name in quotes`},
		{`the pod "web" is Running within 5mm`, 0, `5mm is not virtual time, such as 30s, 5m or 2m30s`},
		{`a pod "web" is Running within 5m`, 0, ""},
		{`the server "NAME" is on`, 1, ""},
		{`nothing like that`, -1, ""},
	} {
		place, found := Nearest(test.said, all, func(int) bool { return false })
		if found != (test.place >= 0) || found && place != test.place {
			t.Errorf("%s: %d, %t", test.said, place, found)
		}
		if found {
			if wrong := all[place].Wrong(test.said); wrong != test.wrong {
				t.Errorf("%s: %q", test.said, wrong)
			}
		}
	}
}
