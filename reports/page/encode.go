package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"nodestorm/reports/story"
)

// A run is three or four sections, each compressed by itself, so that a browser
// draws the first picture before it has unpacked what only a click asks for:
//
//	head     JSON: the run, kinds, objects, lives, curves, links
//	core     columns: time, kind, object, flags, sequence number of each event
//	details  columns: which detail, when it was recorded; then the details
//	logs     columns: the components' logs, see logs.go
//
// A column is its length in bytes, 4 bytes little endian, and then numbers as
// varints, in LEB128; those that may be negative are zigzag encoded, and times
// and sequence numbers are differences to the one before. Times are µs.

// head is what the first picture needs in addition to the events.
type head struct {
	Run     story.Run   `json:"run"`
	Events  int         `json:"events"`
	Begin   int64       `json:"begin"`
	End     int64       `json:"end"`
	Focus   [2]int64    `json:"focus"`  // what to show first
	Origin  int64       `json:"origin"` // where to align with another run: the first When
	Absurd  int         `json:"absurd,omitempty"`
	Kinds   [][7]any    `json:"kinds"` // the last is empty, or says that it is a call to a cloud
	Objects [][3]string `json:"objects"`
	Labels  []string    `json:"labels"`
	Lives   []life      `json:"lives"`
	Links   []int64     `json:"links"` // from, to, label, event
	Mention []int64     `json:"mentions"`
	Curves  []curve     `json:"curves"`
	Decided []decision  `json:"decisions"`
	// First is the index of the first decision that differs from the other run's,
	// -1 for none.
	First int        `json:"firstDifference"`
	Logs  []logTable `json:"logs,omitempty"`
}

type life struct {
	Group  string  `json:"g"`
	Label  string  `json:"l"`
	Object uint32  `json:"o,omitempty"`
	Spans  []int64 `json:"s"` // from, to, tone, label, event
	Under  []int64 `json:"u,omitempty"`
}

type curve struct {
	Name     string    `json:"name"`
	Unit     string    `json:"unit,omitempty"`
	Straight bool      `json:"straight,omitempty"`
	At       []int64   `json:"t"` // differences
	Value    []float64 `json:"v"`
}

type decision struct {
	At    int64  `json:"t"`
	What  string `json:"what"`
	Event uint32 `json:"e"`
}

// encode packs a story.
func encode(s *story.Story, logs []Log, first int) (sections, error) {
	packed := sections{}
	var rest []byte
	var group sync.WaitGroup
	group.Go(func() { rest = details(s) }) // half of the work
	var tables []logTable
	if len(logs) > 0 {
		out := newPacker()
		for _, l := range logs {
			tables = append(tables, out.log(l, s.Run.Epoch))
		}
		packed["logs"] = out.close()
	}
	text, err := json.Marshal(headOf(s, tables, first))
	out := newPacker()
	_, _ = out.gz.Write(text) // into memory
	packed["head"], packed["core"] = out.close(), core(s)
	group.Wait()
	packed["details"] = rest
	return packed, err
}

// sections are packed, by name.
type sections map[string][]byte

