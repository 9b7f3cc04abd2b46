package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
)

// inputs are, of each command that reads files, the ways in which it is given one, the words of a command line with
// "|" between them. In them
//
//	FIFO           is a FIFO, or what a link to one leads to
//	RUN:NAME       is the folder of a run, of which the file NAME is one
//	FOLDER:NAME    is a folder that has nothing but one, at NAME
//	CHECKOUT:NAME  is a checkout, of which the file NAME is one
//	RECORD, ORDER… are good inputs that lead to the others
var inputs = map[string][]string{
	"recheck": {
		"recheck|RUN:run.json", "recheck|RUN:history.ndjson", "recheck|AUTOSCALED:logs/cluster-autoscaler.log", "recheck|FIFO",
		"recheck|--cross|RUN:history.ndjson", "recheck|--invariants|RUN:history.ndjson", "recheck|--timeline|RUN:history.ndjson",
		"recheck|RUN:|--catalogue|FOLDER:a.feature", "recheck|RUN:|--catalogue|FOLDER:a.yaml", "recheck|RUN:|--catalogue|FIFO",
		"recheck|RUN:|--catalogue|FOLDER:invariants.yaml",
		"recheck|OWN:scenario/a.feature", "recheck|OWN:scenario/a.yaml",
		"recheck|RUN:|--catalogue|CHECKOUT:scenarios/releases.yaml", "recheck|RUN:|--catalogue|CHECKOUT:scenarios/karpenter/a.yaml",
		"recheck|RUN:|--catalogue|CHECKOUT:features/karpenter/a.feature", "recheck|RUN:|--catalogue|CHECKOUT:features/world/a.feature",
		"-recheck|RUN:|--catalogue|CHECKOUT:go.mod",
	},
	"report": {
		"report|RUN:run.json", "report|RUN:history.ndjson", "-report|RUN:logs/karpenter.log", "report|FIFO", "report|RUN:history.ndjson|-o|md",
		"report|RUN:history.ndjson|-o|text", "report|RUN:run.json|-o|text",
		"report|RUN:history.ndjson|RUN:|--side-by-side",
	},
	"nightly manifest": {
		"nightly manifest|--all|--image|x|--catalogue|FOLDER:a.feature", "nightly manifest|--all|--image|x|--catalogue|FIFO",
	},
	"symptom": {
		"symptom|RUN:run.json|--lines|1,2", "symptom|RUN:history.ndjson|--lines|1,2", "symptom|FIFO|--lines|1,2",
		"symptom|RUN:|--lines|1,2|--against|FIFO", "symptom|RUN:|--lines|1,2|--catalogue|FOLDER:a.feature",
	},
	"bundle": {
		"-bundle|RUN:run.json|--out|OUT", "-bundle|RUN:history.ndjson|--out|OUT", "-bundle|RUN:logs/karpenter.log|--out|OUT",
		"-bundle|RUN:junit.xml|--out-file|OUT", "-bundle|RUN:scenario/a.yaml|--out-file|OUT", "bundle|FIFO|--out-file|OUT",
	},
	"qualify": {
		"qualify|karpenter@v1.6.4|RUN:run.json", "qualify|karpenter@v1.6.4|FIFO", "qualify|karpenter@v1.6.4|--comparison|FIFO",
		"qualify|cluster-autoscaler@1.33.0|--manifest|FIFO", "qualify|karpenter@v1.6.4|RUN:|--catalogue|FOLDER:a.feature",
	},
	"matrix": {
		"matrix|RUN:run.json", "matrix|RUN:history.ndjson", "matrix|FIFO", "matrix|RUN:|--since|FIFO",
	},
	"site": {
		"-site|RUN:run.json|--out|OUT", "-site|RUN:history.ndjson|--out|OUT", "site|FIFO|--out|OUT", "-site|--nights|FIFO|--out|OUT",
		"-site|--nights|FOLDER:2026-11-23.json|--out|OUT", "site|--catalogue|FIFO|--out|OUT",
	},
	"nightly merge": {
		"nightly merge|FOLDER:shard.json|--out|OUT", "-nightly merge|FIFO|--out|OUT", "nightly merge|SHARD:run.json|--out|OUT", "nightly merge|SHARD:history.ndjson|--out|OUT",
	},
	"nightly report": {
		"nightly report|RUN:run.json|--nights|FOLDER:|--out|OUT", "-nightly report|RUN:history.ndjson|--nights|FOLDER:|--out|OUT",
		"nightly report|FOLDER:matrix.json|--nights|FOLDER:|--out|OUT", "nightly report|FIFO|--nights|FOLDER:|--out|OUT",
		"-nightly report|RUN:|--nights|FOLDER:2026-11-23.json|--out|OUT", "-nightly report|RUN:|--nights|FIFO|--out|OUT",
	},
	"show": {"show|RECORD|--catalogue|FOLDER:a.feature", "show|RECORD|--catalogue|FIFO"},
	"list": {"list|--catalogue|FOLDER:a.feature", "list|--catalogue|FIFO"},
	"lint": {"lint|FIFO", "lint|FOLDER:a.feature", "lint|FOLDER:a.yaml", "lint|FOLDER:sub/a.feature"},
	"new":  {"new|a-failure|--dir|OUT|--from|FIFO"},
	"draft": {
		"draft|--audit-log|FIFO", "draft|--events|FIFO", "draft|--log|FIFO", "draft|--dump|FIFO", "-draft|--dump|FOLDER:pods.json", "draft|--trace|FIFO",
	},
	"run": {
		"run|FIFO.feature|--target|karpenter@v1.7.0",
		"-run|RECORD|--target|karpenter@v1.7.0|--kubernetes|FIFO", "run|RECORD|--target|karpenter@v1.7.0|--kubernetes|FOLDER:etcd",
		"run|AUTOSCALER|--target|cluster-autoscaler@1.33.0|BUILT:cluster-autoscaler@1.33.0|--manifest|FIFO",
		"run|INSTALLED|--target|kubespray@mine|--order|FIFO", "run|INSTALLED|--target|kubespray@mine|--order|ORDER:a.yaml",
		"run|RECORD|--target|karpenter@v1.7.0|--catalogue|FOLDER:a.feature",
	},
	"verify": {
		"verify|RECORD|--shard|1/2|--durations|FIFO", "verify|RECORD|--shard|1/2|--durations|FOLDER:run.json",
		"verify|RECORD|--shard|1/2|--durations|FIFO.json", "verify|RECORD|--catalogue|FOLDER:a.yaml",
		"verify|RECORD|--kubernetes|FOLDER:etcd", "verify|RECORD|--shard|1/1|--out|FOLDER:shard.json",
	},
	"up":       {"up|--target|karpenter@v1.7.0|--given|FIFO.feature", "up|--kubernetes|FOLDER:etcd"},
	"up fault": {"up fault|--file|FIFO"},
	"bisect": {
		"bisect|FIFO.feature|--source|OUT|--good|a|--bad|b", "-bisect|RECORD|--source|FIFO|--good|a|--bad|b",
		"-bisect|RECORD|--source|FOLDER:go.mod|--good|a|--bad|b", "-bisect|RECORD|--source|FOLDER:.git|--good|a|--bad|b",
	},
	"bisect step": {"-bisect step|RECORD|--source|FIFO", "-bisect step|RECORD|--source|FOLDER:go.mod"},
	"history":     {"history|FIFO.feature", "-history|RECORD|--build|--source|FIFO"},
	"compare": {
		"compare|FIFO|--variant|karpenter@v1.7.0|--variant|karpenter@v1.14.1|--dry-run",
		"compare|RUN:run.json|RUN:", "compare|RUN:history.ndjson|RUN:",
	},
	"explore":        {"explore|--target|karpenter@v1.7.0|BUILT:karpenter@v1.7.0|--out|FOLDER:explore.json", "explore|--target|karpenter@v1.7.0|--kubernetes|FOLDER:etcd"},
	"explore print":  {"explore print|FIFO"},
	"explore shrink": {"explore shrink|FIFO|--invariant|liveness|--target|karpenter@v1.7.0"},
	"cloud aws":      {"cloud aws|--check|--faults|FIFO", "cloud aws|--check|--state|FIFO"},
	"cloud hcloud":   {"cloud hcloud|--check|--faults|FIFO", "cloud hcloud|--check|--state|FIFO"},
	"cloud externalgrpc": {
		"cloud externalgrpc|--check|--faults|FIFO", "cloud externalgrpc|--check|--state|FIFO", "cloud externalgrpc|--check|--groups|FIFO",
	},
	"proxy": {
		"proxy|--check|--rules|FIFO", "proxy|--check|--rules|RULES|--kubeconfig|REFERS:token", "proxy|--check|--rules|RULES|--kubeconfig|FIFO",
		"proxy|--check|--rules|RULES|--kubeconfig|KUBECONFIG|--writer-kubeconfig|FIFO",
	},
	"target add": {
		"target add|other@v1|FIFO", "-target add|karpenter@v1|PROGRAM|--source|FIFO", "-target add|karpenter@v1|PROGRAM|--source|FOLDER:go.mod",
		"target add|other@v1|--image|FIFO", "target add|other@v1|--image|FOLDER:index.json", "-target add|other@v1|--image|FOLDER:oci-layout",
	},
	"target build": {
		"-target build|other@v1|--source|FIFO", "-target build|other@v1|--source|FOLDER:go.mod", "-target build|other@v1|--source|FOLDER:go.work",
	},
	"target list":  {"target list|STORE:manifest.json"},
	"target push":  {"target push|karpenter@v1.7.0|registry.invalid/x|STORE:manifest.json"},
	"target rm":    {"-target rm|karpenter@v1.7.0|STORE:manifest.json"},
	"target get":   {"-target get|karpenter@v1.7.0|--lock|FIFO", "target get|RECORD|--catalogue|FOLDER:a.feature|--lock|FIFO"},
	"target image": {"target image|--out|OUT|--include|karpenter@v1.7.0|STORE:manifest.json"},
	"cluster load": {"-cluster load|mine|FIFO"},
}

