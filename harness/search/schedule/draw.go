package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"nodestorm/sim/strict"
	"nodestorm/sim/time/lapse"
	"nodestorm/sim/time/seed"
)

// profile is a way of life: how much is done, and what how often.
type profile struct {
	means string
	// acts are how many there are at least and at most, besides the first demand.
	acts [2]int
	// gap is how long nothing is done between two, at most.
	gap     time.Duration
	weights map[string]int
}

// profiles are all of them.
var profiles = map[string]profile{
	"small": {
		means: "a few acts on one or two Deployments",
		acts:  [2]int{3, 8}, gap: 3 * time.Minute,
		weights: map[string]int{"fault": 5, "scale": 4, "deploy": 2, "restart": 2, "delete-pod": 1, "drain": 1, "target": 1, "maximum": 1, "edit": 1, "remove-group": 1, "job": 1, "buffer": 1, "static": 1},
	},
	"churn": {
		means: "demand that comes and goes, with few faults",
		acts:  [2]int{8, 20}, gap: 4 * time.Minute,
		weights: map[string]int{"scale": 10, "deploy": 3, "delete": 2, "delete-pod": 3, "budget": 1, "fault": 3, "drain": 1, "target": 1, "maximum": 1, "daemons": 1, "job": 3, "buffer": 2, "static": 2, "hold": 1},
	},
	"outage": {
		means: "faults of the cloud, the machines and the API server, one upon the other",
		acts:  [2]int{6, 16}, gap: 2 * time.Minute,
		weights: map[string]int{"fault": 12, "scale": 5, "deploy": 1, "restart": 2, "restart-part": 1, "delete-node": 1, "job": 1, "buffer": 1, "static": 1},
	},
	"upgrade": {
		means: "programs that restart and people who cordon, drain and delete",
		acts:  [2]int{6, 16}, gap: 3 * time.Minute,
		weights: map[string]int{"restart": 5, "restart-part": 2, "drain": 4, "cordon": 2, "delete-node": 2, "delete-pod": 2, "scale": 5, "budget": 1, "fault": 2, "target": 1, "maximum": 1, "edit": 2, "pause": 1, "daemons": 1, "remove-group": 1, "job": 1, "buffer": 1, "static": 1, "hold": 1},
	},
}

// Profiles are the names of those that there are, each with what it means.
func Profiles() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		all = append(all, name+": "+profiles[name].means)
	}
	return all
}

// Drawing says what to draw.
type Drawing struct {
	Site, Profile string
	// Version is the program's release, of which some acts depend; those are left out if it is
	// empty or none, such as that of a build of one's own.
	Version string
	// Faults leaves out all faults whose words have none of these; nil leaves out none.
	Faults []string
}

// Check finds what is wrong with it.
func (d Drawing) Check() error {
	at, err := siteOf(d.Site)
	if err != nil {
		return err
	}
	if _, known := profiles[d.Profile]; !known {
		all := slices.Sorted(maps.Keys(profiles))
		return fmt.Errorf("profile: %q is none%s (there are %s)", d.Profile, strict.Meant(d.Profile, all), strings.Join(all, ", "))
	}
	if len(d.Faults) > 0 && len(d.faults(at)) == 0 {
		return fmt.Errorf("faults: none of %s has any of the words %s; \"nodestorm sentences faults\" prints how they are said", d.Site, strings.Join(d.Faults, ", "))
	}
	return nil
}

func (d Drawing) faults(at site) (all []faults) {
	for _, f := range at.faults {
		words := f.sentence
		for _, place := range f.places {
			words += " " + strings.Join(place, " ")
		}
		if len(d.Faults) == 0 || slices.ContainsFunc(d.Faults, func(w string) bool { return strings.Contains(words, w) }) {
			all = append(all, f)
		}
	}
	return all
}

// Draw draws a schedule: of one seed always the same.
func (d Drawing) Draw(from uint64) (Schedule, error) {
	if err := d.Check(); err != nil {
		return Schedule{}, err
	}
	at, err := siteOf(d.Site)
	if err != nil {
		return Schedule{}, err
	}
	way := profiles[d.Profile]
	// mutant: a schedule is another one the second time
	p := &pen{random: seed.Stream(from, "nemesis", d.Site, d.Profile), at: at, drawing: d, way: way}
	p.s = Schedule{Site: d.Site, Seed: from, Profile: d.Profile, Rest: lapse.Duration(25 * time.Minute)}
	p.groups()
	p.settings(from)
	for range 1 + p.random.IntN(2) {
		p.add("deploy", 0)
	}
	for range way.acts[0] + p.random.IntN(way.acts[1]-way.acts[0]+1) {
		p.add(p.kind(), p.gap())
	}
	return p.s, p.s.Check()
}