func headOf(s *story.Story, tables []logTable, first int) head {
	h := head{
		Run: s.Run, Events: len(s.Events), Begin: micros(s.Begin), End: micros(s.End), Absurd: s.Absurd, First: first, Logs: tables,
		Kinds: make([][7]any, 0, len(s.Kinds)), Objects: make([][3]string, 0, len(s.Objects)),
	}
	from, to := s.Focus()
	h.Focus, h.Origin = [2]int64{micros(from), micros(to)}, micros(s.Origin())
	for _, k := range s.Kinds {
		call := ""
		if k.IsCall() {
			call = "call"
		}
		h.Kinds = append(h.Kinds, [7]any{k.Source, k.Verb, k.Actor, k.Resource, k.Subresource, k.Code, call})
	}
	for _, o := range s.Objects {
		h.Objects = append(h.Objects, [3]string{o.Resource, o.Namespace, o.Name})
	}
	labels := map[string]int64{}
	label := func(text string) int64 {
		n, known := labels[text]
		if !known {
			n = int64(len(h.Labels))
			labels[text] = n
			h.Labels = append(h.Labels, text)
		}
		return n
	}
	flat := func(spans []story.Span) []int64 {
		numbers := make([]int64, 0, 5*len(spans))
		for _, x := range spans {
			numbers = append(numbers, micros(x.From), micros(x.To), int64(x.Tone), label(x.Label), int64(x.Event))
		}
		return numbers
	}
	for _, l := range s.Lives {
		h.Lives = append(h.Lives, life{l.Group, l.Label, l.Object, flat(l.Spans), flat(l.Under)})
	}
	for _, l := range s.Links {
		h.Links = append(h.Links, int64(l.From), int64(l.To), label(l.Why), int64(l.Event))
	}
	for _, m := range s.Mentions {
		h.Mention = append(h.Mention, int64(m.Event), int64(m.Object))
	}
	for _, c := range s.Curves {
		packed := curve{Name: c.Name, Unit: c.Unit, Straight: c.Straight}
		last := int64(0)
		for _, p := range c.Points {
			packed.At = append(packed.At, micros(p.At)-last)
			last = micros(p.At)
			packed.Value = append(packed.Value, p.Value)
		}
		h.Curves = append(h.Curves, packed)
	}
	for _, d := range s.Decisions {
		h.Decided = append(h.Decided, decision{micros(d.At), d.What, d.Event})
	}
	return h
}

func micros(d time.Duration) int64 { return d.Microseconds() }

func core(s *story.Story) []byte {
	out := newPacker()
	last := int64(0)
	out.column(len(s.Events), func(i int) uint64 {
		at := micros(s.Events[i].Virtual)
		step := zigzag(at - last)
		last = at
		return step
	})
	out.column(len(s.Events), func(i int) uint64 { return uint64(s.Events[i].Kind) })
	out.column(len(s.Events), func(i int) uint64 { return uint64(s.Events[i].Object) })
	out.column(len(s.Events), func(i int) uint64 { return uint64(s.Events[i].Flags) })
	seq := int64(0)
	out.column(len(s.Events), func(i int) uint64 {
		at := int64(s.Events[i].Seq)
		step := zigzag(at - seq)
		seq = at
		return step
	})
	return out.close()
}

func details(s *story.Story) []byte {
	out := newPacker()
	out.column(len(s.Events), func(i int) uint64 { return uint64(s.Events[i].Detail) })
	last := int64(0)
	out.column(len(s.Events), func(i int) uint64 {
		at := micros(s.Events[i].Real)
		step := zigzag(at - last)
		last = at
		return step
	})
	out.texts(s.Details)
	return out.close()
}

// packer writes columns and compresses them.
type packer struct {
	to      bytes.Buffer
	gz      *gzip.Writer
	scratch []byte
}

func newPacker() *packer {
	p := &packer{}
	p.gz = gzip.NewWriter(&p.to)
	return p
}

// column writes n numbers.
func (p *packer) column(n int, number func(int) uint64) {
	p.scratch = p.scratch[:0]
	for i := range n {
		p.scratch = binary.AppendUvarint(p.scratch, number(i))
	}
	p.bytes(p.scratch)
}

// texts writes two columns: lengths in bytes, and the bytes.
func (p *packer) texts(texts []string) {
	p.column(len(texts), func(i int) uint64 { return uint64(len(texts[i])) })
	total := 0
	for _, s := range texts {
		total += len(s)
	}
	p.length(total)
	for _, s := range texts {
		_, _ = io.WriteString(p.gz, s)
	}
}

func (p *packer) bytes(b []byte) {
	p.length(len(b))
	_, _ = p.gz.Write(b) // into memory
}

func (p *packer) length(n int) {
	var four [4]byte
	binary.LittleEndian.PutUint32(four[:], uint32(n))
	_, _ = p.gz.Write(four[:])
}

func (p *packer) close() []byte {
	_ = p.gz.Close() // into memory
	return p.to.Bytes()
}

func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }
