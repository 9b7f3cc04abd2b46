// Package workload has what runs in a cluster over a time: Deployments, Jobs and pods that come, grow and go. A workload is
// a file. With a seed it becomes a plain list of acts, each at its time: what is drawn, is drawn then. It does not play
// them, and knows no program and no cloud.
package workload

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/strict"
)

// Workload is what runs in a cluster, and when.
type Workload struct {
	// Lasts is how long the workload goes on in virtual time, at most 168h. Measures count that long. Required.
	Lasts strict.Duration `json:"lasts"`
	// Loads are its parts, of which each draws for itself: another part changes none of them. Required.
	Loads []Load `json:"loads"`
}

// Load is a Deployment that grows and shrinks, or Jobs or pods that come again and again.
type Load struct {
	// Name is that of the Deployment; Jobs and pods are called NAME-1, NAME-2 and so on. Required.
	Name string `json:"name"`
	// Kind is what is created. Required.
	Kind string `json:"kind"`
	// Pods is how many pods a Deployment has at first, a Job needs, or come at a time; one if it is missing.
	Pods Amount `json:"pods,omitempty"`
	// CPU is what each pod requests. Drawn once for a Deployment, and for each Job and pod.
	CPU Amount `json:"cpu,omitempty"`
	// Memory is what each pod requests, as CPU.
	Memory Amount `json:"memory,omitempty"`
	// Runs is how long the containers of a Job or a pod run. A Job needs it. A pod without it stays.
	Runs Amount `json:"runs,omitempty"`
	// Starts is when the first is created.
	Starts strict.Duration `json:"starts,omitempty"`
	// Ends is when a Deployment is deleted, or no more Jobs or pods come; they stay to the end without it.
	Ends strict.Duration `json:"ends,omitempty"`
	// Every is how long it takes until the next Job or pods come. With "mean 2m" they come at any time, one independent of the other.
	Every Amount `json:"every,omitempty"`
	// Steps are how many pods the Deployment has from then on.
	Steps []Size `json:"steps,omitempty"`
	// Daily is a curve in place of steps.
	Daily *Daily `json:"daily,omitempty"`
	// Bursts are pods that a Deployment has for a while beside the others.
	Bursts *Bursts `json:"bursts,omitempty"`
	// Priority is that of the pods; those of a higher one may take the place of others. It brings a PriorityClass.
	Priority int `json:"priority,omitempty"`
	// MaxUnavailable is how many of a Deployment's pods may be evicted at a time, at least 1. It brings a PodDisruptionBudget.
	MaxUnavailable int `json:"maxUnavailable,omitempty"`
	// Spread keeps pods apart: over zones as far as that is possible, or one to a node.
	Spread string `json:"spread,omitempty"`
	// NodeSelector is on which Nodes pods can be, by their labels.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations are the taints that pods bear.
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Annotations are those of the pods, such as karpenter.sh/do-not-disrupt.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Size is that of a Deployment from a time on.
type Size struct {
	At   strict.Duration `json:"at"`   // At is when. Required.
	Pods int             `json:"pods"` // Pods is how many there are to be. Required.
}

// Daily is a curve between two sizes, a wave each period.
type Daily struct {
	Low  int `json:"low"`  // Low is the least number of pods. Required.
	High int `json:"high"` // High is the most pods. Required.
	// Peak is when there are most, counted from the start of the workload. Required.
	Peak strict.Duration `json:"peak"`
	// Period is how long a wave takes; 24h if it is missing.
	Period strict.Duration `json:"period,omitempty"`
	// Every is how often the Deployment is scaled; a 96th of the period if it is missing.
	Every strict.Duration `json:"every,omitempty"`
	// Vary is by which part a size is more or less than the curve has, drawn each time: 0.1 for ten percent.
	Vary float64 `json:"vary,omitempty"`
}

// Bursts are pods that come on top and go again.
type Bursts struct {
	Every Amount `json:"every"` // Every is how long it takes until the next burst. Required.
	Add   Amount `json:"add"`   // Add is how many pods come on top. Required.
	Lasts Amount `json:"lasts"` // Lasts is how long they are there. Required.
}

// Toleration is that of a taint.
type Toleration struct {
	Key      string `json:"key,omitempty"`      // Key is the taint's; any without it.
	Operator string `json:"operator,omitempty"` // Operator is Exists, or Equal, which it is without it.
	Value    string `json:"value,omitempty"`    // Value is the taint's, for Equal.
	Effect   string `json:"effect,omitempty"`   // Effect is the taint's; any without it.
}

// The steps of a feature that play a workload.
const (
	StepQuotes = `this workload runs:`
	StepNames  = `the workload from the file "FILE" runs`
)

var stepNames = regexp.MustCompile(`^the workload from the file "[^"]+" runs$`)

// IsStep reports whether a step of a feature plays a workload, by its text.
func IsStep(text string) bool { return text == StepQuotes || stepNames.MatchString(text) }

// The kinds of a load.
const (
	Deployment = "Deployment"
	Job        = "Job"
	Pod        = "Pod"
)

// Kinds and Spreads are what those fields can have, Effects and Operators those of tolerations.
var (
	Kinds     = []string{Deployment, Job, Pod}
	Spreads   = []string{"zones", "nodes"}
	Effects   = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
	Operators = []string{string(corev1.TolerationOpExists), string(corev1.TolerationOpEqual)}
)

// MostPriority is the highest priority of a load; those of the system are higher.
const MostPriority = 1_000_000

// What a file may have at most: it can come from anybody.
const (
	mostBytes    = 1 << 20
	mostLoads    = 2_000
	mostPods     = 10_000
	mostActs     = 50_000
	mostTime     = strict.Duration(7 * 24 * time.Hour)
	shortestStep = strict.Duration(15 * time.Second) // of a curve: a week of them is fewer than mostActs
)

// Read reads a workload and finds what is wrong with it, in one line.
func Read(text []byte) (w Workload, err error) {
	if len(text) > mostBytes {
		return w, fmt.Errorf("it has %d bytes, and at most %d are read", len(text), mostBytes)
	}
	if err := strict.Unmarshal(text, &w); err != nil {
		return w, err
	}
	return w, w.check()
}

func (w Workload) check() error {
	switch {
	case w.Lasts <= 0 || w.Lasts > mostTime:
		return fmt.Errorf("lasts: %s: want more than zero, and at most %s: a workload ends", w.Lasts.Short(), mostTime.Short())
	case len(w.Loads) == 0 || len(w.Loads) > mostLoads:
		return fmt.Errorf("loads: there are %d: want 1 to %d", len(w.Loads), mostLoads)
	}
	var names []string
	for _, l := range w.Loads {
		if err := l.check(w.Lasts); err != nil {
			return fmt.Errorf("load %q: %w", l.Name, err)
		}
		if slices.Contains(names, l.Name) {
			return fmt.Errorf("load %q is there twice", l.Name)
		}
		names = append(names, l.Name)
	}
	return nil
}

var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,38}[a-z0-9]$|^[a-z]$`)

// check finds what is wrong with a load of a workload that lasts so long.
func (l Load) check(lasts strict.Duration) error {
	switch {
	case !name.MatchString(l.Name):
		return errors.New("name: want at most 40 small letters, digits and dashes, a letter first")
	case !slices.Contains(Kinds, l.Kind):
		return fmt.Errorf("kind: %q: want one of %s%s", l.Kind, strings.Join(Kinds, ", "), strict.Meant(l.Kind, Kinds))
	case l.Starts < 0 || l.Starts >= lasts:
		return fmt.Errorf("starts: %s: want zero or more, and less than lasts, %s", l.Starts.Short(), lasts.Short())
	case l.Ends != 0 && (l.Ends <= l.Starts || l.Ends > lasts):
		return fmt.Errorf("ends: %s: want more than starts, %s, and at most lasts, %s", l.Ends.Short(), l.Starts.Short(), lasts.Short())
	case l.Priority < -MostPriority || l.Priority > MostPriority:
		return fmt.Errorf("priority: %d: want %d to %d", l.Priority, -MostPriority, MostPriority)
	case l.Spread != "" && !slices.Contains(Spreads, l.Spread):
		return fmt.Errorf("spread: %q: want one of %s%s", l.Spread, strings.Join(Spreads, ", "), strict.Meant(l.Spread, Spreads))
	case l.MaxUnavailable < 0:
		return fmt.Errorf("maxUnavailable: %d: want 1 or more: pods that may never be evicted have an annotation of the autoscaler's",
			l.MaxUnavailable)
	}
	if err := l.checkAmounts(); err != nil {
		return err
	}
	for i, t := range l.Tolerations {
		if err := t.check(); err != nil {
			return fmt.Errorf("tolerations: row %d: %w", i+1, err)
		}
	}
	if l.Kind == Deployment {
		return l.checkDeployment(lasts)
	}
	return l.checkArrivals()
}

func (l Load) checkAmounts() error {
	for _, of := range []struct {
		field string
		Amount
		unit
		most float64
	}{
		{"pods", l.Pods, whole, mostPods}, {"cpu", l.CPU, quantity, 10_000}, {"memory", l.Memory, quantity, 1 << 50},
		{"runs", l.Runs, seconds, time.Duration(mostTime).Seconds()}, {"every", l.Every, seconds, time.Duration(mostTime).Seconds()},
	} {
		if err := of.check(of.unit, of.most); err != nil {
			return fmt.Errorf("%s: %w", of.field, err)
		}
	}
	return nil
}

func (t Toleration) check() error {
	switch {
	case t.Operator != "" && !slices.Contains(Operators, t.Operator):
		return fmt.Errorf("operator: %q: want one of %s", t.Operator, strings.Join(Operators, ", "))
	case t.Effect != "" && !slices.Contains(Effects, t.Effect):
		return fmt.Errorf("effect: %q: want one of %s", t.Effect, strings.Join(Effects, ", "))
	case t.Key == "" && t.Operator != string(corev1.TolerationOpExists):
		return errors.New("key: it is missing: without one, the operator is Exists")
	case t.Value != "" && t.Operator == string(corev1.TolerationOpExists):
		return errors.New("value: the operator Exists has none")
	}
	return nil
}

// checkDeployment finds what only a Deployment can have wrong.
func (l Load) checkDeployment(lasts strict.Duration) error {
	switch {
	case l.Runs != "":
		return errors.New("runs: a Deployment's pods do not end by themselves: leave it out, or let the kind be Job")
	case l.Every != "":
		return errors.New("every: there is one Deployment of a name: leave it out, or let the kind be Job or Pod")
	case l.Daily != nil && (len(l.Steps) > 0 || l.Pods != ""):
		return errors.New("daily: it says how many pods there are, and pods or steps do, too: want one of them")
	}
	last := l.Starts
	for i, s := range l.Steps {
		switch {
		case s.At <= last:
			return fmt.Errorf("steps: row %d: at: %s: want more than %s: steps come one after the other", i+1, s.At.Short(), last.Short())
		case s.At >= l.endsBy(lasts):
			return fmt.Errorf("steps: row %d: at: %s: it is over at %s", i+1, s.At.Short(), l.endsBy(lasts).Short())
		case s.Pods < 0 || s.Pods > mostPods:
			return fmt.Errorf("steps: row %d: pods: %d: want 0 to %d", i+1, s.Pods, mostPods)
		}
		last = s.At
	}
	if err := l.Daily.check(); err != nil {
		return fmt.Errorf("daily: %w", err)
	}
	if err := l.Bursts.check(); err != nil {
		return fmt.Errorf("bursts: %w", err)
	}
	return nil
}

// checkArrivals finds what only Jobs and pods can have wrong.
func (l Load) checkArrivals() error {
	switch {
	case len(l.Steps) > 0 || l.Daily != nil || l.Bursts != nil:
		return fmt.Errorf("steps, daily, bursts: only a Deployment is scaled: a %s comes again after every", l.Kind)
	case l.MaxUnavailable > 0:
		return errors.New("maxUnavailable: only a Deployment has a budget here")
	// mutant: a Job that never ends is played
	case l.Kind == Job && l.Runs == "":
		return errors.New("runs: it is missing, and a Job would never end: say how long its containers run, such as 5m")
	case l.Kind == Pod && l.Every != "" && l.Runs == "":
		return errors.New("runs: it is missing, and pods that never end would come again and again: say how long their containers run")
	}
	return nil
}

func (d *Daily) check() error {
	switch {
	case d == nil:
		return nil
	case d.Low < 0 || d.High < d.Low || d.High > mostPods:
		return fmt.Errorf("from %d to %d: want 0 <= low <= high <= %d", d.Low, d.High, mostPods)
	case d.Peak < 0:
		return fmt.Errorf("peak: %s: want zero or more", d.Peak.Short())
	case d.Period < 0 || d.Period > 0 && d.Period < strict.Duration(time.Minute):
		return fmt.Errorf("period: %s: want at least 1m", d.Period.Short())
	case d.Every < 0 || d.Every > 0 && d.Every < shortestStep:
		return fmt.Errorf("every: %s: want at least 15s", d.Every.Short())
	case math.IsNaN(d.Vary) || d.Vary < 0 || d.Vary > 1:
		return fmt.Errorf("vary: %g: want 0 to 1", d.Vary)
	}
	return nil
}

func (b *Bursts) check() error {
	if b == nil {
		return nil
	}
	for _, of := range []struct {
		field string
		Amount
		unit
		most float64
	}{
		{"every", b.Every, seconds, time.Duration(mostTime).Seconds()}, {"add", b.Add, whole, mostPods},
		{"lasts", b.Lasts, seconds, time.Duration(mostTime).Seconds()},
	} {
		if of.Amount == "" {
			return fmt.Errorf("%s: it is missing", of.field)
		}
		if err := of.check(of.unit, of.most); err != nil {
			return fmt.Errorf("%s: %w", of.field, err)
		}
	}
	return nil
}

// endsBy is when the load is over.
func (l Load) endsBy(lasts strict.Duration) strict.Duration {
	if l.Ends > 0 {
		return l.Ends
	}
	return lasts
}