// Vary draws a schedule from another one: some acts are left out, some come in. Of one seed
// and one schedule always the same.
func (d Drawing) Vary(parent Schedule, from uint64) (Schedule, error) {
	at, err := siteOf(d.Site)
	if err != nil {
		return Schedule{}, err
	}
	p := &pen{random: seed.Stream(from, "vary", d.Site, d.Profile), at: at, drawing: d, way: profiles[d.Profile]}
	p.s = parent.clone()
	p.s.Seed, p.s.Profile = from, d.Profile
	p.s.Acts = nil
	for i, a := range parent.Acts {
		switch {
		case a.Do != "deploy" && p.random.IntN(5) == 0: // left out
		case i > 0 && p.random.IntN(4) == 0:
			p.add(p.kind(), p.gap())
			fallthrough
		default:
			if a.After > 0 && p.random.IntN(3) == 0 {
				a.After = p.gap()
			}
			p.try(a)
		}
	}
	p.add(p.kind(), p.gap())
	return p.s, p.s.Check()
}

// reaches tells whether the release has what came with the one that is given.
func (d Drawing) reaches(since string) bool {
	if since == "" {
		return true
	}
	version, err := semver.NewVersion(d.Version)
	return err == nil && !version.LessThan(semver.MustParse(since))
}

// pen writes a schedule, act by act.
type pen struct {
	random  *rand.Rand
	at      site
	drawing Drawing
	way     profile
	s       Schedule
}

func (p *pen) groups() {
	types := slices.Sorted(maps.Keys(p.at.Types))
	p.random.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	for i := range 1 + p.random.IntN(3) {
		g := Group{Name: []string{"alpha", "beta", "gamma"}[i], Type: types[i%len(types)]}
		if p.at.groupsHaveBounds {
			g.Max = 4 + p.random.IntN(5)
		}
		p.s.Groups = append(p.s.Groups, g)
	}
}

func (p *pen) gap() lapse.Duration {
	return lapse.Duration(time.Duration(1+p.random.IntN(int(p.way.gap/time.Second))) * time.Second)
}

func (p *pen) kind() string {
	names, all := slices.Sorted(maps.Keys(p.way.weights)), 0
	for _, name := range names {
		all += p.way.weights[name]
	}
	n := p.random.IntN(all)
	for _, name := range names {
		if n -= p.way.weights[name]; n < 0 {
			return name
		}
	}
	panic("the weights have another sum")
}

// tries is how often something is drawn until it fits.
const tries = 20

// add adds an act of the kind, if one can be found that fits.
func (p *pen) add(do string, after lapse.Duration) {
	if k := kinds[do]; k.of != nil && !k.of(p.at) || !p.drawing.reaches(k.since) {
		do = "scale"
	}
	for range tries {
		a := p.draw(do)
		a.After = after
		if p.try(a) {
			return
		}
	}
}

// try adds an act if it can be done there and the demand still has room.
func (p *pen) try(a Act) bool {
	p.s.Acts = append(p.s.Acts, a)
	if p.s.Check() != nil || !p.s.fits(p.at) {
		p.s.Acts = p.s.Acts[:len(p.s.Acts)-1]
		return false
	}
	return true
}