// nothingRead are the commands that read nothing of what people name, and what they read of their own.
var nothingRead = []string{
	"version", "sentences", "events", "explain", "doctor", "clean", "up fault list", "up fault clear", "cluster image", "cluster create",
	"cluster list", "cluster delete", "completion bash", "completion fish", "completion powershell", "completion zsh", "help",
}

// TestInputsAreFiles has a FIFO where each command wants a file. None waits for what never comes.
func TestInputsAreFiles(t *testing.T) {
	of, plain := maps.Clone(inputs), map[string]bool{}
	var commands func(c *cobra.Command) []string
	commands = func(c *cobra.Command) (all []string) {
		path := strings.TrimPrefix(c.CommandPath(), "nodestorm ")
		if lines, is := onlySwitches(c, path); is && of[path] == nil {
			of[path], plain[path] = lines, true
		}
		if c.HasParent() && c.Runnable() && len(c.Commands()) == 0 || inputs[path] != nil {
			all = append(all, path)
		}
		for _, below := range c.Commands() {
			all = append(all, commands(below)...)
		}
		return all
	}
	t.Setenv(buildstore.EnvCache, t.TempDir())
	t.Setenv("HCLOUD_TOKEN", "any")
	t.Setenv(buildstore.EnvMirror, buildstore.NoRegistry)
	bin := t.TempDir() // no build begins
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	root := newRoot(&console.Console{})
	finishDefaults(root)
	for _, name := range commands(root) {
		if len(of[name]) == 0 && !plain[name] && !slices.Contains(nothingRead, name) {
			t.Errorf("what does %s read? Say so in inputs, or that it reads nothing", name)
		}
	}
	for _, lines := range of {
		for _, line := range lines {
			t.Run(line, func(t *testing.T) {
				if strings.Contains(line, "STORE:") || strings.Contains(line, "BUILT:") {
					t.Setenv(buildstore.EnvCache, t.TempDir()) // which the others do not see
				} else {
					t.Parallel()
				}
				endsWith(t, line)
			})
		}
	}
}

