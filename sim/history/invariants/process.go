package invariants

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// noCrash: whatever the cloud and the API server answer, the program goes on.
func noCrash(w *world, broken breaks) judge {
	return judge{see: func(r *history.Entry) {
		// mutant: a target that dies is as good as one that lives
		if r.Source == history.Harness && r.Verb == history.Died && r.Actor == w.Actor {
			broken("it died", r.Seq)
		}
		// and more
		if r.Source == history.Logged && r.Actor == w.Actor &&
			strings.HasPrefix(strings.TrimPrefix(r.Detail.Text("message"), `"`), "Observed a panic") {
			broken("it panicked", r.Seq)
		}
	}}
}

// noRace: what the race detector says, where the program is built with it.
func noRace(w *world, broken breaks) judge {
	return judge{see: func(r *history.Entry) {
		if r.Source == history.Logged && r.Verb == "race" && r.Actor == w.Actor {
			broken(r.Detail.Text("message"), r.Seq)
		}
	}}
}

// boundedLoop: --max-inactivity is when Cluster Autoscaler's own health check begins to fail.
func boundedLoop(w *world, broken breaks) judge {
	limit := w.lasts("--max-inactivity", 10*time.Minute)
	var last moment
	late := func() {
		if gap := w.now - last.at; last.isSet() && gap >= limit {
			broken(fmt.Sprintf("no loop began for %s", gap.Round(time.Second)), last.seq)
		}
	}
	return judge{
		see: func(r *history.Entry) {
			switch {
			case r.Source == history.Logged && r.Verb == "loop":
				late()
				last = momentOf(r)
			case r.Source == history.Harness && r.Verb == history.Started && r.Actor == w.Actor:
				last = momentOf(r)
			case !w.alive():
				last = moment{}
			}
		},
		// mutant: the last loop may take for ever
		end: late,
	}
}
