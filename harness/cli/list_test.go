package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"nodestorm/features"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/output/outputtest"
	"nodestorm/harness/night/shard"
	"nodestorm/scenarios"
)

// said runs the command as a process of its own would.
func said(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// onTerminal is what a command writes on a terminal of so many columns.
func onTerminal(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	screen, tty := outputtest.Terminal(t, columns)
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // a terminal that no process has open any more is an error
		shown <- string(text)
	}()
	var stderr bytes.Buffer
	if code := Run(t.Context(), args, tty, &stderr); code != AsExpected {
		t.Fatalf("status %d, %s", code, stderr.String())
	}
	tty.Close()
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// No line of the list wraps on a terminal, and each begins with an ID; elsewhere it has 80 columns, and whole titles with
// -o wide.
func TestListFits(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []uint16{80, 120, 200} {
		lines := strings.Split(strings.TrimSuffix(onTerminal(t, columns, "list"), "\n"), "\n")
		if len(lines) != len(catalogue.Records())+1 {
			t.Fatalf("%d lines of %d records on %d columns", len(lines), len(catalogue.Records()), columns)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n >= int(columns) {
				t.Errorf("%d characters on %d columns: %s", n, columns, line)
			}
		}
		for i, r := range catalogue.Records() {
			if !strings.HasPrefix(lines[i+1], r.ID+" ") {
				t.Errorf("%q, want %s", lines[i+1], r.ID)
			}
		}
	}
	if _, piped, _ := said(t, "list"); piped != onTerminal(t, 80, "list") {
		t.Errorf("without a terminal it is\n%s", piped)
	}
	_, wide, _ := said(t, "list", "-o", "wide")
	for _, r := range catalogue.Records() {
		if !strings.Contains(wide, r.Title+"\n") {
			t.Errorf("not whole: %s", r.Title)
		}
	}
	if r := catalogue.Records()[0]; !strings.Contains(onTerminal(t, 120, "list"), r.Autoscaler) {
		t.Error("the names of targets are not there")
	}
}

// The forms of the list agree, and words and tags choose the same in all.
func TestListForms(t *testing.T) {
	_, text, _ := said(t, "list", "--json", "7515", "karpenter")
	var entries, same []scenarios.Entry
	if err := json.Unmarshal([]byte(text), &entries); err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if _, other, _ := said(t, "list", "-o", "json", "7515", "karpenter"); other != text {
		t.Errorf("-o json is not --json: %s", other)
	}
	_, text, _ = said(t, "list", "-o", "yaml", "7515", "karpenter")
	if err := yaml.Unmarshal([]byte(text), &same); err != nil || len(same) != len(entries) || same[0].Summary != entries[0].Summary {
		t.Errorf("%d in YAML, %v", len(same), err)
	}
	var want string
	for _, e := range entries {
		want += e.ID + "\n"
	}
	if _, names, _ := said(t, "list", "-o", "name", "7515", "karpenter"); names != want {
		t.Errorf("names %q, want %q", names, want)
	}
	if _, names, _ := said(t, "list", "-o", "name", "--tags", "@issue-7515", "karpenter"); names != want {
		t.Errorf("names with the tag %q, want %q", names, want)
	}
	if _, wide, _ := said(t, "list", "-o", "wide", "noexecute"); !strings.Contains(wide, "aws/karpenter-provider-aws#7515") || !strings.Contains(wide, entries[0].Feature) {
		t.Errorf("wide: %s", wide)
	}
	for args, problem := range map[string]string{
		"list|no-such-word":            "no failure has the words no-such-word; nodestorm list shows all",
		"list|--tags|@issue-751":       `no scenario has these tags, did you mean "@issue-7515"?`,
		"list|--tags|@none":            `tags "@none": no scenario has these tags`,
		"list|-o|xml":                  `"xml": want json, yaml, wide, name`,
		"list|--json|-o|yaml":          "--json and --output exclude each other",
		"list|--invariants|-o|name":    "-o name: this has no names",
		"list|-q|-v":                   "--quiet and --verbose exclude each other",
		"verify|--clocks|x|-o|matrixx": "want json, yaml, wide, name",
	} {
		if code, out, stderr := said(t, strings.Split(args, "|")...); code != Usage || out != "" || !strings.Contains(stderr, problem) {
			t.Errorf("%s: status %d, %q, want %q", args, code, stderr, problem)
		}
	}
}

// The list of a shard has as many replays as verify plays, or skips, of the same.
func TestListShardIsWhatVerifyPlays(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	t.Setenv(buildstore.EnvMirror, buildstore.NoRegistry)
	_, names, _ := said(t, "list", "-o", "name", "taint")
	for _, of := range []struct{ list, verify []string }{
		{nil, []string{"--all"}},
		{[]string{"--tags", "@karpenter"}, []string{"--tags", "@karpenter"}},
		{[]string{"taint"}, strings.Fields(names)},
	} {
		_, listed, stderr := said(t, append([]string{"list", "--shard", "1/2", "--json"}, of.list...)...)
		var jobs []shard.Job
		if err := json.Unmarshal([]byte(listed), &jobs); err != nil {
			t.Fatalf("%v: %v, %s", of.list, err, stderr)
		}
		args := append([]string{"verify", "--shard", "1/2", "--dry-run", "--json", "--out", t.TempDir()}, of.verify...)
		_, planned, stderr := said(t, args...)
		var plan struct{ Replays, Skipped int }
		if err := json.Unmarshal([]byte(planned), &plan); err != nil {
			t.Fatalf("%v: %v, %s", args, err, stderr)
		}
		if plan.Replays+plan.Skipped != len(jobs) || len(jobs) == 0 {
			t.Errorf("%v: %d are listed, and verify has %+v", of.list, len(jobs), plan)
		}
	}
}

// Controls are called so, and nothing else is.
func TestListControls(t *testing.T) {
	_, text, _ := said(t, "list", "--json")
	var entries []scenarios.Entry
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		t.Fatal(err)
	}
	_, controls, _ := said(t, "list", "none: a control")
	for _, e := range entries {
		shown := false
		for _, target := range e.Targets {
			shown = shown || target.Expected == scenarios.Reproduced
		}
		control := !shown && e.Affected == scenarios.None
		if listed := strings.Contains(controls, e.ID+" "); e.Control != control || listed != control {
			t.Errorf("%s: a control %t, listed as one %t, want %t", e.ID, e.Control, listed, control)
		}
	}
}

func TestVersion(t *testing.T) {
	_, text, _ := said(t, "version")
	for _, want := range []string{"nodestorm  ", "commit  ", "go  ", "kubernetes  v1."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	var v versions
	if _, text, _ := said(t, "version", "-o", "json"); json.Unmarshal([]byte(text), &v) != nil || v.Go == "" || v.Kubernetes == "" || v.Commit == "" {
		t.Errorf("%s", text)
	}
}
