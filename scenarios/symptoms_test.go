package scenarios_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"nodestorm/features"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Every symptom is found in the shortest history that has it, is not without any one
// of the records, and is not if what it says to be absent was tried in vain. That
// holds also of failures that no release shows.
func TestSymptomsNeedEachOfTheirParts(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var written struct {
			ID      string
			Symptom struct{ Sequence []element }
		}
		if err := yaml.Unmarshal(text, &written); err != nil {
			t.Fatal(err)
		}
		record, err := catalogue.Lookup(written.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(written.ID, func(t *testing.T) {
			s := shortest(t, written.Symptom.Sequence)
			find := func(records []history.Entry) checker.Finding {
				records = append(slices.Concat(s.defined, records), history.Entry{Virtual: s.now + 24*time.Hour, Event: history.Event{Source: history.Harness, Verb: history.Ended}})
				for i := range records {
					records[i].Seq = uint64(i + 1)
				}
				return checker.Find(records, record.Symptom)
			}
			if found := find(s.records); found.Result != checker.Valid {
				t.Fatalf("%v\nin %+v", found, s.records)
			}
			for i, without := range s.records {
				if found := find(slices.Delete(slices.Clone(s.records), i, i+1)); found.Result == checker.Valid {
					t.Errorf("found without %+v", without.Event)
				}
			}
			for _, tried := range s.tried {
				if found := find(append(slices.Clone(s.records), tried)); found.Result == checker.Valid {
					t.Errorf("found though this was tried: %+v", tried.Event)
				}
			}
		})
	}
}

// element and pattern are as in the files.
type (
	element struct {
		Match, Capture map[string]any
		Count          int
		While, Absent  []map[string]any
		For            string
	}
	story struct {
		now      time.Duration
		captured map[string]any
		records  []history.Entry
		tried    []history.Entry // what must not have been
		defined  []history.Entry // of what the scenario may bring
	}
)

func shortest(t *testing.T, sequence []element) *story {
	t.Helper()
	s := &story{captured: map[string]any{}}
	for _, e := range sequence {
		absentAt := s.now + time.Second/2
		if e.Match == nil {
			span, err := time.ParseDuration(e.For)
			if err != nil {
				t.Fatal(err)
			}
			absentAt = s.now + span/2
			s.now += span
		} else {
			s.happen(e)
		}
		for _, absent := range e.Absent {
			s.defined = append(s.defined, history.Entry{Event: history.Event{Source: history.API, Verb: "create", Code: 201,
				Object: history.Object{Resource: "customresourcedefinitions", Name: fmt.Sprint(absent["resource"], ".example.com")}}})
			if absent["code"] == nil {
				r := s.record(absent, nil)
				r.Code, r.Virtual = 500, absentAt
				s.tried = append(s.tried, r)
			}
		}
	}
	return s
}

// happen adds what an element of the sequence matches, and what is the case at that time.
func (s *story) happen(e element) {
	matched := make([]history.Entry, max(e.Count, 1))
	for i := range matched {
		matched[i] = s.record(e.Match, e.Capture)
	}
	for name, path := range e.Capture {
		r := matched[len(matched)-1]
		s.captured[name] = r.Object.Name
		if key, ok := strings.CutPrefix(fmt.Sprint(path), "detail."); ok {
			s.captured[name] = r.Detail[key]
		}
	}
	for _, state := range e.While {
		matched = slices.Insert(matched, len(matched)-1, s.record(state, nil))
	}
	for _, r := range matched {
		s.now += time.Second
		r.Virtual = s.now
		s.records = append(s.records, r)
	}
}

// record is one that the pattern matches, with a value of its own for what is captured.
func (s *story) record(pattern, capture map[string]any) history.Entry {
	r := history.Entry{Event: history.Event{Verb: "patch", Detail: map[string]any{}}}
	for field, wanted := range pattern {
		value := s.value(wanted)
		switch field {
		case "source":
			r.Source = history.Source(fmt.Sprint(value))
		case "verb":
			r.Verb = fmt.Sprint(value)
		case "resource":
			r.Object.Resource = fmt.Sprint(value)
		case "namespace":
			r.Object.Namespace = fmt.Sprint(value)
		case "name":
			r.Object.Name = fmt.Sprint(value)
		case "actor":
			r.Actor = fmt.Sprint(value)
		case "code":
			r.Code = int(value.(float64))
		case "detail":
			for key, wanted := range wanted.(map[string]any) {
				if value := s.value(wanted); value != nil {
					r.Detail[key] = value
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(capture)) {
		own := fmt.Sprintf("%s-%d", name, len(s.records))
		key, ok := strings.CutPrefix(fmt.Sprint(capture[name]), "detail.")
		switch {
		case ok && (r.Detail[key] == nil || r.Detail[key] == something):
			r.Detail[key] = own
		case !ok && r.Object.Name == "":
			r.Object.Name = own
		}
	}
	return r
}

const something = "something"

// value is one that fits what a pattern says of a field, nil if it is not to be there.
func (s *story) value(wanted any) any {
	switch wanted := wanted.(type) {
	case []any:
		return s.value(wanted[0])
	case map[string]any:
		for op, operand := range wanted {
			switch {
			case op == "contains":
				return s.value(operand)
			case op == "below":
				return operand.(float64) - 1
			case op == "exists" && operand == false:
				return nil
			}
		}
		return something
	case string:
		if name, ok := strings.CutPrefix(wanted, "$"); ok {
			return s.captured[name]
		}
	}
	return wanted
}
