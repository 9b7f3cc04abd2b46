// Package measure counts what a run came to: what its machines cost, how long its pods waited, how much came and went. A
// measure is a pure function of a history, live or stored, with one definition, one unit and one source, see [All].
//
// It makes up nothing: a price is what the cloud of the run said when it created an instance, and a measure that a
// history cannot give is absent, for a reason. It does not judge; a [Bound] is what a statement may say of a measure.
package measure

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/strict"
)

// Unit is what a value is counted in.
type Unit string

// The units. A value of money has the currency of its prices, such as EUR, in the place of Money.
const (
	Money   Unit = "money"
	Seconds Unit = "s" // of virtual time; of processor time, real ones
	Hours   Unit = "h"
	Count   Unit = "count"
	Ratio   Unit = "ratio" // 0 to 1
)

// Names of the measures, as files and statements have them.
const (
	Cost              = "cost"
	NodeHours         = "nodeHours"
	NodesLaunched     = "nodesLaunched"
	NodesRemoved      = "nodesRemoved"
	PodWaitTotal      = "podWaitTotal"
	PodWaitP50        = "podWaitP50"
	PodWaitP95        = "podWaitP95"
	PodWaitP99        = "podWaitP99"
	PodWaitMax        = "podWaitMax"
	PodsWaiting       = "podsWaiting"
	FirstPodBound     = "firstPodBound"
	LastPodBound      = "lastPodBound"
	Evictions         = "evictions"
	EvictionsRefused  = "evictionsRefused"
	ContainerRestarts = "containerRestarts"
	CPURequested      = "cpuRequested"
	MemoryRequested   = "memoryRequested"
	CPUFragmented     = "cpuFragmented"
	CloudCalls        = "cloudCalls"
	APICalls          = "apiCalls"
	ProcessorTime     = "processorTime"
)

// Measure is the definition of one.
type Measure struct {
	Name string
	Unit Unit
	// Words are what people call it.
	Words string
	// Means is what is counted, from when to when; Source which events have it.
	Means, Source string
	// By is what its parts are by, empty for one without parts.
	By string
}

const (
	ofInstances = "the cloud's own events of instances; without any, Nodes with a provider ID"
	ofPods      = "calls to the API server on pods, without those of DaemonSets and those that were created on a Node"
	ofRequests  = "what pods and Nodes with a provider ID say when they are created"
)

// all are in the order in which people read them.
var all = []Measure{
	{Cost, Money, "cost of the cluster",
		"what the cloud's instances cost from their creation to their deletion, or until then; a cloud that bills by the hour rounds up",
		"the price by the hour that the cloud says when it creates an instance, or in its list of prices", "instance type"},
	{NodeHours, Hours, "node-hours", "how long the instances were there in all, from their creation to their deletion", ofInstances,
		"instance type"},
	{NodesLaunched, Count, "nodes launched", "instances that the cloud created, without those that came to nothing", ofInstances,
		"instance type"},
	{NodesRemoved, Count, "nodes removed", "instances that are gone, for any reason", ofInstances, "instance type"},
	{PodWaitTotal, Seconds, "wait of all pods in total",
		"how long all pods waited, from their creation until they were bound to a Node, deleted, or until then", ofPods, "kind of the owner"},
	{PodWaitP50, Seconds, "wait of half of the pods", "the time within which 50 of 100 pods were bound (nearest rank)", ofPods,
		"kind of the owner"},
	{PodWaitP95, Seconds, "wait of 95 in 100 pods", "the time within which 95 of 100 pods were bound (nearest rank)", ofPods,
		"kind of the owner"},
	{PodWaitP99, Seconds, "wait of 99 in 100 pods", "the time within which 99 of 100 pods were bound (nearest rank)", ofPods,
		"kind of the owner"},
	{PodWaitMax, Seconds, "longest wait of a pod", "how long the pod waited that waited longest", ofPods, "kind of the owner"},
	{PodsWaiting, Count, "pods that wait at the end", "pods that are there and on no Node at the end", ofPods, "kind of the owner"},
	{FirstPodBound, Seconds, "time to the first pod", "from the creation of the first pod until the first one is bound", ofPods, ""},
	{LastPodBound, Seconds, "time to the last pod", "from the creation of the first pod until the last one is bound", ofPods, ""},
	{Evictions, Count, "evictions", "evictions that the API server granted", "calls to the API server", "who asked"},
	{EvictionsRefused, Count, "refused evictions", "evictions that the API server refused", "calls to the API server", "who asked"},
	{ContainerRestarts, Count, "restarts of containers", "starts of a container after its first in the same pod",
		"what the container runtime records; simulated kubelets record no containers", ""},
	{CPURequested, Ratio, "CPU requested", "CPU that pods on Nodes request, of what is allocatable there, over the time", ofRequests, ""},
	{MemoryRequested, Ratio, "memory requested", "memory that pods on Nodes request, of what is allocatable there, over the time",
		ofRequests, ""},
	{CPUFragmented, Ratio, "fragmentation of the CPU",
		"of the CPU that no pod requests, the part on Nodes that have less left than a pod requests on average, over the time", ofRequests, ""},
	{CloudCalls, Count, "calls to the cloud", "calls that the cloud answered, refused ones among them", "the cloud's events of calls",
		"program"},
	{APICalls, Count, "calls to the API server", "calls that change something, refused ones among them, without Events",
		"the API server's audit log, which has no reads", "program"},
	{ProcessorTime, Seconds, "processor time", "real seconds that the programs of the world kept a processor busy, from start to end",
		"what the world records when it ends; a program that ended before has no figure", "program"},
}