// onlySwitches reports whether a command takes no words, and has no flag that could name a file but the catalogue's; lines are the
// ways in which it is given that.
func onlySwitches(c *cobra.Command, path string) (lines []string, is bool) {
	if c.Args == nil || c.Args(c, []string{"x"}) == nil {
		return nil, false
	}
	is = true
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "catalogue":
			lines = []string{path + "|--catalogue|FOLDER:a.feature", path + "|--catalogue|FIFO"}
		case f.Value.Type() != "bool" && f.Name != "catalog" && f.Name != "output":
			is = false
		}
	})
	return lines, is
}

// longest is when a command is taken to wait for ever that reads nothing large. On a machine that is busy with other things, some
// take more than a minute with the race detector.
const longest = 5 * time.Minute

// endsWith makes sure that the command ends, and says why, unless the line begins with "-".
func endsWith(t *testing.T, line string) {
	line, quiet := strings.CutPrefix(line, "-")
	args := words(t, line, fifo)
	var out bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- Run(t.Context(), args, &out, &out) }()
	select {
	case code := <-ended:
		if text := out.String(); !quiet && !strings.Contains(text, "named pipe") {
			t.Errorf("status %d, without a word of the FIFO: %s", code, text)
		}
	case <-time.After(longest):
		t.Fatalf("it waits for a FIFO to which nothing is written")
	}
}

