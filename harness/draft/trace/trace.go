// Package trace makes a workload of what other programs have recorded of a cluster: a replay log of kubereplay, or a trace of
// SimKube. What a workload cannot say is left out and named. It plays nothing.
package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/search/workload"
	"nodestorm/reports/wording"
	"nodestorm/sim/strict"
)

// Draft is a workload made of a trace.
type Draft struct {
	// From is the program that has recorded it, kubereplay or SimKube.
	From     string            `json:"from"`
	Workload workload.Workload `json:"workload"`
	// Notes say what the workload lacks, a line each.
	Notes []string `json:"notes,omitempty"`
}

// change is what was done to an object. It has a template if it was created or applied.
type change struct {
	at       time.Time
	kind     string // as workload.Kinds, or another
	key      string // NAMESPACE/NAME
	template *corev1.PodTemplateSpec
	pods     *int32
	runs     time.Duration // of a Job or a pod, as far as it is known
	after    time.Duration // of a CronJob: until its first Job
	every    time.Duration // and from each to the next, on average
	deleted  bool
}

// tail is how long a workload goes on after the last change: so long an autoscaler has to follow it.
const tail = 10 * time.Minute

// Read makes a workload of a trace. Jobs of which it does not say how long they run, run so long; without a length they lack
// it. An error is one line.
func Read(text []byte, length workload.Amount) (d Draft, err error) {
	var changes []change
	notes := &notes{}
	// JSON begins with a brace, and MessagePack has no map that does.
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		d.From = "kubereplay"
		changes, err = kubereplay(text, notes)
	} else {
		d.From = "SimKube"
		changes, err = simKube(text, notes)
	}
	if err != nil {
		return d, err
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	d.Workload, err = build(changes, length, notes)
	d.Notes = notes.lines()
	if err != nil && len(d.Notes) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(d.Notes, "; "))
	}
	return d, err
}

// YAML is the file of the workload, with the notes at its head.
func (d Draft) YAML() (string, error) {
	text, err := yaml.Marshal(d.Workload)
	if err != nil {
		return "", err
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# Made of a trace of %s.\n", d.From)
	for _, note := range d.Notes {
		fmt.Fprintf(&head, "# %s\n", wording.Clean(note))
	}
	return head.String() + string(text), nil
}

// notes are what is left out, with the loads that it is left out of.
type notes struct{ of map[string][]string }

func (n *notes) add(note, load string) {
	if n.of == nil {
		n.of = map[string][]string{}
	}
	if !slices.Contains(n.of[note], load) {
		n.of[note] = append(n.of[note], load)
	}
}

const mostNamed = 3

func (n *notes) lines() (all []string) {
	for _, note := range slices.Sorted(maps.Keys(n.of)) {
		loads := n.of[note]
		named := strings.Join(loads[:min(mostNamed, len(loads))], ", ")
		if more := len(loads) - mostNamed; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, note+": "+named)
	}
	return all
}

// builder makes loads of changes in the order of their times.
type builder struct {
	notes *notes
	begun time.Time
	loads []*load
	alive map[string]*load // by kind and key
	names map[string]bool
}

// load is one with its times as such.
type load struct {
	workload.Load
	starts, ends time.Duration
	pods         int
}

func build(changes []change, length workload.Amount, n *notes) (w workload.Workload, err error) {
	if len(changes) == 0 {
		return w, errors.New("it has no event of a Deployment, a Job, a CronJob or a pod")
	}
	b := &builder{notes: n, begun: changes[0].at, alive: map[string]*load{}, names: map[string]bool{}}
	last := time.Duration(0)
	for _, c := range changes {
		at := c.at.Sub(b.begun).Round(time.Second)
		last = max(last, at+c.runs)
		b.take(c, at)
	}
	w.Lasts = strict.Duration((last + tail + time.Minute - 1).Truncate(time.Minute))
	for _, l := range b.loads {
		switch {
		case l.Kind == workload.Deployment && l.pods == 0 && len(l.Steps) == 0:
			n.add("never has a pod, and is left out", l.Name)
			continue
		case l.Every != "" && (l.starts >= time.Duration(w.Lasts) || l.ends > 0 && l.ends <= l.starts):
			n.add("is a CronJob without a Job in the time of the trace, and is left out", l.Name)
			continue
		// mutant: a Job of unknown length keeps its own
		case l.Kind == workload.Job && l.Runs == "" && length != "":
			l.Runs = length
			n.add("does not say how long it runs, and runs "+string(length), l.Name)
		case l.Kind == workload.Job && l.Runs == "":
			n.add("does not say how long it runs: give it runs, such as 5m", l.Name)
		}
		l.Starts, l.Ends = strict.Duration(l.starts), strict.Duration(l.ends)
		w.Loads = append(w.Loads, l.Load)
	}
	if len(w.Loads) == 0 {
		return w, errors.New("none of its objects ever has a pod")
	}
	text, err := yaml.Marshal(withRuns(w))
	if err != nil {
		return w, err
	}
	_, err = workload.Read(text)
	return w, err
}

