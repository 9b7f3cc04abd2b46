package measure

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"nodestorm/sim/history"
)

// said is what Karpenter's own log says of a run.
type said struct{ launched, registered map[string]bool }

func (s said) take(r history.Entry) {
	claim := r.Detail.Mapping("NodeClaim").Text("name")
	switch {
	case r.Source != history.Logged || r.Actor != "karpenter":
	case r.Detail.Text("message") == "launched nodeclaim":
		s.launched[claim] = true
	case r.Detail.Text("message") == "registered nodeclaim":
		s.registered[claim] = true
	}
}

// Measures of stored runs are consistent, and agree with the cloud's own truth and with what Karpenter's log says.
func TestStoredRuns(t *testing.T) {
	dir := os.Getenv("NODESTORM_RUNS")
	if dir == "" {
		t.Skip("NODESTORM_RUNS names no folder of stored runs")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "history.ndjson" {
			return err
		}
		n++
		t.Run(filepath.Dir(path)[len(dir):], func(t *testing.T) { storedRun(t, path) })
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d runs, %v", n, err)
	}
}

func storedRun(t *testing.T, path string) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := NewMeter()
	log := said{map[string]bool{}, map[string]bool{}}
	created := map[string]bool{}
	ended := history.Scan(file, func(r history.Entry) {
		m.Add(r)
		log.take(r)
		if r.Source == history.Cloud && r.Object.Resource == "instances" && r.Code == 0 && (r.Verb == "created" || r.Verb == "failed") {
			created[r.Object.Name] = r.Verb == "created"
		}
	})
	if len(ended) > 0 {
		t.Skip(ended)
	}
	v := m.ValuesAt(m.Last())
	for name, value := range v {
		sum := 0.0
		for _, part := range value.By {
			sum += part
		}
		of, _ := Find(name)
		if value.Value < 0 || of.Unit == Ratio && value.Value > 1.5 {
			t.Errorf("%s is %+v", name, value)
		}
		if adds := of.Unit == Count || name == Cost || name == NodeHours || name == PodWaitTotal; adds && len(value.By) > 0 &&
			(sum-value.Value > 1e-6 || value.Value-sum > 1e-6) {
			t.Errorf("%s is %g, and its parts are %g", name, value.Value, sum)
		}
	}
	waits := []string{PodWaitP50, PodWaitP95, PodWaitP99, PodWaitMax, PodWaitTotal}
	for i := 1; i < len(waits); i++ {
		if v[waits[i-1]].Value > v[waits[i]].Value {
			t.Errorf("%s %g is above %s %g", waits[i-1], v[waits[i-1]].Value, waits[i], v[waits[i]].Value)
		}
	}
	if v[FirstPodBound].Value > v[LastPodBound].Value || v[NodesRemoved].Value > v[NodesLaunched].Value {
		t.Errorf("pods: %+v, %+v; nodes: %+v, %+v", v[FirstPodBound], v[LastPodBound], v[NodesLaunched], v[NodesRemoved])
	}
	launched := int(v[NodesLaunched].Value)
	truth := 0
	for _, is := range created {
		if is {
			truth++
		}
	}
	if len(created) > 0 && launched != truth {
		t.Errorf("%d nodes launched, and the cloud created %d instances", launched, truth)
	}
	// What was launched and never became a Node is no machine where the provider is kwok, which makes Nodes.
	if len(log.launched) > 0 && (launched < len(log.registered) || launched > len(log.launched)) {
		t.Errorf("%d nodes launched; Karpenter's log has launched %d, and registered %d", launched, len(log.launched), len(log.registered))
	}
	if v[NodesLaunched].Value > 0 && v[NodeHours].Value <= 0 {
		t.Errorf("nodes were launched, and there are %+v node-hours", v[NodeHours])
	}
	t.Log(v.Lines())
}
