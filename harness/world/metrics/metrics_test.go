package metrics

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nodestorm/sim/history"
)

type kept struct{ all []string }

func (k *kept) Record(e history.Event) {
	labels, _ := e.Detail["labels"].(map[string]any)
	pool, _ := labels["nodepool"].(string)
	value, _ := e.Detail["value"].(float64)
	k.all = append(k.all, e.Actor+" "+e.Verb+" "+e.Object.Resource+"/"+e.Object.Name+" "+pool+" "+http.StatusText(int(value)))
}

// A value is recorded when it is new, when it has changed and when it is gone, and that of another metric never.
func TestRecord(t *testing.T) {
	exposed := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(exposed)) }))
	defer server.Close()
	into := &kept{}
	r := recorder{into: into, actor: "karpenter", names: []string{"claims_total", "took_seconds_count", "took_seconds_sum", "pods"}}
	for _, round := range []struct {
		exposed string
		want    []string
	}{
		{"# TYPE claims_total counter\nclaims_total{nodepool=\"a\"} 200\nclaims_total{nodepool=\"b\"} 201\nother 404\n",
			[]string{"karpenter measured metrics/claims_total a OK", "karpenter measured metrics/claims_total b Created"}},
		{"# TYPE claims_total counter\nclaims_total{nodepool=\"a\"} 200\nclaims_total{nodepool=\"b\"} 202\n",
			[]string{"karpenter measured metrics/claims_total b Accepted"}},
		{"# TYPE claims_total counter\nclaims_total{nodepool=\"a\"} 200\n" +
			"# TYPE took_seconds histogram\ntook_seconds_bucket{le=\"+Inf\"} 200\ntook_seconds_sum 404\ntook_seconds_count 200\n",
			[]string{"karpenter measured metrics/took_seconds_count  OK", "karpenter measured metrics/took_seconds_sum  Not Found",
				"karpenter unmeasured metrics/claims_total b Accepted"}},
		{"# TYPE pods gauge\npods NaN\n# TYPE claims_total counter\nclaims_total{nodepool=\"a\"} 200\n" +
			"# TYPE took_seconds summary\ntook_seconds_sum 404\ntook_seconds_count 200\n", nil},
	} {
		exposed, into.all = round.exposed, nil
		families, err := Read(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.record(families)
		if diff := cmp.Diff(round.want, into.all); diff != "" {
			t.Errorf("%s-want +got:\n%s", exposed, diff)
		}
	}
	exposed = "no metrics\n"
	if _, err := Read(t.Context(), server.URL); err == nil {
		t.Error("what is no metrics is read as such")
	}
	server.Close()
	if _, err := Read(t.Context(), server.URL); err == nil {
		t.Error("nothing answers, and it is read")
	}
}

// Metrics that change without end make the run inconclusive, and do not fill the history.
func TestRecordEnds(t *testing.T) {
	into := &kept{}
	r := recorder{into: into, actor: "karpenter", names: []string{"pods"}, events: mostEvents}
	for range 3 {
		r.event(history.Measured, series{name: "pods"})
	}
	if diff := cmp.Diff([]string{" unreadable /  "}, into.all); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