// withRuns is the workload as it is when everything that is missing has been added: it is to be wrong in nothing else.
func withRuns(w workload.Workload) workload.Workload {
	w.Loads = slices.Clone(w.Loads)
	for i := range w.Loads {
		if l := &w.Loads[i]; l.Kind == workload.Job && l.Runs == "" {
			l.Runs = "1s"
		}
	}
	return w
}

// take takes in the next change.
func (b *builder) take(c change, at time.Duration) {
	key := c.kind + " " + c.key
	l := b.alive[key]
	switch {
	case c.deleted && l == nil, c.template == nil && l == nil:
		b.notes.add("is changed and was not seen before, and is left out", c.key)
	case c.deleted:
		b.end(l, at)
		delete(b.alive, key)
	case l == nil:
		l = b.create(c, at)
		b.alive[key] = l
	case l.Kind == workload.Deployment && c.pods != nil:
		l.scale(int(*c.pods), at)
		if c.template != nil && b.differs(l, c) {
			b.notes.add("has another template later, which is left out", l.Name)
		}
	}
}

// end has a load end. Jobs and pods end by themselves, and those of a CronJob come no more.
func (b *builder) end(l *load, at time.Duration) {
	switch {
	case l.Every != "":
		l.ends = max(at, time.Second)
	case l.Kind != workload.Deployment && l.Runs == "":
		b.runs(l, at-l.starts)
	case l.Kind == workload.Deployment && at > l.starts:
		l.ends = at
		if n := len(l.Steps); n > 0 && time.Duration(l.Steps[n-1].At) >= at {
			l.Steps = l.Steps[:n-1]
		}
	}
}

func (b *builder) runs(l *load, runs time.Duration) {
	if runs = runs.Round(time.Second); runs >= time.Second {
		l.Runs = workload.Amount(strict.Duration(runs).Short())
	}
}

func (b *builder) create(c change, at time.Duration) *load {
	l := &load{Load: workload.Load{Name: b.name(c.key), Kind: c.kind}, starts: at, pods: 1}
	if c.pods != nil {
		l.pods = int(*c.pods)
	}
	if l.pods > 0 {
		l.Pods = workload.Amount(fmt.Sprint(l.pods))
	}
	b.runs(l, c.runs)
	if c.every > 0 {
		l.Kind, l.starts = workload.Job, at+c.after
		l.Every = workload.Amount(strict.Duration(c.every).Short())
	}
	b.template(&l.Load, c.template)
	b.loads = append(b.loads, l)
	return l
}

// scale has a Deployment have another size. One without pods starts when it has some.
func (l *load) scale(pods int, at time.Duration) {
	size := l.pods
	if n := len(l.Steps); n > 0 {
		size = l.Steps[n-1].Pods
	}
	n := len(l.Steps)
	switch {
	case pods == size:
	case n == 0 && (l.pods == 0 || at == l.starts):
		l.pods, l.starts = pods, at
		if l.Pods = ""; pods > 0 {
			l.Pods = workload.Amount(fmt.Sprint(pods))
		}
	case n > 0 && time.Duration(l.Steps[n-1].At) == at:
		l.Steps[n-1].Pods = pods
	default:
		l.Steps = append(l.Steps, workload.Size{At: strict.Duration(at), Pods: pods})
	}
}

const mostName = 36

// name is one that no other load has, as loads have them.
func (b *builder) name(key string) string {
	_, name, _ := strings.Cut(key, "/")
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	clean = strings.Trim(strings.TrimLeft(clean, "-0123456789"), "-")
	clean = cmp.Or(strings.TrimRight(clean[:min(len(clean), mostName-4)], "-"), "load")
	unique := clean
	for n := 2; b.names[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", clean, n)
	}
	b.names[unique] = true
	return unique
}
