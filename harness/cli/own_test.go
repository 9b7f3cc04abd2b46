package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/reports/page"
	"nodestorm/scenarios"
)

// ownCatalogue is a folder with what nodestorm new writes if no system is named.
func ownCatalogue(t *testing.T) (dir, feature, record string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "failures")
	if code, _, stderr := nodestorm(t, "new", "late-node", "--dir", dir); code != cli.AsExpected {
		t.Fatalf("status %d: %s", code, stderr)
	}
	return dir, filepath.Join(dir, "late-node.feature"), filepath.Join(dir, "late-node.yaml")
}

func change(t *testing.T, path, old, replacement string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	write(t, path, strings.Replace(string(text), old, replacement, 1), 0o600)
}

// What is wrong with a catalogue of one's own is reported with its place, a line each, and
// by all commands that load it.
func TestOwnCatalogueIsWrong(t *testing.T) {
	const minimal = "Feature: f\n  Scenario: s\n    Given a cluster\n    Then the pod \"a\" is Running within 1m\n"
	const fields = "feature: x.feature\nautoscaler: karpenter\n" // by which a record is known
	var bomb strings.Builder
	bomb.WriteString(fields + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	tests := []struct {
		name string
		do   func(dir, feature, record string)
		want []string // a line each
	}{
		{"two at once", func(_, feature, record string) {
			change(t, feature, "are Ready 2m30s", "are Ready 2m30")
			change(t, record, "title:", "titel:")
		}, []string{`late-node.feature:16: its step "Given machines that`, "late-node.yaml:3: title is missing", `late-node.yaml:4: unknown field "titel" (allowed: id, title,`}},
		{"invariants", func(dir, _, record string) {
			change(t, record, "\nsummary:", "\ninvariants: [{statement: s, never: {source: apo}}]\nsummary:")
			write(t, filepath.Join(dir, "invariants.yaml"), "invariants:\n- statement: s\n  hapens: {source: api}\n- statement: s\n  count: {source: api}\n  atLeast: 3\n  atMost: 2\n", 0o600)
		}, []string{
			`invariants.yaml:2: invariants[0]: it is about nothing`, `invariants.yaml:3: unknown field "invariants[0].hapens"`, "invariants.yaml:6: invariants[1]: atLeast: 3 is above atMost: 2",
			`late-node.yaml:18: invariants[0]: never: unknown source "apo"`,
		}},
		{"deep field", func(_, _, record string) { change(t, record, "count: 3", "count: 0") }, []string{"late-node.yaml:31: work: count: 0, want 1 or more"}},
		{"system", func(_, _, record string) { change(t, record, "system: karpenter", "system: gcp") }, []string{`late-node.yaml:5: system: unknown value "gcp" (allowed: hetzner,`}},
		{"feature elsewhere", func(_, _, record string) {
			change(t, record, "feature: late", "feature: ../late")
		}, []string{"late-node.yaml:7: feature: "}},
		{"no tag", func(_, feature, _ string) { change(t, feature, "@late-node", "@other") }, []string{"late-node.yaml:7: feature: 0 scenarios of"}},
		{"no Then", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), "Feature: f\n  Scenario: s\n    Given a cluster\n", 0o600)
		}, []string{`x.feature:2: the scenario "s" has no Then`}},
		{"Examples", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), "Feature: f\n  Scenario Outline: s\n    Given a clster\n    Then x <b>\n    Examples:\n      | a |\n      | 1 |\n      | 1 |\n"+
				"  Scenario Outline: none\n    Given a cluster\n    Then 1m from now, a pod has been scheduled since the start, and no eviction has been asked for\n", 0o600)
		}, []string{`x.feature:3: its step "Given a clster" matches nothing`, `x.feature:4: <b> is no column of the Examples in line 5, which have a`, `x.feature:4: its step "Then x <b>" matches nothing`, `x.feature:9: the outline "none" has no Examples`}},
		{"many rows", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), "Feature: f\n  Scenario Outline: s\n"+strings.Repeat("    Given a cluster\n", 100)+"    Examples:\n      | a |\n"+strings.Repeat("      | 1 |\n", 200), 0o600)
		}, []string{"x.feature: its scenarios have 20000 steps, more than 10000"}},
		{"a record of many rows", func(_, feature, _ string) {
			change(t, feature, "Scenario:", "Scenario Outline:")
			text, _ := os.ReadFile(feature)
			write(t, feature, strings.TrimRight(string(text), "\n")+"\n\n    Examples:\n      | a |\n      | 1 |\n      | 2 |\n", 0o600)
		}, []string{"late-node.yaml:7: feature: 2 scenarios of"}},
		{"two records of one ID", func(dir, _, record string) {
			text, _ := os.ReadFile(record)
			write(t, filepath.Join(dir, "z.yaml"), string(text), 0o600)
		}, []string{"z.yaml:3: late-node is the ID of "}},
		{"ID of a record that is built in", func(dir, feature, record string) {
			change(t, record, "id: late-node", "id: "+scenario)
			change(t, feature, "@late-node", "@"+scenario)
		}, []string{"late-node.feature:12: " + scenario + " is the ID of a record that is built in, see --no-builtin, too; give one of them another"}},
		{"10,000 steps", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), minimal+strings.Repeat("    And a cluster\n", 10_000), 0o600)
		}, []string{"x.feature: its scenarios have 10002 steps, more than 10000"}},
		{"malformed", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), "Feature: f\n  Scenario: s\n    Given a cluster\n    Gven more\n", 0o600)
		}, []string{"x.feature:4: malformed: (4:5): \"Gven\" begins no line of a feature: "}},
		{"a line that is too long", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), minimal+"    And these objects:\n      \"\"\"\n"+strings.Repeat("x", 70_000)+"\n      \"\"\"\n", 0o600)
		}, []string{"x.feature:7: malformed: (7:1): a line has more than 63 KiB"}},
		{"junk", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.feature"), strings.Repeat("\xff\x00", 20_000), 0o600)
		}, []string{"x.feature:1: malformed: "}},
		{"a fault that is none", func(_, feature, _ string) {
			change(t, feature, "And Karpenter", "And the first new simulated node is NotRedy, from 2m on\n    And Karpenter")
		}, []string{`late-node.feature:17: its step "Given the first new simulated node is NotRedy, from 2m on" matches nothing: did you mean "Given EVERY-NODE is NotReady WHEN"`}},
		{"two features of one ID", func(dir, feature, _ string) {
			for _, name := range []string{"a/x.feature", "b/x.feature", "c/x.feature"} {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), minimal, 0o600)
			}
		}, []string{"b/x.feature:2: x is the ID of ", "c/x.feature:2: x is the ID of "}},
		{"YAML bomb", func(dir, _, _ string) { write(t, filepath.Join(dir, "x.yaml"), bomb.String(), 0o600) }, []string{"x.yaml:1: yaml: document contains excessive aliasing"}},
		{"large", func(dir, _, _ string) {
			write(t, filepath.Join(dir, "x.yaml"), fields+strings.Repeat("# x\n", 300_000), 0o600)
		}, []string{"x.yaml: it has more than 1 MiB"}},
		{"link that leads out", func(dir, _, _ string) {
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "x.yaml")); err != nil {
				t.Fatal(err)
			}
		}, []string{"x.yaml: it is a link that leads out of the folder"}},
		{"pipe", func(dir, _, _ string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "x.feature"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"x.feature: it is a named pipe, and only files are read: write what comes out of it to one, and name that"}},
		{"kin", func(_, _, record string) { change(t, record, "summary:", "kin: [not-there]\nsummary:") }, []string{`late-node.yaml:18: kin[0]: unknown scenario "not-there"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			dir, feature, record := ownCatalogue(t)
			test.do(dir, feature, record)
			code, stdout, stderr := nodestorm(t, "lint", dir)
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			if code != cli.NotAsExpected || stderr != "" || len(lines) != len(test.want) {
				t.Fatalf("status %d, stdout %q, stderr %q; want status 1 and %d lines", code, stdout, stderr, len(test.want))
			}
			for i, want := range test.want {
				if line, below := strings.CutPrefix(lines[i], dir+"/"); !below || !strings.HasPrefix(line, want) {
					t.Errorf("line %q, want %q below %s", lines[i], want, dir)
				}
			}
			code, stdout, stderr = nodestorm(t, "run", "late-node", "--catalogue", dir, "--target", "karpenter@v1.6.4", "--out", b.out)
			its := func(want string) bool {
				return strings.HasPrefix(want, "late-node.") || strings.HasPrefix(want, "invariants.yaml")
			}
			if !slices.ContainsFunc(test.want, its) { // it stops nothing that is made of other files
				if !strings.HasPrefix(stderr, "nodestorm: warning: left out: "+lines[0]) || !strings.Contains(stderr, "this go builds nothing") {
					t.Errorf("run: stderr %q; want a warning with %q, and a build", stderr, lines[0])
				}
				return
			}
			if code != cli.Usage || stdout != "" || stderr != "nodestorm: "+strings.Join(lines, "\n")+"\n" {
				t.Errorf("run: status %d, stdout %q, stderr %q; want what lint says", code, stdout, stderr)
			}
			if _, err := os.Stat(b.goCalled); !errors.Is(err, os.ErrNotExist) {
				t.Error("a build was begun")
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		newBench(t).refuses(t, "it is not there; name a folder with features and records, or a feature", "list", "--catalogue", "/none")
	})
	t.Run("empty", func(t *testing.T) {
		dir := t.TempDir()
		newBench(t).refuses(t, dir+": it has no feature; make one with nodestorm new ID --dir "+dir, "list", "--catalogue", dir)
	})
	t.Run("new where one is", func(t *testing.T) {
		dir, feature, _ := ownCatalogue(t)
		newBench(t).refuses(t, feature+" is there already", "new", "late-node", "--dir", dir)
		newBench(t).refuses(t, `"Late" is no ID: want two or more words`, "new", "Late", "--dir", dir)
		newBench(t).refuses(t, `--system "gcp": want one of karpenter, instances, aws, hetzner, clusterapi, externalgrpc, cluster-api, bootstrap, kubespray`,
			"new", "a-failure", "--dir", dir, "--system", "gcp")
	})
	t.Run("verify without a record", func(t *testing.T) {
		b := newBench(t)
		dir, _, record := ownCatalogue(t)
		if err := os.Remove(record); err != nil {
			t.Fatal(err)
		}
		b.refuses(t, "late-node has no record, so nothing is expected of it on any target: nodestorm run late-node --target", "verify", "late-node", "--catalogue", dir, "--out", b.out)
	})
}

func TestOwnCatalogue(t *testing.T) {
	newBench(t)
	dir, feature, record := ownCatalogue(t)
	for _, path := range []string{feature, record} { // as an editor of Windows has them
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, "\ufeff"+strings.ReplaceAll(string(text), "\n", "\r\n"), 0o600)
	}
	ids := func(args ...string) (list []string) {
		t.Helper()
		code, stdout, stderr := nodestorm(t, append([]string{"list", "--json"}, args...)...)
		var entries []struct{ ID string }
		if err := json.Unmarshal([]byte(stdout), &entries); code != cli.AsExpected || err != nil {
			t.Fatalf("status %d, %v, %s", code, err, stderr)
		}
		for _, e := range entries {
			list = append(list, e.ID)
		}
		return list
	}
	builtin := len(ids())
	if n := len(ids("--catalogue", dir)); n != builtin+1 {
		t.Errorf("%d with the catalogue, %d without", n, builtin)
	}
	if list := ids("--catalogue", dir, "--no-builtin"); len(list) != 1 || list[0] != "late-node" {
		t.Errorf("without those built in: %v", list)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "other.feature"), "Feature: f\n  Scenario: s\n    Given a cluster\n    Then the pod \"a\" is Running within 1m\n", 0o600)
	t.Setenv("NODESTORM_CATALOGUE", dir+":"+other)
	if list := ids("--no-builtin"); len(list) != 2 || list[1] != "other" {
		t.Errorf("by the environment: %v", list)
	}
	if code, _, stderr := nodestorm(t, "run", feature, "--name", "nothing like it", "--target", "karpenter@v1.6.4"); code != cli.Usage || !strings.Contains(stderr, `no scenario of `+feature) {
		t.Errorf("status %d, %q", code, stderr)
	}
	for expression, want := range map[string]bool{"": true, "@a": true, "~@a": false, "@b": false, "@b,@a": true, "@a && @c": true, "@a && ~@c": false, "@a && ~@b": true, "@b or (@a and not @b)": true, "not @a or @b": false} {
		if got, err := replay.HasTags(expression, []string{"@a", "@c"}); got != want || err != nil {
			t.Errorf("%q: %t, %v", expression, got, err)
		}
	}
}

// The receiver of a bundle of a user's own failure has its feature and record, and judges
// and shows the run without any other catalogue.
func TestBundleOfOnesOwn(t *testing.T) {
	newBench(t)
	dir := aRun(t)
	change(t, filepath.Join(dir, run.File), `"id": "`+scenario+`"`, `"id": "late-node"`)
	reseal(t, dir)
	t.Chdir(t.TempDir())
	const archive, name = "nodestorm-late-node-karpenter@v1.6.4.tar.gz", "001-karpenter@v1.6.4"
	pack := func() {
		t.Helper()
		if code, stdout, stderr := nodestorm(t, "bundle", dir); code != cli.AsExpected || !strings.HasPrefix(stdout, archive+": 1 run, ") {
			t.Fatalf("status %d, %q, %q", code, stdout, stderr)
		}
	}
	for _, without := range []func(){
		func() {},
		func() { // what it leads to is no part of the run
			elsewhere, _, _ := ownCatalogue(t)
			if err := os.Symlink(elsewhere, filepath.Join(dir, run.ScenarioFolder)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		without()
		pack()
		if code, _, stderr := nodestorm(t, "recheck", archive); code != cli.Usage || !strings.HasPrefix(stderr, "nodestorm: "+archive+": "+name+`: unknown scenario "late-node"`) {
			t.Errorf("without its record: status %d, %q", code, stderr)
		}
	}
	if err := os.Remove(filepath.Join(dir, run.ScenarioFolder)); err != nil {
		t.Fatal(err)
	}
	nodestorm(t, "new", "late-node", "--dir", filepath.Join(dir, run.ScenarioFolder))
	change(t, filepath.Join(dir, run.ScenarioFolder, "late-node.feature"), "# A failure", `# "password": "a-very-secret-token"`)
	change(t, filepath.Join(dir, run.ScenarioFolder, "late-node.yaml"), "\nsymptom:", "\nkin: ["+scenario+"]\nsymptom:") // which is not kept with it
	pack()
	code, stdout, stderr := nodestorm(t, "recheck", archive, "--json")
	if rows := rowsOf(t, stdout); code != cli.AsExpected || len(rows) != 1 || rows[0].Verdict != "reproduced" || rows[0].Run != archive+": "+name {
		t.Errorf("recheck: status %d, %q, %q", code, stdout, stderr)
	}
	if _, stdout, stderr := nodestorm(t, "report", archive, "--format", "json"); !strings.Contains(stdout, "A Node that is not ready yet launches a second one") {
		t.Errorf("report: %q, %q", stdout, stderr)
	}
	for path, text := range unpacked(t, archive) {
		if strings.Contains(text, "a-very-secret-token") {
			t.Errorf("%s has the password", path)
		}
	}
}

// Logs that a run's folder leads to elsewhere are this machine's, and in no bundle nor page.
func TestBundleLeavesOtherLogsAlone(t *testing.T) {
	dir, elsewhere := aRun(t), t.TempDir()
	write(t, filepath.Join(elsewhere, "auth.log"), "private things\n", 0o600)
	logs := filepath.Join(dir, run.LogFolder)
	if err := os.RemoveAll(logs); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, logs); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if code, _, stderr := nodestorm(t, "bundle", dir, "--out-file", "it.tar.gz"); code != cli.AsExpected {
		t.Fatalf("status %d, %q", code, stderr)
	}
	for path, text := range unpacked(t, "it.tar.gz") {
		if strings.Contains(path, "auth") || strings.Contains(text, "private things") {
			t.Errorf("%s is in the bundle", path)
		}
	}
	found, done := page.Logs(t.Context(), logs, func(string) bool { return false })
	defer done()
	if len(found) != 0 {
		t.Errorf("the page has %v", found)
	}
}

