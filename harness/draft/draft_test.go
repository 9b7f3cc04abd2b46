package draft_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/draft"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t *testing.T, sources ...draft.Source) (draft.Draft, error) {
	t.Helper()
	c, err := draft.Read(t.Context(), sources, func(string) {})
	if err != nil {
		return draft.Draft{}, err
	}
	return draft.Write(c, ""), nil
}

// lints finds what nodestorm lint would.
func lints(t *testing.T, feature string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "draft.feature")
	if err := os.WriteFile(file, []byte(feature), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := scenarios.Empty().Add(replay.ReadFolder(file).Own); err != nil {
		t.Error(err)
	}
}

// What people paste, cut off, mixed and quoted, and what worlds of our own leave.
func TestDrafts(t *testing.T) {
	for name, sources := range map[string][]draft.Source{
		"pasted":      {{Kind: draft.Log, Path: "pasted.log"}},
		"stern":       {{Kind: draft.Log, Path: "stern.log"}},
		"table":       {{Kind: draft.Events, Path: "events.txt"}},
		"events":      {{Kind: draft.Events, Path: "events.yaml"}},
		"audit":       {{Kind: draft.AuditLog, Path: "audit.ndjson"}},
		"dump":        {{Kind: draft.Dump, Path: "dump"}},
		"must-gather": {{Kind: draft.Dump, Path: "must-gather"}},
		"combined":    {{Kind: draft.Dump, Path: "dump"}, {Kind: draft.Events, Path: "events.txt"}, {Kind: draft.Log, Path: "pasted.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range sources {
				sources[i].Path = filepath.Join("testdata", sources[i].Path)
			}
			d, err := read(t, sources...)
			if err != nil {
				t.Fatal(err)
			}
			lints(t, d.Feature)
			for _, secret := range []string{"hunter2", "aHVudGVyMmh1", "eyJhbGci", "pa55w0rd"} {
				if strings.Contains(d.Feature, secret) || strings.Contains(fmt.Sprint(d.Notes), secret) {
					t.Errorf("the draft has the secret %s", secret)
				}
			}
			golden := filepath.Join("testdata", name+".feature")
			if *update {
				if err := os.WriteFile(golden, []byte(d.Feature), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), d.Feature); diff != "" {
				t.Errorf("-want +got (go test -update writes it):\n%s", diff)
			}
		})
	}
}

