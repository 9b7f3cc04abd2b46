package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/shard"
)

// What the repository's own workflows call exists: every command of nodestorm with its flags, every
// target of the Makefile. Actions are pinned to a commit.
func TestWorkflows(t *testing.T) {
	root, err := buildstore.Root()
	if err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, file := range append(files, filepath.Join(root, ".ci", "prow.yaml"), filepath.Join(root, ".ci", "run")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts := []string{string(text)}
		if filepath.Ext(file) != "" {
			var tree any
			if err := yaml.Unmarshal(text, &tree); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			scripts = nil
			each(tree, func(key, value string) {
				switch key {
				case "uses":
					if !pinned.MatchString(value) {
						t.Errorf("%s: %s is not pinned to a commit", file, value)
					}
				case "run", "args":
					scripts = append(scripts, value)
				}
			})
		}
		for _, m := range hashed.FindAllStringSubmatch(string(text), -1) {
			for pattern := range strings.SplitSeq(m[1], ", ") {
				pattern = strings.NewReplacer("'", "", "**/", "", "**", "*").Replace(pattern)
				if found, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(found) == 0 {
					t.Errorf("%s: no file is %s: %v", file, pattern, err)
				}
			}
		}
		for _, script := range scripts {
			for line := range strings.Lines(script) {
				for _, problem := range wrongCommand(t, line, string(makefile), called) {
					t.Errorf("%s: %s: %s", file, strings.TrimSpace(line), problem)
				}
			}
		}
	}
	for _, want := range []string{"verify --shard", "nightly merge", "nightly report --keep", "make setup"} {
		if !called[want] {
			t.Errorf("no workflow calls %q, but %v", want, called)
		}
	}
	// It would notice.
	for line, want := range map[string]string{
		"bin/nodestorm verfy --all": `unknown command`, "x=1 bin/nodestorm nightly merge --nothing a": "unknown flag: --nothing",
		"bin/nodestorm verify --repeat x": "invalid argument", "make nothing": "no target", "bin/nodestorm verify --all --shard 5/4": "--shard",
	} {
		if problems := wrongCommand(t, line, string(makefile), map[string]bool{}); len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%s: %q, want %q", line, problems, want)
		}
	}
}

var (
	pinned = regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40}$`)
	// variable is what a runner or a shell puts in.
	variable = regexp.MustCompile(`\$\{\{[^}]*\}\}|\$\([^)]*\)|\$\{[^}]*\}|\$\w+`)
	hashed   = regexp.MustCompile(`hashFiles\(([^)]*)\)`)
	ours     = regexp.MustCompile(`(?:^|[\s;&|])bin/nodestorm ([^;&|>]*)`)
	making   = regexp.MustCompile(`(?:^|[\s;&|])make ([a-z-]+)`)
)

// wrongCommand says what of a shell's line does not exist, and notes what it calls.
func wrongCommand(t *testing.T, line, makefile string, called map[string]bool) (problems []string) {
	for _, m := range making.FindAllStringSubmatch(line, -1) {
		called["make "+m[1]] = true
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			problems = append(problems, "the Makefile has no target "+m[1])
		}
	}
	for _, m := range ours.FindAllStringSubmatch(line, -1) {
		if err := wrongCall(t, m[1], called); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// wrongCall is an error unless the command of nodestorm's, with its flags, exists. It notes what is called.
func wrongCall(t *testing.T, arguments string, called map[string]bool) error {
	var said bytes.Buffer
	root := newRoot(&console.Console{Stdout: &said, Stderr: &said})
	finishDefaults(root)
	c, rest, err := root.Find(strings.Fields(variable.ReplaceAllString(arguments, "1")))
	switch {
	case err == nil && c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"): // its flags are no others'
		err = c.Args(c, rest)
	case err == nil:
		err = c.ParseFlags(rest)
	}
	if err == nil && c.Args != nil && (c.HasSubCommands() || c.Name() == "help") {
		err = c.Args(c, c.Flags().Args())
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	name := strings.TrimPrefix(c.CommandPath(), "nodestorm ")
	called[name] = true
	for _, flag := range rest {
		if strings.HasPrefix(flag, "--") {
			called[name+" "+flag] = true
		}
	}
	if at := slices.Index(rest, "--shard"); at >= 0 && at+1 < len(rest) {
		if _, _, err := (shard.Split{Text: rest[at+1]}).Plan(t.Context(), nil, console.Scratch); err != nil {
			return err
		}
	}
	return nil
}

// each gives all texts of a YAML document, with the key that they, or their list, are under.
func each(tree any, do func(key, value string)) {
	var walk func(key string, tree any)
	walk = func(key string, tree any) {
		switch tree := tree.(type) {
		case string:
			do(key, tree)
		case []any:
			for _, item := range tree {
				walk(key, item)
			}
		case map[string]any:
			for key, value := range tree {
				walk(key, value)
			}
		}
	}
	walk("", tree)
}
