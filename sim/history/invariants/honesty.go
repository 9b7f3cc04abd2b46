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

// targetHonesty: what was asked for and did not come is no longer asked for.
func targetHonesty(w *world, broken breaks) judge {
	m := removalsOf(w)
	owed := map[string]moment{}            // groups of which instances timed out
	reverted := map[string]time.Duration{} // when a group was last asked for less
	return judge{
		see: func(r *history.Entry) {
			for _, name := range m.asked(r) {
				if i := w.instances[name]; i != nil {
					reverted[i.group] = r.Virtual
				}
			}
			switch {
			case m.scales(r), r.Actor == w.Actor && r.Verb == "NodeGroupDecreaseTargetSize" && r.Code < 400:
				reverted[r.Object.Name] = r.Virtual
			case r.Source == history.Logged && r.Verb == "target":
				reverted[lastPart(r.Object.Name)] = r.Virtual
			case r.Source == history.API && r.Actor == w.Actor && r.Code < 400 && r.Detail.Text("reason") == "ScaleUpTimedOut":
				if g := failedGroup.FindStringSubmatch(r.Detail.Text("message") + " "); g != nil && w.short(lastPart(g[1])) {
					group := lastPart(g[1])
					if less, is := reverted[group]; !owed[group].isSet() && (!is || less < w.loop) { // not in the same loop
						owed[group] = momentOf(r)
					}
				}
			}
			for _, group := range slices.Sorted(maps.Keys(owed)) {
				since := owed[group]
				if less, is := reverted[group]; is && less >= since.at {
					delete(owed, group)
					continue
				}
				if w.now-since.at > 5*time.Minute && w.alive() && !w.refused() {
					broken(fmt.Sprintf("what timed out in %s is still asked for %s later", group, (w.now-since.at).Round(time.Second)), since.seq, r.Seq)
				}
			}
		},
	}
}

// short reports whether a group has fewer Nodes than its latest plan was to give it.
func (w *world) short(group string) bool {
	p, joined := w.planFor(group), 0
	for _, i := range w.instances {
		if i.group == group && w.joined(i) != nil {
			joined++
		}
	}
	return p != nil && joined < p.to
}

var (
	sizeSet  = regexp.MustCompile(`^Scale-up: group (\S+) size set to (\d+) instead of (\d+)`)
	removed  = regexp.MustCompile(`(?:node|empty node) (\S+) removed`)
	unjoined = regexp.MustCompile(`^Removed unregistered node (\S+)$`)
)

// truthfulSuccess: what it says to users that it has done, it has.
func truthfulSuccess(w *world, broken breaks) judge {
	m := removalsOf(w)
	asked := map[string]bool{}
	return judge{see: func(r *history.Entry) {
		for _, name := range m.asked(r) {
			asked[name] = true
			if i := w.instances[name]; i != nil && i.id != "" {
				asked[i.id] = true
			}
		}
		if r.Source != history.API || r.Actor != w.Actor || r.Object.Resource != "events" || r.Code >= 400 {
			return
		}
		message := r.Detail.Text("message")
		if s := sizeSet.FindStringSubmatch(message); s != nil && w.hasFact(CallsCreate) {
			if p := w.planFor(lastPart(s[1])); p != nil && p.failed.isSet() && len(p.instances) == 0 {
				broken(fmt.Sprintf("%q, and no instance was created: %s", message, p.why), p.at.seq, p.failed.seq, r.Seq)
			}
		}
		for _, of := range []*regexp.Regexp{removed, unjoined} {
			s := of.FindStringSubmatch(message)
			if s == nil {
				continue
			}
			name := s[1]
			if id := name[strings.LastIndex(name, "/")+1:]; id != name {
				if _, wrong := strconv.Atoi(id); wrong == nil {
					name = w.named(id)
				} else {
					name = id
				}
			}
			if i := w.instances[name]; i != nil && !asked[name] && !i.deleting.isSet() {
				broken(fmt.Sprintf("%q, and no call asked for its deletion", message), i.created.seq, r.Seq)
			}
		}
	}}
}

// named is the name of the instance with the ID.
func (w *world) named(id string) string {
	for name, i := range w.instances {
		if i.id == id {
			return name
		}
	}
	return ""
}
