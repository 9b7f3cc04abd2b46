package invariants

import (
	"nodestorm/sim/history"
)

// gracefulDeletion: a grace period of zero has the API server forget a pod that may still run.
func gracefulDeletion(w *world, broken breaks) judge {
	return judge{see: func(r *history.Entry) {
		if r.Source == history.API && r.Actor == w.Actor && r.Code < 400 && r.Verb == "delete" && r.Object.Resource == "pods" &&
			// mutant: a pod may be deleted by force
			number(r, "gracePeriodSeconds") == 0 {
			broken("it deletes the pod "+r.Object.Namespace+"/"+r.Object.Name+" without a grace period", r.Seq)
		}
	}}
}