// A folder may have any other YAML: none of it is taken for a record, and a record with a
// mistake is.
func TestLintLeavesOtherYAMLAlone(t *testing.T) {
	dir, _, record := ownCatalogue(t)
	for name, text := range map[string]string{
		"docker-compose.yaml": "version: '3'\nservices: {web: {image: nginx}}\n", "values.yaml": "title: x\nid: y\ntargets: []\n",
		"chart/templates/deployment.yaml": "{{- if .Values.web }}\nkind: {{ .Kind }}\n{{- end }}\n", "list.yml": "- hosts: all\n",
		"crds.yaml": strings.Repeat("# a large one\n", 100_000), "empty.yaml": "", "junk.yaml": "\x00\x01\xff", "object.yaml": "apiVersion: v1\nkind: Secret\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text, 0o600)
	}
	if code, stdout, stderr := nodestorm(t, "lint", dir); code != cli.AsExpected || stdout != "nothing is wrong with 1 scenario, 1 with a record; left alone: 8 other YAML files\n" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	write(t, record, "id: late-node\n", 0o600)
	if code, stdout, _ := nodestorm(t, "lint", dir); code != cli.NotAsExpected || !strings.Contains(stdout, "late-node.yaml:1: feature is missing") {
		t.Errorf("what has the name of a feature: status %d, %q", code, stdout)
	}
}

