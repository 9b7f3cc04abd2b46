package checker

import (
	"fmt"

	"nodestorm/sim/history"
)

// NoOvershoot is invariant I1 of the corpus for autoscalers that create objects:
// never are there more than most objects of the resource ("nodeclaims") that
// were created and not yet asked to be deleted. Only what is in the history
// counts, not what was there before. The evidence are the creates of the objects
// that are there when the bound is first passed.
func NoOvershoot(records []history.Record, resource string, most int) Finding {
	finding := Finding{
		Result:    Valid,
		Statement: fmt.Sprintf("at no time are there more than %d %s", most, resource),
	}
	records = prepare(records)
	type live struct {
		object history.Object
		seq    uint64
	}
	var there []live
	for _, r := range records {
		if r.Source != history.API || r.Object.Resource != resource || r.Code >= 400 || r.Detail["subresource"] != nil {
			continue
		}
		switch r.Verb {
		case "create":
			there = append(there, live{r.Object, r.Seq})
		case "delete":
			for i := range there {
				if there[i].object == r.Object {
					there = append(there[:i], there[i+1:]...)
					break
				}
			}
		}
		if len(there) > most {
			finding.Result = Invalid
			finding.Reason = fmt.Sprintf("%d at %s", len(there), r.Virtual)
			for _, l := range there {
				finding.Evidence = append(finding.Evidence, l.seq)
			}
			break
		}
	}
	complete := completenessOf(records)
	switch {
	case finding.Result == Invalid && complete.damaged != 0:
		// a delete may be among what could not be read
		finding.Result, finding.Reason = Unknown, complete.why()
	case finding.Result == Valid && complete.why() != "":
		finding.Result, finding.Reason = Unknown, complete.why()
	case finding.Result == Valid && !complete.sources[history.API]:
		finding.Result, finding.Reason = Unknown, "the history has no record from the source api"
	}
	return finding
}