// TestInputsWithoutEnd interrupts commands while they read what they would not come to the end of in hours.
func TestInputsWithoutEnd(t *testing.T) {
	for _, line := range []string{
		"recheck|RUN:history.ndjson", "recheck|--cross|RUN:history.ndjson", "recheck|--invariants|RUN:history.ndjson",
		"report|RUN:history.ndjson|-o|text", "recheck|AUTOSCALED:logs/cluster-autoscaler.log", "report|RUN:history.ndjson",
		"report|RUN:history.ndjson|-o|junit", "report|RUN:logs/karpenter.log", "bundle|RUN:history.ndjson|--out-file|OUT",
		"bundle|RUN:logs/karpenter.log|--out|OUT", "matrix|RUN:history.ndjson", "nightly merge|SHARD:history.ndjson|--out|OUT",
		"nightly report|RUN:history.ndjson|--nights|FOLDER:|--out|OUT",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := words(t, line, func(t *testing.T, path string) {
				if err := os.Truncate(filled(t, path, ""), 1<<40); err != nil {
					t.Fatal(err)
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // by then it reads
			defer cancel()
			var out bytes.Buffer
			ended := make(chan int, 1)
			go func() { ended <- Run(ctx, args, &out, &out) }()
			<-ctx.Done()
			select {
			case code := <-ended:
				if text := out.String(); code != Inconclusive || !strings.HasSuffix(text, "nodestorm: interrupted; everything it started has ended\n") {
					t.Errorf("status %d: %s", code, text)
				}
			case <-time.After(longest / 6):
				t.Fatal("it reads on")
			}
		})
	}
}

// words are those of a line of inputs; each file that it is about is made by special.
func words(t *testing.T, line string, special func(t *testing.T, path string)) (args []string) {
	for i, word := range strings.Split(line, "|") {
		if i == 0 {
			args = strings.Fields(word)
		} else if word, is := input(t, word, special); is {
			args = append(args, word)
		}
	}
	return args
}

// input is what a word of a command line stands for.
func input(t *testing.T, word string, special func(*testing.T, string)) (_ string, is bool) {
	t.Helper()
	kind, name, _ := strings.Cut(word, ":")
	switch kind {
	case "STORE":
		special(t, filepath.Join(os.Getenv(buildstore.EnvCache), "targets", "karpenter", "v1.7.0", "key", name))
		return "", false
	case "BUILT":
		built(t, name)
		built(t, builds.Kubernetes.String())
		return "", false
	}
	return inputNamed(t, word, special), true
}

// built puts a program into the store that can do nothing.
func built(t *testing.T, name string) {
	t.Helper()
	ref, err := builds.ParseRef(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, text := filepath.Join(os.Getenv(buildstore.EnvCache), "targets", ref.Name, ref.Version, "key"), "no program"
	filled(t, filepath.Join(dir, "bin", ref.Name), text)
	manifest, err := json.Marshal(builds.Manifest{Ref: ref, GoVersion: "go1.26.0", Source: builds.Source{Kind: builds.FromBinary, Tags: []string{"hetzner"}},
		SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	if err != nil {
		t.Fatal(err)
	}
	filled(t, filepath.Join(dir, "manifest.json"), string(manifest))
}

func inputNamed(t *testing.T, word string, special func(*testing.T, string)) string {
	t.Helper()
	kind, name, has := strings.Cut(word, ":")
	dir := t.TempDir()
	switch {
	case word == "OUT":
		return filepath.Join(dir, "out")
	case word == "RECORD":
		return "karpenter-7515-not-ready-noexecute"
	case word == "AUTOSCALER":
		return "hetzner-8402-min-size"
	case word == "INSTALLED":
		return "bootstrap-12059-csr-approver"
	case word == "RULES":
		return filepath.Join(exampleFiles, "rules.yaml")
	case strings.HasPrefix(word, "FIFO"):
		path := filepath.Join(dir, "pipe"+strings.TrimPrefix(word, "FIFO"))
		special(t, path)
		return path
	case word == "KUBECONFIG":
		return filled(t, filepath.Join(dir, "kubeconfig"), kubeconfig)
	case word == "PROGRAM":
		return "/proc/self/exe"
	case !has:
		return word
	}
	return folderOf(t, dir, kind, name, special)
}

const kubeconfig = `clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: a}}]
current-context: a
`

// folderOf is a folder of a kind, in which name is made by special.
func folderOf(t *testing.T, dir, kind, name string, special func(*testing.T, string)) string {
	t.Helper()
	pipe := filepath.Join(dir, name)
	switch kind {
	case "FOLDER":
	case "RUN":
		theRun(t, dir, theScenario, "karpenter")
	case "OWN":
		theRun(t, dir, "a", "karpenter")
	case "AUTOSCALED":
		theRun(t, dir, "hetzner-8402-min-size", "cluster-autoscaler")
	case "SHARD":
		theRun(t, filepath.Join(dir, "a"), theScenario, "karpenter")
		filled(t, filepath.Join(dir, "shard.json"), `{"format":1,"part":{"number":1,"of":1},"whole":[{"scenario":"`+theScenario+
			`","target":"karpenter@v1.6.4","shard":1}],"rows":[{"id":"`+theScenario+`","target":"karpenter@v1.6.4","verdict":"healthy","run":"a"}],"ended":true}`)
		pipe = filepath.Join(dir, "a", name)
	case "CHECKOUT":
		for _, folder := range []string{"scenarios", "features"} {
			if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS("../../"+folder)); err != nil {
				t.Fatal(err)
			}
		}
		filled(t, filepath.Join(dir, "go.mod"), "module nodestorm\n")
	case "REFERS":
		special(t, pipe)
		return filled(t, filepath.Join(dir, "kubeconfig"), strings.ReplaceAll(kubeconfig, "token: a", "tokenFile: "+name))
	case "ORDER":
		filled(t, filepath.Join(dir, "order.yaml"), "steps: [{apply: "+name+"}]\n")
		special(t, pipe)
		return filepath.Join(dir, "order.yaml")
	default:
		t.Fatalf("what is %s?", kind)
	}
	if name == "" {
		return dir
	}
	if err := os.Remove(pipe); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	special(t, pipe)
	return dir
}

const theScenario = "karpenter-7515-not-ready-noexecute"

// theRun is one in which nothing happens.
func theRun(t *testing.T, dir, scenario, of string) {
	t.Helper()
	filled(t, filepath.Join(dir, run.HistoryFile), `{"seq":1,"source":"harness","verb":"ended"}`+"\n")
	r := run.Run{ID: scenario, Epoch: time.Unix(1, 0)}
	r.Target.Name, r.Target.Version, r.Target.SHA256, r.Clock.Mode = of, "v1.6.4", "5e4d", "auto"
	r.Seal = &run.Seal{Record: "none"}
	r.Judgement.Verdict = "healthy"
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := run.Reseal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

func filled(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fifo makes one, to which something is written when the test ends, so that who waits for it ends, too.
func fifo(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(path, 0o700); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	})
}
