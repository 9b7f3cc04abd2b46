package checker

import (
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// A machine of 0.60 an hour from 0 s on, in a run of an hour.
func TestMeasure(t *testing.T) {
	entry := func(at time.Duration, source history.Source, verb, resource, name string, detail history.Detail) history.Entry {
		return history.Entry{Seq: uint64(at/time.Second) + 1, Virtual: at,
			Event: history.Event{Source: source, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Detail: detail}}
	}
	events := []history.Entry{
		entry(0, history.Cloud, "created", "instances", "a", history.Detail{"type": "x", "hourly": 0.6, "currency": "EUR"}),
		entry(30*time.Minute, history.Step, "passed", "", "", nil), entry(time.Hour, history.Harness, history.Ended, "", "", nil),
	}
	for text, want := range map[string]string{
		`{measure: {of: cost, atMost: 0.60 EUR}}`:              "valid",
		`{measure: {of: cost, atMost: 0.59 EUR}}`:              "invalid: the cost of the cluster is 0.6000 EUR, and not at most 0.59 EUR",
		`{measure: {of: cost, atMost: 0.30 EUR}, within: 30m}`: "valid",
		`{measure: {of: cost, atMost: 9 EUR}, within: 2h}`:     "unknown: it would have to hold until 2h0m0s",
		`{measure: {of: cost, atMost: 9 USD}}`:                 "unknown: the cost of the cluster is in EUR",
		`{measure: {of: podWaitMax, atMost: 1m}}`:              "unknown: the longest wait of a pod of this run is not known: no pod",
	} {
		var s Statement
		if err := strict.Unmarshal([]byte(text), &s); err != nil || s.Check() != nil {
			t.Fatalf("%s: %v, %v", text, err, s.Check())
		}
		s.Statement = "It is cheap"
		if s.Within == 0 && s.CheckInvariant() != nil {
			t.Errorf("%s is no invariant: %v", text, s.CheckInvariant())
		}
		f := Prepare(events).Find(s)
		if got := strings.TrimSuffix(string(f.Result)+": "+f.Reason, ": "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if broken := strings.HasPrefix(want, "invalid"); s.Breaks(f) != broken || f.Hollow != (f.Result == Unknown && s.Within == 0) {
			t.Errorf("%s: breaks %t, hollow %t", text, s.Breaks(f), f.Hollow)
		}
	}

	s := Statement{} // from when it counts, half of the cost
	if err := strict.Unmarshal([]byte(`{measure: {of: cost, atMost: 0.30 EUR}}`), &s); err != nil {
		t.Fatal(err)
	}
	m := s.Monitor()
	for _, r := range events {
		if _, decided := m.Add(r, r.Virtual >= 30*time.Minute); decided {
			t.Error("it is decided before its span is over")
		}
	}
	if f := m.FindingAt(time.Hour); f.Result != Valid {
		t.Errorf("since then: %s", f)
	}

	for text, want := range map[string]string{
		`{measure: {of: cost, atMost: 1 EUR}, forEach: [name]}`:       "leave since, forEach and forAny out",
		`{measure: {of: cost, atMost: 1 EUR}, atMost: 3}`:             "need count",
		`{measure: {of: cost}}`:                                       "measure: every run has some or no cost",
		`{measure: {of: price, atMost: 1 EUR}}`:                       `measure: of: no measure "price"`,
		`{measure: {of: cost, atMost: 1 EUR}, never: {source: node}}`: "it has never and measure: want one of them",
	} {
		var s Statement
		if err := strict.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	bounded := Statement{}
	if err := strict.Unmarshal([]byte(`{statement: It is cheap, measure: {of: cost, atMost: 1 EUR}}`), &bounded); err != nil {
		t.Fatal(err)
	}
	if err := bounded.CheckSymptom(); err == nil {
		t.Error("a run in which nothing costs anything shows a symptom")
	}
}
