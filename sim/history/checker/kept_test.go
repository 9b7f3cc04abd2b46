package checker_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// A search keeps neither details that no pattern asks for, nor events of other names.
func TestFinderKeepsWhatIsAskedFor(t *testing.T) {
	is := func(text string) *checker.Values {
		v := new(checker.Values)
		if err := v.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
			t.Fatal(err)
		}
		return v
	}
	f := checker.NewFinder(checker.Statement{Sequence: []checker.Element{
		{Match: &checker.Pattern{Source: is("api"), Verb: is("patch"), Name: is("web")}},
		{Match: &checker.Pattern{Source: is("api"), Verb: is("update"), Name: is("web")}},
	}})
	before := live()
	const n, size = 4000, 8 << 10
	for i := range n {
		name := "other"
		if i%10 == 0 {
			name = "web"
		}
		f.Add(history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: history.Event{
			Source: history.API, Verb: "patch", Object: history.Object{Name: name}, Detail: map[string]any{"message": strings.Repeat("x", size)},
		}})
	}
	if kept := live() - before; kept > 400<<10 {
		t.Errorf("%d bytes are kept, of 400 events without details", kept)
	}
	runtime.KeepAlive(f)
}

func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
