package measure

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Meter takes the events of a run in the order of their arrival, and says what they come to. It grows with the
// instances, Nodes and pods of the run, not with its events.
type Meter struct {
	from, last time.Duration // since when it counts; the latest event
	assumed    price         // of a machine whose own price is not known

	cloud     bool // a cloud records its instances
	instances []*instance
	instance  map[string]*instance // by name, the latest of each
	nodes     []*node
	node      map[string]*node
	pods      []*pod
	pod       map[history.Object]*pod
	// early are bindings of pods whose creation comes later in the history: the scheduler can be done before the API server
	// has answered who created them.
	early  map[history.Object]history.Entry
	listed map[string]price // of types, by type and capacity, as a cloud lists them
	api    bool             // calls to the API server are recorded

	evicted, refused, restarts, cloudCalls, apiCalls map[string]float64 // since then, by who did it
	started, called                                  bool               // starts of containers are recorded, calls to a cloud

	used  map[string]float64 // seconds of processors, by program, until the end
	ended map[string]bool    // programs that ended before it
}

// NewMeter counts from the first event on, see StartAt.
func NewMeter() *Meter {
	m := &Meter{
		from: beginning, instance: map[string]*instance{}, node: map[string]*node{}, pod: map[history.Object]*pod{},
		early:  map[history.Object]history.Entry{},
		listed: map[string]price{},
		used:   map[string]float64{}, ended: map[string]bool{},
	}
	m.count()
	return m
}

// OfRun are the measures of a whole run.
func OfRun(events iter.Seq[history.Entry]) Values {
	m := NewMeter()
	for r := range events {
		m.Add(r)
	}
	return m.ValuesAt(m.last)
}

// StartAt has only count what is from then on; what there is, is there. It comes before the first event that counts.
func (m *Meter) StartAt(at time.Duration) {
	m.from = at
	m.count()
}

func (m *Meter) count() {
	for _, counts := range []*map[string]float64{&m.evicted, &m.refused, &m.restarts, &m.cloudCalls, &m.apiCalls} {
		*counts = map[string]float64{}
	}
}

// Assume has a machine whose price is not known cost so much an hour, in a currency: its user says so.
func (m *Meter) Assume(hourly float64, currency string) {
	if hourly > 0 && hourly < mostHourly {
		m.assumed = price{hourly: hourly, currency: currency}
	}
}

// horizon bounds times: a history may say anything, and sums stay numbers.
const horizon = 366 * 24 * time.Hour

// beginning is before all events.
const beginning = -2 * horizon

// Add takes in the next event.
func (m *Meter) Add(r history.Entry) {
	if r.Virtual > horizon || r.Virtual < -horizon {
		return
	}
	m.last = max(m.last, r.Virtual)
	switch r.Source {
	case history.Cloud:
		m.seeCloud(r)
	case history.API:
		m.seeAPI(r)
	case history.Node:
		m.seeNode(r)
	case history.Harness:
		m.seeHarness(r)
	}
}

func (m *Meter) seeHarness(r history.Entry) {
	switch r.Verb {
	case history.Prices:
		m.list(r.Detail)
	case history.Used:
		if seconds, said := r.Detail.Number("seconds"); said && seconds >= 0 {
			m.used[r.Actor] = seconds
		}
	case history.Killed, history.Stopped, history.Died:
		m.ended[r.Actor] = true
	}
}

// Last is the time of the latest event.
func (m *Meter) Last() time.Duration { return m.last }

func (m *Meter) seeCloud(r history.Entry) {
	switch {
	case r.Code != 0:
		m.called = true
		m.cloudCalls[r.Actor]++
	case r.Object.Resource == vocabulary.Instances:
		m.seeInstance(r)
	}
}

func (m *Meter) seeAPI(r history.Entry) {
	m.api = true
	if r.Object.Resource != "events" {
		m.apiCalls[r.Actor]++
	}
	sub := r.Detail.Text("subresource")
	if r.Object.Resource == vocabulary.Pods && sub == "eviction" {
		granted := m.refused
		// mutant: a refused eviction is one
		if r.Code < 300 {
			granted = m.evicted
		}
		granted[r.Actor]++
	}
	switch {
	case r.Code >= 300 || r.Object.Name == "":
	case r.Object.Resource == vocabulary.Nodes:
		m.seeNodeObject(r)
	case r.Object.Resource == vocabulary.Pods:
		m.seePod(r, sub)
	}
}

func (m *Meter) seeNode(r history.Entry) {
	switch {
	case r.Object.Resource == vocabulary.Nodes && r.Verb == "deleted":
		if n := m.node[r.Object.Name]; n != nil && !n.gone {
			n.end, n.gone = r.Virtual, true
		}
	case r.Object.Resource == vocabulary.Pods && r.Verb == "terminated":
		if p := m.pod[r.Object]; p != nil {
			p.endAt(r.Virtual)
		}
	case r.Object.Resource == vocabulary.Pods && r.Verb == "started":
		m.started = true
		if p := m.pod[r.Object]; p != nil && p.starts(r.Detail.Text("container")) {
			m.restarts[""]++
		}
	}
}

// ValuesAt are the measures from when it counts until then.
func (m *Meter) ValuesAt(end time.Duration) Values {
	v := Values{}
	m.money(v, end)
	m.waits(v, end)
	m.room(v, end)
	m.counts(v)
	v[ProcessorTime] = m.busy()
	for _, of := range all {
		value := v[of.Name].sane()
		if value.Absent == "" && value.Unit == "" {
			value.Unit = of.Unit
		}
		v[of.Name] = value
	}
	return v
}

// counts are those of what is recorded once each.
func (m *Meter) counts(v Values) {
	noPods := ""
	if len(m.pods) == 0 {
		noPods = "there has been no pod"
	}
	noStarts := ""
	if !m.started {
		noStarts = "no start of a container is recorded: simulated kubelets have none"
	}
	noCalls := ""
	// mutant: a cloud that has no events has no calls
	if !m.called {
		noCalls = "no call to a cloud is recorded: the run's may have none, as Karpenter's kwok"
	}
	noAPI := ""
	if !m.api {
		noAPI = "no call to the API server is recorded"
	}
	for _, of := range []struct {
		name, without string
		counts        map[string]float64
	}{
		{Evictions, noPods, m.evicted}, {EvictionsRefused, noPods, m.refused}, {ContainerRestarts, noStarts, m.restarts},
		{CloudCalls, noCalls, m.cloudCalls}, {APICalls, noAPI, m.apiCalls},
	} {
		v[of.name] = summed(of.counts)
		if of.without != "" {
			v[of.name] = absent("%s", of.without)
		}
	}
}

// busy is how long processors were, of a run that is over.
func (m *Meter) busy() Value {
	if len(m.used) == 0 {
		return absent("the run does not record it")
	}
	for _, name := range slices.Sorted(maps.Keys(m.used)) {
		// mutant: a program that ended has used nothing before
		if m.ended[name] {
			return absent("%s ended in the run, and what it had used until then is not recorded", name)
		}
	}
	return summed(m.used)
}

// summed is the sum of parts. A part without a name is none.
func summed(parts map[string]float64) Value {
	v := Value{}
	for _, key := range slices.Sorted(maps.Keys(parts)) { // in an order, as sums of fractions depend on it
		n := parts[key]
		v.Value += n
		if key != "" {
			if v.By == nil {
				v.By = map[string]float64{}
			}
			v.By[key] = n
		}
	}
	return v
}

// kind is that of an owner, KIND/NAME.
func kind(owner string) string {
	of, _, _ := strings.Cut(owner, "/")
	if of == "" {
		return "none"
	}
	return of
}
