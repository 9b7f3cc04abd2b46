package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"nodestorm/sim/strict"
	"nodestorm/sim/time/seed"
)

// Act is one thing that a workload does, at its time.
type Act struct {
	// At is when, counted in virtual time from the start of the workload.
	At time.Duration
	// Do says what: Create, Scale or Delete.
	Do string
	// Object is what it is done to, KIND/NAME.
	Object string
	// Pods is how many there are to be of it.
	Pods int
	// CPU and Memory are what each of them requests, in cores and bytes.
	CPU, Memory float64
	// Apart says that no two of them may be on one Node.
	Apart bool
	// Manifest is what is created, as YAML; it may be several objects.
	Manifest string
}

// What acts do.
const (
	Create = "create"
	Scale  = "scale"
	Delete = "delete"
)

// String is the act in a line.
func (a Act) String() string {
	text := fmt.Sprintf("%-10s %s %s", strict.Duration(a.At).Short(), a.Do, a.Object)
	switch a.Do {
	case Create:
		text += fmt.Sprintf(", pods %d", a.Pods)
		if a.CPU > 0 {
			text += fmt.Sprintf(", cpu %g", a.CPU)
		}
		if a.Memory > 0 {
			text += ", memory " + bytesOf(a.Memory)
		}
	case Scale:
		return text + fmt.Sprintf(", pods %d", a.Pods)
	}
	return text
}

// Expand is the workload as a list of acts in the order of their times. Equal seeds give equal lists.
func (w Workload) Expand(from uint64) (all []Act, err error) {
	for _, l := range w.Loads {
		// mutant: one load draws what another did
		random := seed.Stream(from, "workload", l.Name)
		acts := l.arrivals
		if l.Kind == Deployment {
			acts = l.deployment
		}
		all = append(all, acts(random, time.Duration(l.endsBy(w.Lasts)))...)
		if len(all) > mostActs {
			return nil, fmt.Errorf("load %q: the workload comes to more than %d acts: let it last less, or come less often", l.Name, mostActs)
		}
	}
	slices.SortStableFunc(all, func(a, b Act) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

// Largest is the act whose pods request the most CPU each, and the one whose request the most memory.
func Largest(acts []Act) (cpu, memory Act) {
	for _, a := range acts {
		if a.CPU > cpu.CPU {
			cpu = a
		}
		if a.Memory > memory.Memory {
			memory = a
		}
	}
	return cpu, memory
}

// arrivals are those of Jobs and of pods, until they end.
func (l Load) arrivals(random *rand.Rand, ends time.Duration) (all []Act) {
	at := time.Duration(l.Starts)
	for n := 1; at < ends && len(all) <= mostActs; n++ {
		pods := int(l.Pods.drawn(whole, random, 1))
		a := l.creates(fmt.Sprintf("%s-%d", l.Name, n), at, pods, random)
		runs, class := l.Runs.duration(random), ""
		if n == 1 {
			class = l.priorityClass()
		}
		for nth := range pods {
			if l.Kind == Job {
				a.Manifest = class + l.job(a, runs)
				all = append(all, a)
				break
			}
			one := a
			one.Pods = 1
			if one.Object = fmt.Sprintf("Pod/%s-%d", l.Name, n); pods > 1 {
				one.Object += fmt.Sprintf("-%d", nth+1)
			}
			if nth > 0 {
				class = ""
			}
			one.Manifest = class + l.pod(one, runs)
			all = append(all, one)
		}
		if l.Every == "" {
			break
		}
		at += l.Every.duration(random)
	}
	return all
}

// creates is the creation of one, without its manifest.
func (l Load) creates(name string, at time.Duration, pods int, random *rand.Rand) Act {
	cpu, memory := l.CPU.drawn(quantity, random, 0), l.Memory.drawn(quantity, random, 0)
	const exact = 1e-6 // 0.7 comes out as a little more than 700 thousandths
	cpu, memory = math.Ceil(cpu*1000-exact)/1000, math.Ceil(memory)
	return Act{At: at, Do: Create, Object: l.Kind + "/" + name, Pods: pods, CPU: cpu, Memory: memory, Apart: l.Spread == "nodes"}
}

// change is by how many pods a Deployment has more than before, from then on.
type change struct {
	at   time.Duration
	more int
}

// deployment is its creation, its sizes and its end.
func (l Load) deployment(random *rand.Rand, ends time.Duration) (all []Act) {
	created := l.creates(l.Name, time.Duration(l.Starts), 0, random)
	changes := append(l.sizes(random, ends), l.bursts(random, ends)...)
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	pods := 0
	for i, c := range changes {
		pods += c.more
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		switch {
		case len(all) == 0:
			created.Pods = pods
			created.Manifest = l.priorityClass() + l.deploy(created) + l.budget()
			all = append(all, created)
		case all[len(all)-1].Pods != pods:
			scaled := created
			scaled.At, scaled.Do, scaled.Pods, scaled.Manifest = c.at, Scale, pods, ""
			all = append(all, scaled)
		}
	}
	if l.Ends > 0 {
		all = append(all, Act{At: ends, Do: Delete, Object: created.Object})
	}
	return all
}

// sizes are those that pods, steps or a curve give, as changes.
func (l Load) sizes(random *rand.Rand, ends time.Duration) (all []change) {
	starts := time.Duration(l.Starts)
	if l.Daily == nil {
		last := int(l.Pods.drawn(whole, random, 1))
		all = []change{{starts, last}}
		for _, s := range l.Steps {
			all = append(all, change{time.Duration(s.At), s.Pods - last})
			last = s.Pods
		}
		return all
	}
	period := time.Duration(cmp.Or(l.Daily.Period, strict.Duration(24*time.Hour)))
	every := cmp.Or(time.Duration(l.Daily.Every), max(period/96, time.Duration(shortestStep)))
	last := 0
	for at := starts; at < ends && len(all) <= mostActs; at += every {
		pods := l.Daily.at(at, period, random)
		all = append(all, change{at, pods - last})
		last = pods
	}
	return all
}

// at is the size that the curve has then.
func (d *Daily) at(then, period time.Duration, random *rand.Rand) int {
	wave := (1 + math.Cos(2*math.Pi*float64(then-time.Duration(d.Peak))/float64(period))) / 2
	size := float64(d.Low) + wave*float64(d.High-d.Low)
	size *= 1 + d.Vary*(2*random.Float64()-1)
	return int(math.Round(size))
}

// bursts are pods that come and go, as changes.
func (l Load) bursts(random *rand.Rand, ends time.Duration) (all []change) {
	if l.Bursts == nil {
		return nil
	}
	at := time.Duration(l.Starts) + l.Bursts.Every.duration(random)
	for ; at < ends && len(all) <= mostActs; at += l.Bursts.Every.duration(random) {
		pods, lasts := int(l.Bursts.Add.drawn(whole, random, 1)), l.Bursts.Lasts.duration(random)
		all = append(all, change{at, pods})
		if at+lasts < ends {
			all = append(all, change{at + lasts, -pods})
		}
	}
	return all
}

func toYAML(object map[string]any) string {
	text, err := yaml.Marshal(object)
	if err != nil {
		panic(err) // it has nothing that YAML could not have
	}
	return "---\n" + string(text)
}
