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
	"nodestorm/sim/time/seed"
)

// profile is a way of life: how much is done, and what how often.
type profile struct {
	means string
	// acts are how many there are at least and at most, in addition to the first demand.
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
		weights: map[string]int{"fault": 5, "scale": 4, "deploy": 2, "restart": 2, "delete-pod": 1, "drain": 1, "target": 1, "maximum": 1,
			"edit": 1, "remove-group": 1, "job": 1, "buffer": 1, "static": 1},
	},
	"churn": {
		means: "demand that comes and goes, with few faults",
		acts:  [2]int{8, 20}, gap: 4 * time.Minute,
		weights: map[string]int{"scale": 10, "deploy": 3, "delete": 2, "delete-pod": 3, "budget": 1, "fault": 3, "drain": 1, "target": 1,
			"maximum": 1, "daemons": 1, "job": 3, "buffer": 2, "static": 2, "hold": 1},
	},
	"outage": {
		means: "faults of the cloud, the machines and the API server, one upon the other",
		acts:  [2]int{6, 16}, gap: 2 * time.Minute,
		weights: map[string]int{"fault": 12, "scale": 5, "deploy": 1, "restart": 2, "restart-part": 1, "delete-node": 1, "job": 1,
			"buffer": 1, "static": 1},
	},
	"upgrade": {
		means: "programs that restart and are upgraded, and people who cordon, drain and delete",
		acts:  [2]int{6, 16}, gap: 3 * time.Minute,
		weights: map[string]int{"restart": 5, "restart-part": 2, "drain": 4, "cordon": 2, "delete-node": 2, "delete-pod": 2, "scale": 5,
			"budget": 1, "fault": 2, "target": 1, "maximum": 1, "edit": 2, "pause": 1, "daemons": 1, "remove-group": 1, "job": 1, "buffer": 1,
			"static": 1, "hold": 1, "upgrade": 3, "roll-back": 2},
	},
}

// Profiles are the names of those that there are, each with what it means.
func Profiles() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		all = append(all, name+": "+profiles[name].means)
	}
	return all
}

// MostBefore is how many releases before the target the one is, at most, that runs first where a schedule upgrades it.
const MostBefore = 2

// Upgrades reports whether schedules of a profile upgrade the program of a site, if an older release is at hand.
func Upgrades(site, of string) bool {
	at, err := siteOf(site)
	return err == nil && at.upgrades && profiles[of].weights["upgrade"] > 0
}

