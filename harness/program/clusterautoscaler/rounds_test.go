package clusterautoscaler

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRounds(t *testing.T) {
	said := `# TYPE cluster_autoscaler_function_duration_seconds histogram
cluster_autoscaler_function_duration_seconds_bucket{function="scaleUp",le="+Inf"} 9
cluster_autoscaler_function_duration_seconds_sum{function="scaleUp"} 90
cluster_autoscaler_function_duration_seconds_count{function="scaleUp"} 9
cluster_autoscaler_function_duration_seconds_bucket{function="main",le="+Inf"} 4
cluster_autoscaler_function_duration_seconds_sum{function="main"} 6
cluster_autoscaler_function_duration_seconds_count{function="main"} 4
`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(said)) }))
	defer server.Close()
	now, err := readRounds(t.Context(), server.URL)
	if err != nil || now != (rounds{4, 6}) {
		t.Fatalf("%+v, %v: want 4 rounds of 6 s in all", now, err)
	}
	for _, test := range []struct {
		before rounds
		n      uint64
		each   float64
	}{
		{rounds{}, 4, 1.5},
		{rounds{2, 2}, 2, 2},
		{rounds{4, 6}, 0, 0},
		{rounds{9, 50}, 4, 1.5}, // it was killed
	} {
		if n, each := now.since(test.before); n != test.n || each != test.each {
			t.Errorf("since %+v there were %d rounds of %v s, want %d of %v", test.before, n, each, test.n, test.each)
		}
	}
	said = "no metrics\n"
	if _, err := readRounds(t.Context(), server.URL); err == nil {
		t.Error("what is no metrics is read as such")
	}
	said = "up 1\n"
	if none, err := readRounds(t.Context(), server.URL); err != nil || none != (rounds{}) {
		t.Errorf("without rounds there are %+v, %v", none, err)
	}
	server.Close()
	if _, err := readRounds(t.Context(), server.URL); err == nil {
		t.Error("nothing answers, and it has rounds")
	}
}
