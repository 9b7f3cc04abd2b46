package clusterautoscaler

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world/container"
)

// What stands before the first flag is how a container starts, by the rules of Kubernetes; of a
// process it is the program itself.
func TestCommandOf(t *testing.T) {
	for name, of := range map[string]struct {
		m           manifest.Container
		asContainer bool
		want        container.Settings
		flags, err  string
	}{
		"program": {m: manifest.Container{Command: []string{"./cluster-autoscaler", "--v=4"}, Args: []string{"--nodes=1:2:a"}}, want: container.Settings{Arguments: true}, flags: "--v=4 --nodes=1:2:a"},
		"shell":   {m: manifest.Container{Command: []string{"/bin/sh"}}, err: "want the program itself"},
		"a wrapper and a limit": {
			m:           manifest.Container{Command: []string{"/tini", "--", "/cluster-autoscaler", "--v=4"}, Args: []string{"--nodes=1:2:a"}, Memory: 64 << 20},
			asContainer: true, want: container.Settings{Command: []string{"/tini", "--", "/cluster-autoscaler"}, Arguments: true, Memory: 64 << 20}, flags: "--v=4 --nodes=1:2:a",
		},
		"command and args": {
			m:           manifest.Container{Command: []string{"/entry"}, Args: []string{"run", "--v=4"}},
			asContainer: true, want: container.Settings{Command: []string{"/entry", "run"}, Arguments: true}, flags: "--v=4",
		},
		"args": {
			m:           manifest.Container{Args: []string{"run", "--v=4"}},
			asContainer: true, want: container.Settings{Args: []string{"run"}, Arguments: true}, flags: "--v=4",
		},
		"nothing":   {asContainer: true},
		"no flags":  {m: manifest.Container{Command: []string{"/entry"}}, asContainer: true, want: container.Settings{Command: []string{"/entry"}}},
		"a script":  {m: manifest.Container{Command: []string{"/bin/sh", "-c", "exec /cluster-autoscaler --v=4"}}, asContainer: true, err: "leaves no place for flags"},
		"a pid one": {m: manifest.Container{Command: []string{"/tini", "--"}, Args: []string{"/cluster-autoscaler"}}, asContainer: true, want: container.Settings{Command: []string{"/tini", "--", "/cluster-autoscaler"}, Arguments: true}},
	} {
		got, given, err := commandOf(&of.m, of.asContainer)
		if of.err != "" {
			if err == nil || !strings.Contains(err.Error(), of.err) {
				t.Errorf("%s: %v, want %q", name, err, of.err)
			}
			continue
		}
		if err != nil || strings.Join(given.args(), " ") != of.flags || got.Memory != of.want.Memory || got.Arguments != of.want.Arguments ||
			!slices.Equal(got.Command, of.want.Command) || !slices.Equal(got.Args, of.want.Args) {
			t.Errorf("%s: %+v, %q, %v; want %+v, %q", name, got, given.args(), err, of.want, of.flags)
		}
	}
}
