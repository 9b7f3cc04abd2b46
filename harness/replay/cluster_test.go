package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/world"
	"nodestorm/sim/time/clock"
)

// What kind cannot do is said before anything starts.
func TestCheckCluster(t *testing.T) {
	feature := filepath.Join(t.TempDir(), "programs.feature")
	if err := os.WriteFile(feature, []byte("Feature: f\n  Scenario: s\n    Given a cluster\n    When the program \"kube-scheduler\" is killed\n    Then \"kube-scheduler\" never sends \"create\" of \"pods/binding\" within 1m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if err := catalogue.Add(ReadFolder(feature).Own); err != nil {
		t.Fatal(err)
	}
	found := catalogue.InFile(feature)
	if len(found) != 1 {
		t.Fatalf("%s has %d scenarios", feature, len(found))
	}
	for _, test := range []struct {
		name   string
		change func(*Request)
		want   string
	}{
		{"simulated", func(r *Request) { r.Cluster = Simulated }, ""},
		{"virtual time", func(r *Request) { r.World.Clock = clock.Auto }, "real time only"},
		{"another control plane", func(r *Request) { r.ControlPlane.Folder = "k8s" }, "leave out --kubernetes"},
		{"machines beside a simulated one", func(r *Request) { r.Cluster, r.Machines = Simulated, Containers }, "want --cluster kind"},
		{"machines without a cloud", func(r *Request) { r.Machines = Containers }, "the scenario has no cloud with instances"},
		{"its programs", func(*Request) {}, "kube-scheduler is in a container of kind's"},
	} {
		r := Request{Record: found[0].Record, Features: catalogue.Features(), Settings: Settings{Cluster: Kind, World: world.Config{Clock: clock.Real}}}
		test.change(&r)
		err := r.CheckCluster()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// Steps whose machines cannot be containers are reported before anything starts.
func TestCheckMachines(t *testing.T) {
	for step, want := range map[string]string{
		"": "",
		"a node agent \"cni\" that taints its Node with \"a=b:NoSchedule\" from 1s to 1m after registration": "of simulated machines only",
		"the first new simulated node registers without its taints":                                          "of simulated machines only",
		"every new simulated node is NotReady for half of every 1m":                                          "of simulated machines only",
		"the first new simulated node never registers":                                                       "",
		"every new simulated node stops sending heartbeats, from 30s on":                                     "",
	} {
		feature := filepath.Join(t.TempDir(), "machines.feature")
		text := "Feature: f\n  Scenario: s\n    Given a cluster\n    And a Hetzner Cloud project\n"
		if step != "" {
			text += "    And " + step + "\n"
		}
		if err := os.WriteFile(feature, []byte(text+"    Then the Node \"a\" is Ready within 1m\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		catalogue, err := features.Catalogue()
		if err != nil {
			t.Fatal(err)
		}
		if err := catalogue.Add(ReadFolder(feature).Own); err != nil {
			t.Fatal(err)
		}
		r := Request{Record: catalogue.InFile(feature)[0].Record, Features: catalogue.Features(), Settings: Settings{Cluster: Kind, Machines: Containers, World: world.Config{Clock: clock.Real}}}
		if err := r.CheckCluster(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}
