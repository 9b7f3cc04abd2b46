package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"nodestorm/harness/builds/buildstore"
)

// TestVerifyAction runs the scripts of the action that others' workflows use, beside a program that notes how it is
// called in nodestorm's place.
func TestVerifyAction(t *testing.T) {
	root, err := buildstore.Root()
	if err != nil {
		t.Skip(err)
	}
	action := filepath.Join(root, ".github", "actions", "verify")
	checkAction(t, action)
	t.Run("source", func(t *testing.T) {
		said := runScript(t, action, "source.sh", "REF=", "REPOSITORY=none")
		if said.err != nil || !regexp.MustCompile(`^root=`+regexp.QuoteMeta(root)+"\nkey=[0-9a-f]{16}\n$").MatchString(said.output) {
			t.Errorf("%v, %s%q", said.err, said.stderr, said.output)
		}
	})
	for _, test := range []struct {
		name    string
		env     []string
		calls   []string // of nodestorm
		status  string   // output; empty for none
		summary string   // a part of it
	}{
		{"all", nil, []string{"verify --all --out runs", "report -o md runs"}, "0", "**As expected.**"},
		{"ids, tags and flags in quotes", []string{"IDS=one two", "TAGS=@karpenter and not @x", "ARGS=--repeat 5 --with 'a b'", "CATALOGUE=mine"},
			[]string{"verify one two --tags <@karpenter and not @x> --catalogue mine --out runs --repeat 5 --with <a b>", "report -o md --catalogue mine runs"}, "0", ""},
		{"nothing is expanded", []string{"IDS=$(touch /tmp/x) * `id`"}, []string{"verify $(touch /tmp/x) * `id` --out runs", "report -o md runs"}, "0", ""},
		{"a target", []string{"TARGET=karpenter@v1.7.0", "TAGS=@karpenter", "EXIT=1"},
			[]string{"verify --target karpenter@v1.7.0 --tags @karpenter --out runs", "report -o md runs"}, "1", "**Not as expected.**"},
		{"a feature", []string{"TARGET=karpenter@v1.7.0", "IDS=one.feature"},
			[]string{"run --target karpenter@v1.7.0 one.feature --out runs", "report -o md runs"}, "0", ""},
		{"a source", []string{"TARGET=karpenter@pr", "SOURCE=.", "BUILD_ARGS=--tags hetzner", "EXIT=3"},
			[]string{"target build karpenter@pr --source . --tags hetzner", "verify --target karpenter@pr --all --out runs", "report -o md runs"}, "3", "**Inconclusive**"},
		{"a source without a target", []string{"SOURCE=."}, nil, "", ""},
		{"an open quote", []string{"ARGS=--with 'a"}, nil, "", ""},
		{"usage", []string{"EXIT=2"}, []string{"verify --all --out runs", "report -o md runs"}, "2", "ended with status 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := append([]string{"NODESTORM_FROM=", "IDS=", "TAGS=", "TARGET=", "SOURCE=", "BUILD_ARGS=", "CATALOGUE=", "ARGS=", "OUT=runs", "EXIT=0"}, test.env...)
			said := runScript(t, action, "play.sh", env...)
			if (said.err == nil) != (test.status != "") {
				t.Fatalf("%v\n%s", said.err, said.stderr)
			}
			if want := strings.Join(append(test.calls, ""), " \n"); said.calls != want {
				t.Errorf("it calls %q, want %q", said.calls, want)
			}
			if test.status != "" && said.output != "status="+test.status+"\n" || !strings.Contains(said.summary, test.summary) {
				t.Errorf("output %q, summary %q", said.output, said.summary)
			}
		})
	}
}

// checkAction finds what of the description does not fit its steps: pinned actions, inputs that exist and are used,
// scripts that bash reads.
func checkAction(t *testing.T, action string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(action, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Inputs map[string]struct {
			Description string `yaml:"description"`
		} `yaml:"inputs"`
		Runs any `yaml:"runs"`
	}
	if err := yaml.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(string(text), -1) {
		used[m[1]] = true
	}
	for name, input := range described.Inputs {
		if !used[name] || input.Description == "" {
			t.Errorf("the input %s is used: %v, and described: %q", name, used[name], input.Description)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("the input %s is used, and there is none", name)
	}
	scripts := 0
	each(described.Runs, func(key, value string) {
		if key == "uses" && !pinned.MatchString(value) {
			t.Errorf("%s is not pinned to a commit", value)
		}
		// What people write is no part of a script.
		if key == "run" && strings.Contains(value, "${{") {
			t.Errorf("%q has an expression in a script", value)
		}
		for _, m := range regexp.MustCompile(`\$GITHUB_ACTION_PATH/(\w+\.sh)`).FindAllStringSubmatch(value, -1) {
			scripts++
			if out, err := exec.CommandContext(t.Context(), "bash", "-n", filepath.Join(action, m[1])).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", m[1], err, out)
			}
		}
	})
	if scripts != 3 {
		t.Errorf("%d scripts are called, want 3", scripts)
	}
}

type scriptSaid struct {
	err                            error
	stderr, output, summary, calls string
}

// runScript runs a script of the action as a runner does, with a nodestorm that notes its calls, those with spaces in <>,
// and has the exit status EXIT where it plays.
func runScript(t *testing.T, action, script string, env ...string) scriptSaid {
	t.Helper()
	dir := t.TempDir()
	stub := "#!/bin/bash\nfor a in \"$@\"; do case \"$a\" in *\\ *) echo -n \"<$a> \";; *) echo -n \"$a \";; esac; done >>\"$CALLS\"\necho >>\"$CALLS\"\n" +
		"case $1 in verify|run) mkdir -p runs; exit \"$EXIT\";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "nodestorm"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	// Only what the test itself has read makes its cached result stale.
	if _, err := os.ReadFile(filepath.Join(action, script)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(action, script))
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + dir + ":" + os.Getenv("PATH"), "GITHUB_ACTION_PATH=" + action, "RUNNER_TEMP=" + dir, "CALLS=" + at("calls"),
		"GITHUB_OUTPUT=" + at("output"), "GITHUB_STEP_SUMMARY=" + at("summary"), "GITHUB_PATH=" + at("path"), "GITHUB_ENV=" + at("env"),
	}, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	said := scriptSaid{err: cmd.Run(), stderr: stderr.String()}
	for name, to := range map[string]*string{"output": &said.output, "summary": &said.summary, "calls": &said.calls} {
		text, err := os.ReadFile(at(name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		*to = string(text)
	}
	return said
}