// Of a checkout lint looks at what is built in elsewhere.
func TestLintOfACheckout(t *testing.T) {
	if code, stdout, stderr := nodestorm(t, "lint", "../.."); code != cli.AsExpected || !strings.HasPrefix(stdout, "nothing is wrong with ") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "scenarios"), os.DirFS("../../scenarios")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, "features"), os.DirFS("../../features")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module nodestorm\n", 0o600)
	change(t, filepath.Join(root, "features", "karpenter", "issue-7515-not-ready-noexecute.feature"), "Given a cluster", "Given a clutter")
	if code, stdout, stderr := nodestorm(t, "lint", root); code != cli.NotAsExpected || !strings.Contains(stdout, "features/karpenter/issue-7515-not-ready-noexecute.feature") || !strings.Contains(stdout, "a clutter") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
}

// A stray feature is named, and breaks nothing that has nothing to do with it.
func TestStrayFeature(t *testing.T) {
	b := newBench(t)
	stray := func(t *testing.T, dir string) string {
		write(t, filepath.Join(dir, "stray.feature"), "Feature: f\n  Scenario: s\n    Given a cluster\n    Gven more\n", 0o600)
		return "nodestorm: warning: left out: " + filepath.Join(dir, "stray.feature") + ":4: malformed: "
	}
	t.Run("own", func(t *testing.T) {
		dir, _, _ := ownCatalogue(t)
		warning := stray(t, dir)
		t.Setenv("NODESTORM_CATALOGUE", dir)
		code, stdout, stderr := nodestorm(t, "list")
		if code != cli.AsExpected || !strings.Contains(stdout, scenario) || !strings.Contains(stdout, "late-node ") || !strings.HasPrefix(stderr, warning) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("list: status %d, %q", code, stderr)
		}
		if code, stdout, stderr := nodestorm(t, "__complete", "verify", "karp"); code != cli.AsExpected || !strings.Contains(stdout, scenario) || strings.Contains(stderr, "stray") {
			t.Errorf("completion: status %d, %q", code, stderr)
		}
		_, _, stderr = nodestorm(t, "verify", scenario, "--out", b.out)
		if !strings.HasPrefix(stderr, warning) || !strings.Contains(stderr, "this go builds nothing") {
			t.Errorf("verify of another: %q", stderr)
		}
		if _, _, stderr := nodestorm(t, "verify", "--tags", "@"+scenario, "--out", b.out); !strings.HasPrefix(stderr, warning) || !strings.Contains(stderr, "this go builds nothing") {
			t.Errorf("verify by tags: %q", stderr)
		}
		if _, _, stderr := nodestorm(t, "verify", "late-node", "--out", b.out); !strings.HasPrefix(stderr, warning) || !strings.Contains(stderr, "this go builds nothing") {
			t.Errorf("verify of its neighbour: %q", stderr)
		}
		feature := filepath.Join(dir, "late-node.feature")
		for _, wrong := range []string{feature, filepath.Join(dir, "late-node.yaml"), filepath.Join(dir, "invariants.yaml")} {
			whole, _ := os.ReadFile(wrong) // there may be none
			write(t, wrong, string(whole)+"\n    Gven more: [\n", 0o600)
			for _, named := range []string{"late-node", feature} {
				code, _, stderr := nodestorm(t, "run", named, "--target", "karpenter@v1.7.0", "--out", b.out)
				if code != cli.Usage || strings.Contains(stderr, "warning") || !strings.Contains(stderr, wrong+":") {
					t.Errorf("run %s with a wrong %s: status %d, %q", named, wrong, code, stderr)
				}
			}
			if write(t, wrong, string(whole), 0o600); len(whole) == 0 {
				if err := os.Remove(wrong); err != nil {
					t.Error(err)
				}
			}
		}
	})
	t.Run("checkout", func(t *testing.T) {
		root := t.TempDir()
		for _, folder := range []string{"scenarios", "features"} {
			if err := os.CopyFS(filepath.Join(root, folder), os.DirFS("../../"+folder)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(root, "go.mod"), "module nodestorm\n", 0o600)
		warning := stray(t, filepath.Join(root, "features", "karpenter"))
		code, stdout, stderr := nodestorm(t, "list", "--catalogue", root, "--tags", "@"+scenario)
		if code != cli.AsExpected || !strings.Contains(stdout, scenario) || !strings.HasPrefix(stderr, warning) {
			t.Errorf("status %d, %q, %q", code, stdout, stderr)
		}
		if code, stdout, _ := nodestorm(t, "lint", root); code != cli.NotAsExpected || !strings.Contains(stdout, "stray.feature:4: malformed") {
			t.Errorf("lint: status %d, %q", code, stdout)
		}
	})
}

