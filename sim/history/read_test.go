package history_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"nodestorm/sim/history"
)

const (
	good1 = `{"seq":1,"virtual":2000000000,"real":5,"source":"api","verb":"create","object":{"resource":"nodeclaims","name":"a"},"actor":"karpenter","code":201}`
	good2 = `{"seq":2,"virtual":1000000000,"real":6,"source":"node","verb":"register"}`
)

func TestRead(t *testing.T) {
	long := `{"seq":3,"virtual":3,"real":3,"source":"log","verb":"line","detail":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`
	tests := []struct {
		name, text string
		seqs       []uint64 // in the order of virtual time
		problems   []string
	}{
		{"empty", "", nil, nil},
		{"ordered by virtual time", good1 + "\n" + good2 + "\n", []uint64{2, 1}, nil},
		{"no newline at the end", good1 + "\n" + good2, []uint64{2, 1}, nil},
		{"blank lines", "\n" + good1 + "\n\r\n", []uint64{1}, nil},
		{"cut off", good1 + "\n" + good2[:40], []uint64{1}, []string{"line 2: cut off after 40 bytes"}},
		{"corrupt line", good1 + "\n\x00\x01garbage\n" + good2 + "\n", []uint64{2, 1}, []string{"line 2: not an event: invalid character"}},
		{"foreign", `{"kind":"Event"}` + "\n", nil, []string{"line 1: not an event: seq is missing"}},
		{"array", "[1]\n", nil, []string{"line 1: not an event: json: cannot unmarshal"}},
		{"no source", `{"seq":1,"verb":"a"}` + "\n", nil, []string{"source is missing"}},
		{"no verb", `{"seq":1,"source":"api"}` + "\n", nil, []string{"verb is missing"}},
		{"twice", good1 + "\n" + good1 + "\n", []uint64{1}, []string{"line 2: seq 1 is already on line 1"}},
		{"a megabyte", long + "\n" + good1 + "\n", []uint64{3, 1}, nil},
		{"too long", strings.Repeat("x", 5<<20) + "\n" + good1 + "\n", []uint64{1}, []string{"line 1: longer than"}},
		{"too long and cut off", good1 + "\n" + strings.Repeat("x", 5<<20), []uint64{1}, []string{"line 2: longer than"}},
		{"not UTF-8", strings.Replace(good1, "karpenter", "karp\xff\xfe", 1) + "\n", []uint64{1}, []string{"line 1: not UTF-8"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events, problems := history.Read(strings.NewReader(test.text))
			if len(events) != len(test.seqs) {
				t.Fatalf("%d events, want %d; problems %v", len(events), len(test.seqs), problems)
			}
			for i, r := range events {
				if r.Seq != test.seqs[i] {
					t.Errorf("event %d has seq %d, want %d", i, r.Seq, test.seqs[i])
				}
			}
			if len(problems) != len(test.problems) {
				t.Fatalf("problems %v, want %q", problems, test.problems)
			}
			for i, p := range problems {
				if !strings.Contains(p.Error(), test.problems[i]) {
					t.Errorf("problem %q, want %q", p, test.problems[i])
				}
			}
		})
	}
}

func TestReadStopsAtFailingReaderAndForeignFile(t *testing.T) {
	broken := errors.New("input/output error")
	events, problems := history.Read(io.MultiReader(strings.NewReader(good1+"\n"), iotest.ErrReader(broken)))
	if len(events) != 1 || len(problems) != 1 || !errors.Is(problems[0], broken) {
		t.Errorf("events %v, problems %v; want what was read and the reader's error", events, problems)
	}
	_, problems = history.Read(strings.NewReader(strings.Repeat("no history\n", 100_000)))
	if len(problems) > 200 || !strings.Contains(problems[len(problems)-1].Error(), "too many") {
		t.Errorf("a foreign file has %d problems", len(problems))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(good1 + "\n" + good2 + "\n"))
	f.Add([]byte(good1[:60] + "\n\x00\n\xff" + good2))
	f.Add([]byte(`{"seq":18446744073709551615,"virtual":-9223372036854775808,"source":"x","verb":"y"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, problems := history.Read(bytes.NewReader(text))
		lines := bytes.Count(text, []byte("\n")) + 1
		if len(events) > lines {
			t.Errorf("%d events in %d lines", len(events), lines)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines {
				t.Errorf("problem on line %d of %d", p.Line, lines)
			}
		}
		for i, r := range events {
			if r.Seq == 0 || r.Source == "" || r.Verb == "" {
				t.Errorf("event %d lacks a required field: %+v", i, r)
			}
			if i > 0 && r.Virtual < events[i-1].Virtual {
				t.Errorf("event %d is out of order", i)
			}
		}
	})
}