func (p *pen) draw(do string) Act {
	a := Act{Do: do}
	some := func(all ...string) string { return all[p.random.IntN(len(all))] }
	names := func(kinds ...string) (all []string) { // of what was brought, those that are gone too
		for _, b := range p.s.Acts {
			if slices.Contains(kinds, brings[b.Do]) {
				all = append(all, b.Name)
			}
		}
		return all
	}
	free := func(of string) string { return fmt.Sprintf("%s-%d", of, len(p.s.Acts)+1) }
	switch do {
	case "deploy":
		a.Name, a.Pods, a.CPU = fmt.Sprintf("app-%d", len(names("Deployment"))+1), 1+p.random.IntN(6), 100*(3+p.random.IntN(32))
		if p.random.IntN(6) == 0 { // what fits just once, or very often
			a.CPU = []int{1, 333, 1001, 1500}[p.random.IntN(4)]
		}
		a.Spread = some("", "", "", "zones", "nodes")
		a.Priority = []int{0, 0, 0, 0, -10, 1000}[p.random.IntN(6)]
		a.Held = p.random.IntN(8) == 0
		if p.random.IntN(8) == 0 {
			a.For = lapse.Duration(time.Minute)
		}
	case "job":
		a.Name, a.Pods, a.CPU = free("job"), 1+p.random.IntN(4), 100*(3+p.random.IntN(16))
		a.For = spans[p.random.IntN(len(spans))]
	case "buffer":
		a.Name, a.Pods, a.CPU = free("buffer"), 1+p.random.IntN(3), 100*(3+p.random.IntN(16))
	case "static":
		a.Name, a.Pods = free("static"), p.random.IntN(3)
	case "scale":
		a.Name, a.Pods = some(names("Deployment", "CapacityBuffer", "NodePool")...), p.random.IntN(9)
		if p.s.kindOf(a.Name) == "NodePool" {
			a.Pods %= 4
		}
	case "delete":
		a.Name = some(names("Deployment", "Job", "CapacityBuffer", "NodePool")...)
	case "budget":
		a.Name, a.Pods = some(names("Deployment")...), p.random.IntN(2)
	case "restart-part":
		a.Name = some(p.at.programs()...)
	case "drain", "cordon", "hold", "delete-node", "delete-pod":
		a.Which = some("newest", "oldest")
	case "daemons":
		a.Name, a.CPU = free("daemon"), 50*(1+p.random.IntN(4))
	case "target":
		g := p.s.Groups[p.random.IntN(len(p.s.Groups))]
		a.Name, a.Pods = g.Name, p.random.IntN(g.Max+1)
	case "maximum":
		a.Name, a.Pods = p.s.Groups[p.random.IntN(len(p.s.Groups))].Name, p.random.IntN(9)
	case "remove-group":
		a.Name = p.s.Groups[p.random.IntN(len(p.s.Groups))].Name
	case "edit":
		a.Name, a.Pods = p.s.Groups[p.random.IntN(len(p.s.Groups))].Name, len(p.s.Acts)
	case "pause":
		a.Name = p.s.Groups[p.random.IntN(len(p.s.Groups))].Name
	case "fault":
		all := p.drawing.faults(p.at)
		a = all[p.random.IntN(len(all))].draw(p.random, p.s)
	}
	return a
}

// mostDaemons is what a pod of each daemon requests together at most, in millicores: the smallest
// Node, of the control plane, has one processor.
const mostDaemons = 400

// fits tells whether machines of the largest type are enough for all demand at any time, so
// that what waits for ever waits for no good reason. What people take away is not counted on.
func (s Schedule) fits(at site) bool {
	cores, room, largest := 0, 0, ""
	for _, g := range s.Groups {
		if at.Types[g.Type] > cores {
			cores, room, largest = at.Types[g.Type], g.Max, g.Name
		}
	}
	if !at.groupsHaveBounds {
		room = 12
	}
	type demand struct {
		pods, cpu int
		apart     bool
	}
	now, daemons := map[string]demand{}, 0
	for _, a := range s.Acts {
		switch a.Do {
		case "daemons":
			if daemons += a.CPU; daemons > mostDaemons {
				return false
			}
		case "maximum": // a later one may be larger again: how many there were to lose nobody knows
			if a.Name == largest {
				room = min(room, a.Pods)
			}
		case "remove-group":
			if a.Name == largest {
				return false
			}
		case "deploy", "job":
			now[a.Name] = demand{a.Pods, a.CPU, a.Spread == "nodes"}
			if a.Held {
				room--
			}
		case "scale":
			d := now[a.Name]
			d.pods = a.Pods
			now[a.Name] = d
		case "delete":
			delete(now, a.Name)
		case "drain", "cordon":
			room--
		case "budget": // pods that nobody may move fill no gaps
			room--
		}
		needed := 0
		for _, d := range now {
			if d.cpu == 0 {
				continue
			}
			// mutant: what daemons take is there for others
			each := (1000*cores - 500 - daemons) / d.cpu // a kubelet keeps some for itself
			if d.apart {
				each = min(each, 1)
			}
			if each <= 0 {
				return false
			}
			needed += (d.pods + each - 1) / each
		}
		// mutant: demand that no machine has room for is drawn
		if needed >= room {
			return false
		}
	}
	return true
}
