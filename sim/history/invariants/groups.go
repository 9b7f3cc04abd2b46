package invariants

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// limits are those of a group; -1 is one that is not known.
type limits struct{ low, high int }

// declared are the limits of the groups: those of --nodes, and those that the scenario says of
// MachineDeployments, of whose annotations the history has no other event.
type declared map[string]limits

var (
	ofMachines  = regexp.MustCompile(`Machine(?:Deployment|Pool) "([^"]+)" of (\d+) to (\d+) machines`)
	annotations = regexp.MustCompile(`"Machine(?:Deployment|Pool)/([^"]+)" is annotated ` +
		`"cluster\.x-k8s\.io/cluster-api-autoscaler-node-group-(min|max)-size=(\d+)"`)
)

func declare(s Subject) declared {
	d := declared{}
	for _, setting := range s.Settings {
		if nodes, ok := strings.CutPrefix(setting, "--nodes="); ok {
			fields := strings.Split(nodes, ":")
			low, wrongLow := strconv.Atoi(fields[0])
			if len(fields) < 3 || wrongLow != nil {
				continue
			}
			if high, wrong := strconv.Atoi(fields[1]); wrong == nil {
				d[fields[len(fields)-1]] = limits{low, high}
			}
		}
	}
	return d
}

func (d declared) see(r *history.Entry) {
	if r.Source != history.Step || r.Verb != "passed" {
		return
	}
	if m := ofMachines.FindStringSubmatch(r.Detail.Text("text")); m != nil {
		low, _ := strconv.Atoi(m[2])
		high, _ := strconv.Atoi(m[3])
		d[m[1]] = limits{low, high}
	}
	if m := annotations.FindStringSubmatch(r.Detail.Text("text")); m != nil {
		l, known := d[m[1]]
		if !known {
			l = limits{-1, -1}
		}
		size, _ := strconv.Atoi(m[3])
		if m[2] == "min" {
			l.low = size
		} else {
			l.high = size
		}
		d[m[1]] = l
	}
}

// bounds: a group grows to its maximum at most, and is brought back between its limits;
// to its minimum only where that is to be enforced.
func bounds(w *world, broken breaks) judge {
	d := declare(w.Subject)
	enforced := w.setting("--enforce-node-group-min-size") == "true"
	total, err := strconv.Atoi(w.setting("--max-nodes-total"))
	full := func() bool { // there can be no more, whatever minimums say
		sum := 0
		for _, size := range w.sizes {
			sum += size
		}
		return err == nil && total > 0 && sum >= total
	}
	outside := map[string]moment{} // since when a group is
	return judge{
		see: func(r *history.Entry) {
			d.see(r)
			if r.Source == history.Logged && r.Verb == "plan" {
				group, most := lastPart(r.Object.Name), d[lastPart(r.Object.Name)].high
				if to := int(number(r, "to")); most > 0 && to > most {
					broken(fmt.Sprintf("%s is to grow to %d, of %d at most", group, to, most), r.Seq)
				}
			}
			for group, l := range d {
				if r.Source != history.Cloud && r.Source != history.Step {
					continue
				}
				size := w.sizes[group]
				// mutant: a group beyond its maximum may stay there
				if size > l.high && l.high >= 0 || enforced && size < l.low && !full() {
					if !outside[group].isSet() {
						outside[group] = momentOf(r)
					}
				} else {
					delete(outside, group)
				}
			}
		},
		end: func() {
			for _, group := range slices.Sorted(maps.Keys(outside)) {
				since, enough := outside[group], w.provision()+5*time.Minute
				if w.sizes[group] < d[group].low { // nothing is to be waited for
					enough = 5 * time.Minute
				}
				if len(w.faults) == 0 && w.quiet(since.at, enough) {
					broken(fmt.Sprintf("%s has %d instances, of %d to %d", group, w.sizes[group], d[group].low, d[group].high), since.seq)
				}
			}
		},
	}
}

// lastPart is the name of a group that has its kind and namespace before it.
func lastPart(group string) string { return group[strings.LastIndex(group, "/")+1:] }

// provision is how long an instance may take to become a Node.
func (w *world) provision() time.Duration {
	return w.lasts("--max-node-provision-time", 15*time.Minute)
}

// quiet reports whether the target has had so much time since then, alive and undisturbed.
func (w *world) quiet(since, enough time.Duration) bool {
	return w.alive() && w.now-max(since, w.act, w.programs.started.at) >= enough
}

// quietSince reports whether the target has run since then.
func (w *world) quietSince(then time.Duration) bool {
	return w.alive() && w.programs.started.at <= then && len(w.faults) == 0
}

// limitsKept: --max-nodes-total.
func limitsKept(w *world, broken breaks) judge {
	most, err := strconv.Atoi(w.setting("--max-nodes-total"))
	if err != nil || most == 0 {
		return judge{}
	}
	enforced := w.setting("--enforce-node-group-min-size") == "true" // which launches without a plan
	return judge{see: func(r *history.Entry) {
		if r.Source != history.Cloud || r.Verb != "created" || r.Detail.Text("group") == "" {
			return
		}
		count := 0
		for _, i := range w.instances {
			if !i.deleting.isSet() {
				count++
			}
		}
		// mutant: minimum sizes may pass the number of nodes
		if count > most && (enforced || w.planFor(r.Detail.Text("group")) != nil) {
			broken(fmt.Sprintf("there are %d instances, of %d", count, most), r.Seq)
		}
	}}
}

// pauseRespected: a group that people have paused is theirs.
func pauseRespected(w *world, broken breaks) judge {
	if !w.hasFact(LeavesPaused) {
		return judge{}
	}
	m := removalsOf(w)
	paused := map[string]moment{}
	is := regexp.MustCompile(`"Machine(?:Deployment|Set|Pool)/([^"]+)" is annotated "cluster\.x-k8s\.io/paused=([^"]*)"`)
	return judge{see: func(r *history.Entry) {
		if r.Source == history.Step && r.Verb == "passed" {
			if s := is.FindStringSubmatch(r.Detail.Text("text")); s != nil {
				paused[s[1]] = momentOf(r)
			}
		}
		if since := paused[r.Object.Name]; m.scales(r) && since.isSet() {
			broken(r.Object.Name+" is scaled, and it is paused", since.seq, r.Seq)
		}
	}}
}