// Drawing says what to draw.
type Drawing struct {
	Site, Profile string
	// Version is the program's release, of which some acts depend; those are left out if it is
	// empty or none, such as that of a build of one's own.
	Version string
	// Before are the releases before that one, the last first, that can run in its place until an act upgrades it.
	Before []string
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
		return fmt.Errorf("profile: unknown profile %q%s; want one of %s", d.Profile, strict.Meant(d.Profile, all), strings.Join(all, ", "))
	}
	if len(d.Faults) > 0 && len(d.faults(at)) == 0 {
		return fmt.Errorf("faults: none of %s has any of the words %s; \"nodestorm sentences faults\" prints how they are said", d.Site,
			strings.Join(d.Faults, ", "))
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
	p.s = Schedule{Site: d.Site, Seed: from, Profile: d.Profile, Rest: strict.Duration(25 * time.Minute)}
	p.groups()
	p.older(from)
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
	p.asOld()
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

// older draws which release runs first, if the profile upgrades it.
func (p *pen) older(from uint64) {
	if n := min(len(p.drawing.Before), MostBefore); n > 0 && Upgrades(p.drawing.Site, p.drawing.Profile) {
		p.s.Before = 1 + seed.Stream(from, "older", p.drawing.Site).IntN(n)
	}
	p.asOld()
}

// asOld has nothing be drawn that the release lacks which runs first.
func (p *pen) asOld() {
	// mutant: what is drawn for an upgrade is of the later release
	if n := p.s.Before; n > 0 && n <= len(p.drawing.Before) {
		p.drawing.Version = p.drawing.Before[n-1]
	}
}

// reaches reports whether the release has what came with the one that is given.
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

func (p *pen) gap() strict.Duration {
	return strict.Duration(time.Duration(1+p.random.IntN(int(p.way.gap/time.Second))) * time.Second)
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
func (p *pen) add(do string, after strict.Duration) {
	if k := kinds[do]; k.of != nil && !k.of(p.at) || !p.drawing.reaches(k.since) || k.upgrades && p.s.Before == 0 {
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

// oneOf is one of all.
func (p *pen) oneOf(all ...string) string { return all[p.random.IntN(len(all))] }

// group is one of the groups.
func (p *pen) group() Group { return p.s.Groups[p.random.IntN(len(p.s.Groups))] }

// names are those of all objects of some kinds that acts create, deleted ones among them.
func (p *pen) names(kinds ...string) (all []string) {
	for _, b := range p.s.Acts {
		if slices.Contains(kinds, brings[b.Do]) {
			all = append(all, b.Name)
		}
	}
	return all
}

// draw draws what an act is about, but not when it is.
func (p *pen) draw(do string) Act {
	switch a := (Act{Do: do}); do {
	case "fault":
		all := p.drawing.faults(p.at)
		return all[p.random.IntN(len(all))].draw(p.random, p.s)
	case "restart-part":
		a.Name = p.oneOf(p.at.programs()...)
		return a
	case "drain", "cordon", "hold", "delete-node", "delete-pod":
		a.Which = p.oneOf("newest", "oldest")
		return a
	case "target":
		g := p.group()
		a.Name, a.Pods = g.Name, p.random.IntN(g.Max+1)
		return a
	case "maximum":
		a.Name, a.Pods = p.group().Name, p.random.IntN(9)
		return a
	case "edit":
		a.Name, a.Pods = p.group().Name, len(p.s.Acts)
		return a
	case "remove-group", "pause":
		a.Name = p.group().Name
		return a
	default:
		return p.drawDemand(a)
	}
}

// drawDemand draws an act on what needs or limits nodes.
func (p *pen) drawDemand(a Act) Act {
	free := func(of string) string { return fmt.Sprintf("%s-%d", of, len(p.s.Acts)+1) }
	switch a.Do {
	case "deploy":
		return p.drawDeployment(a)
	case "job":
		a.Name, a.Pods, a.CPU = free("job"), 1+p.random.IntN(4), 100*(3+p.random.IntN(16))
		a.For = spans[p.random.IntN(len(spans))]
	case "buffer":
		a.Name, a.Pods, a.CPU = free("buffer"), 1+p.random.IntN(3), 100*(3+p.random.IntN(16))
	case "static":
		a.Name, a.Pods = free("static"), p.random.IntN(3)
	case "scale":
		a.Name, a.Pods = p.oneOf(p.names("Deployment", "CapacityBuffer", "NodePool")...), p.random.IntN(9)
		if p.s.kindOf(a.Name) == "NodePool" {
			a.Pods %= 4
		}
	case "delete":
		a.Name = p.oneOf(p.names("Deployment", "Job", "CapacityBuffer", "NodePool")...)
	case "budget":
		a.Name, a.Pods = p.oneOf(p.names("Deployment")...), p.random.IntN(2)
	case "daemons":
		a.Name, a.CPU = free("daemon"), 50*(1+p.random.IntN(4))
	}
	return a
}

func (p *pen) drawDeployment(a Act) Act {
	a.Name, a.Pods, a.CPU = fmt.Sprintf("app-%d", len(p.names("Deployment"))+1), 1+p.random.IntN(6), 100*(3+p.random.IntN(32))
	if p.random.IntN(6) == 0 { // what fits just once, or very often
		a.CPU = []int{1, 333, 1001, 1500}[p.random.IntN(4)]
	}
	a.Spread = p.oneOf("", "", "", "zones", "nodes")
	a.Priority = []int{0, 0, 0, 0, -10, 1000}[p.random.IntN(6)]
	a.Held = p.random.IntN(8) == 0
	if p.random.IntN(8) == 0 {
		a.For = strict.Duration(time.Minute)
	}
	return a
}
