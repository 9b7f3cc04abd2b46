package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// state is what the two answers of a question may change.
type state struct {
	files    map[string]File
	hostname string
	calls    []Call
	vars     map[string][]string
	cwd      string
}

func (r *run) save() state {
	r.m.copied(len(r.m.Files) + len(r.vars) + len(r.m.Calls)/8)
	return state{maps.Clone(r.m.Files), r.m.Hostname, slices.Clip(r.m.Calls), maps.Clone(r.vars), r.cwd}
}

func (r *run) restore(s state) {
	r.m.Files, r.m.Hostname, r.m.Calls, r.vars, r.cwd = maps.Clone(s.files), s.hostname, s.calls, maps.Clone(s.vars), s.cwd
}

// followAll follows the alternatives of an open question and leaves what they agree on.
// One that ends the script early is the failing one, and not followed further.
func (r *run) followAll(why string, alternatives ...func() status) status {
	before := r.save()
	var merged *state
	for _, alternative := range alternatives {
		r.restore(before)
		r.deeper(alternative)
		left := r.jump == exits || r.jump == returns
		r.jump = onward
		if left {
			continue
		}
		after := r.save()
		after.calls = slices.Clone(after.calls)
		for i := range after.calls[len(before.calls):] {
			after.calls[len(before.calls)+i].If = why
		}
		if merged == nil {
			merged = &after
			continue
		}
		*merged = r.merge(*merged, after, len(before.calls), why)
	}
	if merged == nil {
		r.restore(before)
	} else {
		r.restore(*merged)
	}
	r.why = why
	return assumed
}

func (r *run) merge(a, b state, calls int, why string) state {
	for name := range b.files {
		if _, found := a.files[name]; !found {
			a.files[name] = File{Content: r.m.mark(why), From: b.files[name].From}
		}
	}
	for name, f := range a.files {
		other, found := b.files[name]
		if !found || other.Content != f.Content {
			f.Content = r.m.mark(why)
			a.files[name] = f
		}
	}
	for name := range b.vars {
		if _, found := a.vars[name]; !found {
			a.vars[name] = []string{r.m.mark(why)}
		}
	}
	for name, v := range a.vars {
		if !slices.Equal(v, b.vars[name]) {
			a.vars[name] = []string{r.m.mark(why)}
		}
	}
	if a.hostname != b.hostname {
		a.hostname = r.m.mark(why)
	}
	a.calls = append(a.calls, b.calls[calls:]...)
	return a
}

// question is the status of a condition: there a program's success is not assumed.
func (r *run) question(cond []*syntax.Stmt, in string, out *strings.Builder) status {
	s := r.forgiving(func() status { return r.stmts(cond, in, out) })
	if s == assumed {
		r.why = "whether " + r.source(cond[len(cond)-1]) + " succeeds"
		return open
	}
	return s
}

// evaluate is a program that is called for its answer.
func evaluate(r *run, c invocation) status {
	if c.out != nil {
		c.out.WriteString(r.m.mark("what " + short(strings.Join(c.args, " ")) + " prints"))
	}
	r.why = "whether " + short(strings.Join(c.args, " ")) + " succeeds"
	return open
}

func answer(b bool) status {
	if b {
		return yes
	}
	return no
}

func not(s status) status {
	switch s {
	case yes:
		return no
	case no:
		return yes
	}
	return s
}

func both(and bool, a, b status) status {
	decides := no
	if !and {
		decides = yes
	}
	switch {
	case a == decides || b == decides:
		return decides
	case a == open || b == open:
		return open
	}
	return a
}