// What new writes lints for each system, also with all that it has as a comment, and is
// the failure of a record that is built in, which has been shown.
func TestNew(t *testing.T) {
	newBench(t)
	comment := regexp.MustCompile(`(?m)^# (issue|fix|affected|fixed|invariants|  .*)(:|$)`)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ system, feature, of string }{
		{"karpenter", "", ""}, // a shorter record than the one that is built in: TestBinaryAlone plays it
		{"aws", "issue-9054-full-subnet.feature", "aws-9054-full-subnet"},
		{"hetzner", "issue-3838-server-off.feature", "hetzner-3838-server-off"},
		{"clusterapi", "issue-9360-external.feature", "clusterapi-9360-bought-twice"},
	} {
		t.Run(test.system, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "failures")
			feature, record := filepath.Join(dir, "my-failure.feature"), filepath.Join(dir, "my-failure.yaml")
			if code, stdout, stderr := nodestorm(t, "new", "my-failure", "--system", test.system, "--dir", dir); code != cli.AsExpected || stdout != feature+"\n"+record+"\n" {
				t.Fatalf("status %d, %q, %q", code, stdout, stderr)
			}
			lints := func() {
				t.Helper()
				if code, stdout, stderr := nodestorm(t, "lint", dir); code != cli.AsExpected || stdout != "nothing is wrong with 1 scenario, 1 with a record\n" {
					t.Errorf("status %d, %q, %q", code, stdout, stderr)
				}
			}
			lints()
			own := replay.ReadFolder(dir).Scenarios[0]
			if own.Record.System != test.system {
				t.Errorf("the system is %q", own.Record.System)
			}
			text, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			fields, twins, _ := strings.Cut(string(text), "\n# twins:") // which want a scenario of their own
			all := comment.ReplaceAllString(fields, "$1$2") + "\n" + twins
			if !strings.Contains(all, "\nissue: ") || !strings.Contains(all, "\nfixed: ") || !strings.Contains(all, "\ninvariants:\n  - statement: ") {
				t.Fatalf("comments were left:\n%s", all)
			}
			write(t, record, all, 0o600)
			lints()
			if test.of == "" {
				return
			}
			r, err := catalogue.Lookup(test.of)
			if err != nil {
				t.Fatal(err)
			}
			builtin := replay.ReadFolder(filepath.Join("../../features", test.system, test.feature)).Scenarios[0]
			if got, want := said(own), said(builtin); !slices.Equal(got, want) {
				t.Errorf("steps %q, want %q", got, want)
			}
			if !reflect.DeepEqual(own.Record.Trigger, r.Trigger) || !reflect.DeepEqual(own.Record.Symptom, r.Symptom) || !reflect.DeepEqual(own.Record.Work, r.Work) {
				t.Errorf("trigger, symptom or work is not that of %s", test.of)
			}
			for _, target := range own.Record.Targets {
				if want := r.Expected(target.Name); target.Expected != want {
					t.Errorf("%s is expected %s, and %s by %s", target.Name, target.Expected, want, test.of)
				}
			}
		})
	}
}