// All are the definitions, in the order in which people read them.
func All() []Measure { return slices.Clone(all) }

// Find is the definition of that name.
func Find(name string) (m Measure, known bool) {
	i := slices.IndexFunc(all, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return all[i], true
}

// names are those of all.
func names() (list []string) {
	for _, m := range all {
		list = append(list, m.Name)
	}
	return list
}

// Value is a measure of one run.
type Value struct {
	// Unit is that of the measure; of money it is the currency.
	Unit Unit `json:"unit,omitempty"`
	// Value is meaningless where Absent says why there is none.
	Value float64 `json:"value"`
	// By are its parts, where the measure has any; of a percentile it is that of each part.
	By map[string]float64 `json:"by,omitempty"`
	// Absent is why the run does not have the measure, empty if it does.
	Absent string `json:"absent,omitempty"`
}

// MarshalJSON writes no number where there is none.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Absent != "" {
		return json.Marshal(map[string]string{"absent": v.Absent})
	}
	type plain Value
	return json.Marshal(plain(v))
}

// Values are measures by their names.
type Values map[string]Value

func absent(format string, args ...any) Value { return Value{Absent: fmt.Sprintf(format, args...)} }

// sane is the value, or absent where a history has numbers that add up to none.
func (v Value) sane() Value {
	for _, number := range append(slices.Collect(maps.Values(v.By)), v.Value) {
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return absent("the numbers of the history add up to none")
		}
	}
	return v
}

// String is the value for people: "1.24 EUR", "2m3s", "43 %".
func (v Value) String() string {
	if v.Absent != "" {
		return "–"
	}
	return v.Unit.text(v.Value)
}

func (u Unit) text(number float64) string {
	switch u {
	case Seconds:
		return strict.Duration(time.Duration(number * float64(time.Second)).Round(10 * time.Millisecond)).Short()
	case Hours:
		return fmt.Sprintf("%.2f h", number)
	case Count:
		return fmt.Sprintf("%.0f", number)
	case Ratio:
		return fmt.Sprintf("%.0f %%", 100*number)
	}
	digits := 2
	if number != 0 && math.Abs(number) < 1 { // a node of a small cloud costs less than a cent for minutes
		digits = 4
	}
	return fmt.Sprintf("%.*f %s", digits, number, u)
}

// Parts are the parts for people, the largest first, at most so many: "cx22 0.31, cx32 0.12".
func (v Value) Parts(most int) string {
	keys := slices.SortedFunc(maps.Keys(v.By), func(a, b string) int {
		if v.By[a] != v.By[b] {
			return map[bool]int{true: -1, false: 1}[v.By[a] > v.By[b]]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for i, key := range keys {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(keys)-most))
			break
		}
		parts = append(parts, key+" "+v.Unit.text(v.By[key]))
	}
	return strings.Join(parts, ", ")
}

// Line is a measure for people.
type Line struct {
	Words string
	// Text is the value with its parts, or why there is none where Absent.
	Text   string
	Absent bool
}

// mostParts bounds the parts in a line.
const mostParts = 4

// Lines are all measures in the order in which people read them.
func (v Values) Lines() (lines []Line) {
	for _, m := range all {
		value, has := v[m.Name]
		if !has {
			continue
		}
		l := Line{m.Words, value.String(), value.Absent != ""}
		if parts := value.Parts(mostParts); l.Absent {
			l.Text = value.Absent
		} else if len(value.By) > 1 {
			l.Text += " (" + parts + ")"
		}
		lines = append(lines, l)
	}
	return lines
}