// A source that cannot be read is reported in a line, with the place and the way out.
func TestSourceIsWrong(t *testing.T) {
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	var bomb strings.Builder
	bomb.WriteString("apiVersion: v1\nkind: Node\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	for _, test := range []struct {
		name string
		kind draft.Kind
		make func(path string) error
		want string
	}{
		{"nothing there", draft.Log, func(string) error { return nil }, "no such file or directory; name a file that can be read"},
		{"empty", draft.Log, write(""), "is empty"},
		{"a folder as a log", draft.Log, func(path string) error { return os.Mkdir(path, 0o700) }, "is a folder; --dump takes folders"},
		{"a folder of something else", draft.Dump, func(path string) error { return os.Mkdir(path, 0o700) }, "none of its 0 files has nodes"},
		{"a pipe", draft.Events, func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is a named pipe, and only files are read: write what comes out of it to one"},
		{"a program", draft.Log, write("\x7fELF\x02\x01\x01\x00\x00"), "is no text"},
		{"an essay", draft.Log, write("It all began\nwhen nothing scaled.\n"), "none of its 2 lines is of klog"},
		{"another's log", draft.Log, write("I0102 03:04:05.000000       1 server.go:1] \"Started\"\n"), "take the log of the autoscaler's own pod"},
		{"an essay as events", draft.Events, write("It all began\nwhen nothing scaled.\n"), "has no events; want what `kubectl get events -A` prints"},
		{"a log as an audit log", draft.AuditLog, write("I0102 03:04:05.000000       1 a.go:1] Pod a/b is unschedulable\n"), "no audit log: want an event of audit.k8s.io in JSON on each line"},
		{"half an event of an audit log", draft.AuditLog, write(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"cre`), ":1: not an audit event: "},
		{"a YAML bomb", draft.Dump, write(bomb.String()), "with what its aliases stand for"},
		{"objects of other kinds", draft.Dump, write(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}`), "has no nodes, pods or events; want a folder"},
		{"an archive", draft.Dump, write("\x1f\x8b not really"), "unpack it with gunzip"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "source")
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			_, err := read(t, draft.Source{Kind: test.kind, Path: path})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q and the path", err, test.want)
			}
		})
	}
}

// What is too large is read as far as it goes, and the draft says so.
func TestLargeSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.log")
	line := "I0102 03:04:05.000000       1 klogx.go:87] Pod default/web is unschedulable\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 5<<30); err != nil {
		t.Fatal(err)
	}
	d, err := read(t, draft.Source{Kind: draft.Log, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	lints(t, d.Feature)
	if text := fmt.Sprint(d.Notes); d.Pods != 1 || !strings.Contains(text, "larger than 256 MiB") || !strings.Contains(text, "lines are longer than") {
		t.Errorf("%d pods, notes %s", d.Pods, text)
	}
}

// Names, labels, messages and flags are anybody's: none of them gets out of its place.
func TestHostileNames(t *testing.T) {
	node := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","labels":{"a|b":"c","x":"\"\"\"","team":"é","node.kubernetes.io/instance-type":"m | 5\n"}},` +
		`"spec":{"taints":[{"key":"k|","effect":"NoSchedule"},{"key":"k","effect":"Nope"}]},"status":{"capacity":{"cpu":"100m","memory":"1Ki"}}}`
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nodeSelector":{"x\"\"\"":"\n  \"\"\"\n    When nothing \\"},` +
		`"containers":[{"args":["--nodes=1:2:a|b\n","--expander=x|y","--scan-interval=1s|\n"],"image":"cluster-autoscaler:v1.33.0","name":"a","resources":{}}]},` +
		`"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":"\u001b[31m\n    Then \"\"\""}]}}`
	path := filepath.Join(t.TempDir(), "dump.json")
	if err := os.WriteFile(path, []byte(node+"\n"+pod), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := read(t, draft.Source{Kind: draft.Dump, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	lints(t, d.Feature)
	if d.Nodes != 1 || d.Groups != 1 || d.Pods != 1 || strings.Contains(d.Feature, "\x1b") {
		t.Errorf("%d nodes, %d pods:\n%s", d.Nodes, d.Pods, d.Feature)
	}
}

// It ends when its context ends.
func TestReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := draft.Read(ctx, []draft.Source{{Kind: draft.Log, Path: "testdata/pasted.log"}}, func(string) {}); err == nil {
		t.Error("no error")
	}
}

// A flag at its default is not set in the draft, and is said to be left out, however its value is written.
func TestDefaultFlags(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "source")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pod := func(args string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"ca"},"spec":{"containers":[{"name":"ca","image":"cluster-autoscaler:v1.33.0",` +
			`"args":[` + args + `]}]}}`
	}
	log := func(flags string) string {
		return "I0102 03:04:05.000000       1 klogx.go:87] Pod default/web is unschedulable\n" +
			"I0102 03:04:05.000000       1 static_autoscaler.go:1] Starting main loop\n" + flags
	}
	const flagLine = "I0102 03:04:05.000000       1 flags.go:64] FLAG: --"
	for _, test := range []struct {
		name, text string
		kind       draft.Kind
		flags      int
		want       string
	}{
		{"given", pod(`"--scan-interval=10000ms","--scale-down-utilization-threshold=0.50","--max-nodes-total=5"`), draft.Dump, 1,
			"# Left out, as they were at their defaults: scale-down-utilization-threshold, scan-interval\n"},
		{"printed", log(flagLine + "scan-interval=\"10s\"\n" + flagLine + "max-nodes-total=\"5\"\n"), draft.Log, 1, "those that shape decisions and are not here were at their defaults"},
		{"all printed", log(flagLine + "scan-interval=\"10s\"\n"), draft.Log, 0, "those that shape decisions and are not here were at their defaults"},
		{"in no source", log(""), draft.Log, 0, "# Its flags are not in the sources.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := read(t, draft.Source{Kind: test.kind, Path: write(test.text)})
			if err != nil {
				t.Fatal(err)
			}
			lints(t, d.Feature)
			if d.Flags != test.flags || !strings.Contains(d.Feature, test.want) || strings.Contains(d.Feature, "| scan-interval") {
				t.Errorf("%d flags, want %d and %q in\n%s", d.Flags, test.flags, test.want, d.Feature)
			}
		})
	}
}

// What comes of a text of each release: nothing that it says is turned into something else without a word.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/corpus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var corpus []struct {
		Name  string     `json:"name"`
		Kind  draft.Kind `json:"kind"`
		Text  string     `json:"text"`
		Want  []string   `json:"want"`
		Never []string   `json:"never"`
	}
	if err := yaml.UnmarshalStrict(text, &corpus); err != nil {
		t.Fatal(err)
	}
	for _, one := range corpus {
		t.Run(one.Name, func(t *testing.T) {
			d, err := read(t, draft.Source{Kind: one.Kind, Path: "pasted", Text: one.Text})
			if err != nil {
				t.Fatal(err)
			}
			lints(t, d.Feature)
			for _, want := range one.Want {
				if !strings.Contains(d.Feature, want) {
					t.Errorf("it lacks %q", want)
				}
			}
			for _, never := range one.Never {
				if strings.Contains(d.Feature, never) {
					t.Errorf("it has %q", never)
				}
			}
			if t.Failed() {
				t.Log(d.Feature)
			}
		})
	}
}