// A control case is a pair that lint finds nothing in, and that expects no build to show the failure.
func TestNewControl(t *testing.T) {
	newBench(t)
	dir := t.TempDir()
	if code, _, stderr := nodestorm(t, "new", "stays-undisturbed", "--control", "--dir", dir); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	if code, stdout, stderr := nodestorm(t, "lint", dir); code != cli.AsExpected || stdout != "nothing is wrong with 1 scenario, 1 with a record\n" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	r := replay.ReadFolder(dir).Scenarios[0].Record
	if !r.Control() || r.Expected("karpenter@v1.6.4") != scenarios.Healthy {
		t.Errorf("a control: %t, expected %q", r.Control(), r.Expected("karpenter@v1.6.4"))
	}
	if code, _, stderr := nodestorm(t, "new", "another-rule", "--control", "--system", "hetzner", "--dir", dir); code != cli.Usage || !strings.Contains(stderr, "--control is about karpenter") {
		t.Errorf("status %d, %q", code, stderr)
	}
}

// A night of a user's own scenarios takes their files along.
func TestManifestOfACatalogue(t *testing.T) {
	newBench(t)
	dir := t.TempDir()
	if code, _, stderr := nodestorm(t, "new", "stays-undisturbed", "--control", "--dir", dir); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	code, stdout, stderr := nodestorm(t, "nightly", "manifest", "stays-undisturbed", "--catalogue", dir, "--image", "x/y:v1")
	if code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d, %s", code, stderr)
	}
	for _, want := range []string{"kind: ConfigMap", "mountPath: /catalogue/stays-undisturbed.feature", "mountPath: /catalogue/stays-undisturbed.yaml", "karpenter.sh/do-not-disrupt", "- --catalogue\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in the manifest:\n%s", want, stdout)
		}
	}
	if _, stdout, _ := nodestorm(t, "nightly", "manifest", "--tags", "@karpenter", "--image", "x/y:v1"); strings.Contains(stdout, "ConfigMap") {
		t.Error("a night of the built-in catalogue has files")
	}
}

// said is what the steps of a scenario say.
func said(s scenarios.Scenario) (all []string) {
	for _, step := range s.Steps {
		all = append(all, string(step.Type)+" "+step.Text)
	}
	return all
}

// A user who has only the program, and builds in the store, writes a failure, plays it
// and shows it, in an empty folder. The test is the program: it is linked of the same packages.
func TestBinaryAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays a failure; run without -short")
	}
	buildstest.Get(t, builds.Kubernetes)
	buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.6.4"})
	ctx, cancel := context.WithTimeout(t.Context(), 180*time.Second)
	defer cancel()
	dir := t.TempDir()
	nodestorm := func(status int, want string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), asCommand+"=1", buildstore.EnvRoot+"=", "NODESTORM_CATALOGUE=", "KUBEBUILDER_ASSETS=")
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != status || !strings.Contains(string(out), want) {
			t.Fatalf("nodestorm %s: status %d (%v), want %d and %q:\n%s", strings.Join(args, " "), code, err, status, want, out)
		}
	}
	nodestorm(0, scenario, "list")
	nodestorm(0, "failures/late-node.yaml", "new", "late-node", "--dir", "failures")
	nodestorm(0, "nothing is wrong with 1 scenario", "lint", "failures")
	nodestorm(0, "reproduced", "run", "late-node", "--catalogue", "failures", "--target", "karpenter@v1.6.4")
	nodestorm(0, "1 replay: 1 as expected", "recheck", "reports/out", "--catalogue", "failures")
	nodestorm(0, "reports/out/late-node/karpenter@v1.6.4/report.html", "report", "reports/out", "--catalogue", "failures")
	// The receiver of the archive has neither the folder nor the run.
	const archive = "nodestorm-late-node-karpenter@v1.6.4.tar.gz"
	nodestorm(0, archive+": 1 run", "bundle", "reports/out")
	mine := dir
	dir = t.TempDir()
	if err := os.Rename(filepath.Join(mine, archive), filepath.Join(dir, archive)); err != nil {
		t.Fatal(err)
	}
	nodestorm(0, "1 replay: 1 as expected", "recheck", archive)
	nodestorm(0, "A Node that is not ready yet launches a second one", "report", "--format", "json", archive)
	unpack(t, filepath.Join(dir, archive), dir)
	nodestorm(0, "nothing is wrong with 1 scenario", "lint", "nodestorm-late-node-karpenter@v1.6.4/001-karpenter@v1.6.4/scenario")
	dir = mine
	if _, err := os.Stat(filepath.Join(dir, "reports/out/index.html")); err != nil {
		t.Error(err)
	}
	// A control case is healthy; without the annotation that it is about, it is broken.
	nodestorm(0, "rules/pod-stays.yaml", "new", "pod-stays", "--control", "--dir", "rules")
	nodestorm(0, "1 replay: 1 as expected", "verify", "pod-stays", "--catalogue", "rules")
	rule := filepath.Join(dir, "rules", "pod-stays.feature")
	text, err := os.ReadFile(rule)
	if err != nil {
		t.Fatal(err)
	}
	write(t, rule, strings.Replace(string(text), `, annotations: {karpenter.sh/do-not-disrupt: "true"}`, "", 1), 0o600)
	nodestorm(1, "1 regression", "verify", "pod-stays", "--catalogue", "rules")
	// The same feature without its record.
	if err := os.Remove(filepath.Join(dir, "failures", "late-node.yaml")); err != nil {
		t.Fatal(err)
	}
	nodestorm(1, "the scenario has no record, so nothing documented was looked for", "run", "failures/late-node.feature", "--target", "karpenter@v1.6.4", "--out", "bare")
	nodestorm(1, "failed", "recheck", "bare")
	// What is drafted of a user's audit log runs as it is.
	audit, err := os.ReadFile(drafts + "audit.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "audit.log"), string(audit), 0o600)
	nodestorm(0, "1 pod, 1 node, 1 NodePool", "draft", "--audit-log", "audit.log", "--out-file", "draft.feature")
	nodestorm(0, "healthy", "run", "draft.feature", "--target", "karpenter@v1.6.4", "--out", "drafted")
}

// A feature of the checkout that the program was built of is no other one.
func TestOwnIsBuiltIn(t *testing.T) {
	newBench(t)
	code, stdout, stderr := nodestorm(t, "lint", "../../features/workloads/own-metrics.feature")
	if code != cli.AsExpected || stderr != "" || !strings.HasPrefix(stdout, "nothing is wrong with 2 scenarios") {
		t.Errorf("status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
