package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/world/process"
)

const scenario = "karpenter-7515-not-ready-noexecute"

// nodestorm runs the command in this process.
func nodestorm(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// bench is a machine with an empty store and a go command that builds nothing and
// records its calls.
type bench struct{ store, goCalled, out string }

func newBench(t *testing.T) bench {
	t.Helper()
	dir := t.TempDir()
	b := bench{store: filepath.Join(dir, "store"), goCalled: filepath.Join(dir, "called"), out: filepath.Join(dir, "out")}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(bin, "go"), "#!/bin/sh\ntouch "+b.goCalled+"\necho this go builds nothing >&2\nexit 1\n", 0o700)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv(buildstore.EnvCache, b.store)
	return b
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// A wrong argument is reported in one line, before anything is built or written.
func TestWrongArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "", 0o600)
	write(t, file+".feature", "", 0o600)
	const installed = "bootstrap-12059-csr-approver"
	waits := filepath.Join(t.TempDir(), "order.yaml")
	write(t, waits, "steps: [{rollout: {kind: Deployment, name: web}}]", 0o600)
	tests := []struct {
		args string // separated by |
		want string
	}{
		{"foo", `unknown command "nodestorm foo"; nodestorm --help lists all`},
		{"verfy", `unknown command "nodestorm verfy", did you mean "verify"; nodestorm --help`},
		{"completion|foo", `unknown command "nodestorm completion foo"; nodestorm completion --help`},
		{"completion|bsh", `unknown command "nodestorm completion bsh", did you mean "bash" or "fish" or "zsh"; nodestorm completion --help`},
		{"completion|bash|more", `1 argument(s) given, want 0: nodestorm completion bash`},
		{"help|nope", `unknown command "nodestorm nope"; nodestorm --help`},
		{"help|verfy", `unknown command "nodestorm verfy", did you mean "verify"; nodestorm --help`},
		{"help|target|nope", `unknown command "nodestorm target nope"; nodestorm target --help`},
		{"target|lst", `unknown command "nodestorm target lst", did you mean "get" or "list"; nodestorm target --help`},
		{"list|--jsn", "unknown flag: --jsn; nodestorm list --help shows the flags"},
		{"recheck", "DIR is missing: want nodestorm recheck DIR…"},

		{"verify", "name a scenario (nodestorm list shows them), or give --tags or --all"},
		{"verify|none", `unknown scenario "none"; nodestorm list shows all `},
		{"verify|karpenter-7515-nothing", `unknown scenario "karpenter-7515-nothing", did you mean ` + "karpenter-7515-not-ready-flap or " + scenario},
		{"verify|--all|" + scenario, "--all is every record: leave out either"},
		{"verify|--tags|@none", `tags "@none": no scenario has these tags; want @ID, @issue-NUMBER, or one of @`},
		{"run|--tags|@none|--target|karpenter@v1.6.4", `tags "@none": no scenario has these tags; want @ID, @issue-NUMBER, or one of @`},
		{"verify|--tags|@a &&", `tags "@a &&": "&&" is not a tag (a tag begins with @); want an expression such as`},
		{"verify|" + scenario + "|--repeat|0", "--repeat 0: want 1 or more"},
		{"verify|" + scenario + "|--repeat|x", `--repeat "x": want a whole number`},
		{"verify|" + scenario + "|--clock|5", `--clock: clock "5": want "auto", "real", or a factor`},
		{"verify|" + scenario + "|--clock|0x", `want "auto", "real", or a factor`},
		{"verify|" + scenario + "|--seed|-1", `--seed "-1": want a whole number from 0`},
		{"verify|" + scenario + "|--seed|99999999999999999999", `--seed "99999999999999999999": want a whole number from 0`},
		{"verify|" + scenario + "|--out|", "--out: no folder given"},
		{"verify|" + scenario + "|--out|" + file, "--out: mkdir " + file + ": not a directory; name a folder that can be written"},
		{"verify|" + scenario + "|--out|/proc/none", "--out: mkdir /proc/none: no such file or directory; name a folder"},
		{"verify|--clocks|" + scenario + "|--clock|real", "--clocks compares 1x with another --clock, and that is real too"},
		{"verify|" + scenario + "|--cluster|kid", `cluster "kid": want sim (programs on this machine, in virtual time), or kind (containers of Docker, in real time)`},
		{"verify|" + scenario + "|--cluster|kind,kind", "--cluster kind,kind: want sim, kind, or both to compare them"},
		{"verify|" + scenario + "|--cluster|kind|--clock|60x", "--clock 60x: a cluster of kind has real time only, and no thousands of nodes: leave --clock out, or take --cluster sim"},
		{"verify|" + scenario + "|--cluster|kind|--clocks", "--clocks compares clocks, of which clusters of kind have one: want --clocks or --cluster kind,sim"},
		{"verify|" + scenario + "|--cluster|kind,sim|--repeat|2", "--repeat plays on one kind of cluster"},
		{"run|" + scenario + "|--target|karpenter@v1.6.4|--cluster|kind|--clock|auto", "--clock auto: a cluster of kind has real time only"},
		{"verify|" + scenario + "|--cloud-machines|containers", "--cloud-machines containers: they join a cluster of kind, in real time: want --cluster kind"},
		{"run|" + scenario + "|--target|karpenter@v1.6.4|--cloud-machines|pods", `machines "pods": want sim, or containers (of Docker`},
		{"run|" + scenario + "|--target|karpenter@v1.6.4|--cluster|kind,sim", `cluster "kind,sim": want`},

		{"verify|" + scenario + "|--kubernetes|/none", "--kubernetes /none: /none has no program etcd; name a folder with etcd and kube-apiserver, as envtest's or a release's is, or a release, such as v1.36.3"},
		{"verify|" + scenario + "|--kubernetes|1.33.5", "--kubernetes 1.33.5: kubernetes@1.33.5 is not a release: did you mean kubernetes@v1.33.5?"},
		{"verify|" + scenario + "|--kubernetes|v1.30.0", "--kubernetes v1.30.0: release v1.30.0 of Kubernetes is too old"},
		{"verify|" + scenario + "|--kubernetes|the newest", "--kubernetes the newest: want a release such as v1.36.3, or a folder with etcd and kube-apiserver"},
		{"verify|" + scenario + "|--kubernetes|v1.36.3|--cluster|kind", "--cluster kind: a cluster of kind has a control plane of its own, leave out --kubernetes"},

		{"run|" + scenario, "--target NAME@VERSION is missing; the record of karpenter-7515-not-ready-noexecute has karpenter@v1.6.4"},
		{"run|" + scenario + "|--target|karpenter", `"karpenter" has no version: write NAME@VERSION`},
		{"run|" + scenario + "|--target|../x@v1", `"../x@v1" names no target`},
		{"run|" + scenario + "|--target|other@v1", scenario + " is about karpenter, and --target is other@v1: want a build of karpenter"},
		{"run|" + scenario + "|--target|karpenter@nope", "karpenter@nope is not in the store; get it with: nodestorm target build karpenter@nope --source DIR"},
		{"run|" + installed + "|--target|kubespray@mine", "the order of kubespray@mine is not known (known: v2.24.0, v2.28.0); --order names a file with yours"},
		{"run|" + installed + "|--target|kubespray@mine|--order|/none", "--order: open /none: no such file or directory; name a file with the installer's steps"},
		{"run|" + installed + "|--target|kubespray@mine|--order|" + waits, "--order: " + waits + ": steps[0]: it waits for Deployment default/web, which no step before it applies: put the step that applies it first"},
		{"run|" + scenario + "|--target|karpenter@v1.6.4|--order|" + waits, "--order: karpenter is not an installer: leave it out"},
		{"run|none|--target|karpenter@v1.6.4", `unknown scenario "none"`},
		{"run|" + scenario + "|--target|karpenter@v1.7.0|--manifest|nope.yaml", "--manifest: nope.yaml: manifests are for cluster-autoscaler, and the target is karpenter: leave it out"},
		{"run|hetzner-8402-min-size|--target|cluster-autoscaler@1.33.0|--manifest|nope.yaml", "--manifest: open nope.yaml: no such file or directory; name a manifest"},
		{"verify|hetzner-8402-min-size|--manifest|" + waits, "--manifest: " + waits + ": "},
		{"bisect|hetzner-8402-min-size|--source|.|--good|a|--bad|b|--manifest|nope.yaml", "--manifest: open nope.yaml: no such file or directory; name a manifest"},
		{"history|hetzner-8402-min-size|--build|--manifest|nope.yaml", "--manifest: open nope.yaml: no such file or directory; name a manifest"},
		{"up|--target|karpenter@v1.7.0|--given|nope.feature", "nope.feature"},
		{"up|--target|karpenter@v1.7.0|--record|" + file + ".feature", "it is there already"},
		{"run|nope.feature|--target|karpenter@v1.7.0", "nope.feature"},
		{"verify|" + scenario + "|--shard|1/2|--durations|nope.json", "nope.json"},
		{"verify|" + scenario + "|--kubernetes|./nope", "./nope"},
		{"explore|shrink|nope.yaml|--invariant|liveness|--target|karpenter@v1.7.0", "open nope.yaml: no such file or directory; name a schedule"},
		{"verify|" + scenario + "|--catalog|nope", "nope"},

		{"up|--nodes|-1", "--nodes -1: want 0 to 5000"},
		{"up|--target|other@v1", "--target other@v1: up deploys karpenter by itself; for other targets give --given FILE.feature"},
		{"up|--clock|fast", `clock "fast": want`},

		{"target|build|karpenter", `"karpenter" has no version`},
		{"target|build|karpenter@nope", "karpenter@nope is not a release"},
		{"target|build|other@v1", `no recipe for "other"`},
		{"target|build|kubernetes@v1.30.0", "release v1.30.0 of Kubernetes is too old: the oldest that was seen to be a world's control plane is v1.31"},
		{"target|build|other@v1|--source|/none", "building other@v1 from /none: stat /none: no such file or directory; name the folder of a checkout"},
		{"target|add|other@v1|/none", "adding other@v1: open /none: no such file or directory; name a compiled program"},
		{"target|add|other@v1|" + file, file + " is not a Linux program (ELF); name a compiled one"},
		{"target|add|karpenter@v1|" + file, "--source is missing"},
		{"target|rm|other@v1", "other@v1 is not in the store; nodestorm target list shows what is"},

		{"nightly|manifest", "name a scenario (nodestorm list shows them), or give --tags or --all"},
		{"nightly|manifest|none|--image|x", `unknown scenario "none"`},
		{"nightly|manifest|--all", `--image "": want the reference under which the cluster's nodes find nodestorm's image`},
		{"nightly|manifest|--all|--image|x|--repeat|0", "--repeat 0: want 1 or more"},
		{"nightly|manifest|--all|--image|x|--cpu|two", `--cpu "two": want a quantity of Kubernetes`},
		{"nightly|manifest|--all|--image|x|--name|A", `--name "A": want a name of at most 40`},
		{"verify|" + scenario + "|--shard|job/4", `--shard "job/4": JOB_COMPLETION_INDEX is "": want the index of a pod of an Indexed Job`},
		{"nightly|merge|--job|night|x", "--job is for pods of Kubernetes, and this is none"},
		{"target|image", "want one of --out-file FILE, for docker load, and --push REFERENCE"},
		{"target|image|--out-file|x|--push|registry.example/x:1", "want one of --out-file FILE"},
		{"target|image|--push|registry.example/x:1|--tag|x", "--tag is the image's name in a file: leave it out with --push REFERENCE"},
		{"target|image|--out-file|x|--include|karpenter", `--include: "karpenter" has no version`},
		{"target|image|--out-file|x|--include|karpenter@v1.7.0", "--include: karpenter@v1.7.0 is not in the store; get it with"},
		{"target|image|--out-file|x|--include|all", "has no build that is intact; nodestorm target get --all makes some"},

		{"explore|--profile|chaos|--target|karpenter@v1.6.4", "chaos"},
		{"explain|record.nope", "nope"},
		{"explain|recrd", "recrd"},
		{"show|none", "none"},
		{"new|Not An ID", "Not An ID"},
		{"new|azure-1-it-fails|--system|azure", "azure"},
		{"lint|/none", "/none"},
		{"report|/none", "/none"},
		{"report|/none|-o|pdf", "pdf"},
		{"matrix|/none", "/none"},
		{"bisect|" + scenario + "|--good|v1.7.0|--bad|v1.6.4", "--source"},
		{"history|none", "none"},
		{"up|fault|x", "x"},
		{"cloud|azure", "azure"},
		{"list|-o|xml", "xml"},
		{"verify|" + scenario + "|--parallel|many", "many"},

		{"recheck|/none", "/none is not there; name the folder of a run"},
		{"recheck|" + filepath.Dir(file), "there is no run.json in it or below; name the folder of a run"},
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("all %d", len(catalogue.Records()))
	var page strings.Builder
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			b := newBench(t)
			args := strings.Split(test.args, "|")
			if !slices.Contains(args, "--out") && slices.Contains([]string{"verify", "run", "up", "bisect", "history", "explore"}, args[0]) &&
				!strings.HasPrefix(test.args, "up|fault") {
				args = append(args, "--out", b.out)
			}
			said := b.refuses(t, test.want, args...)
			if vagueWord.MatchString(said) {
				t.Errorf("it says %q", vagueWord.FindString(said))
			}
			if !wayOut.MatchString(said) {
				t.Errorf("neither what is allowed nor a way out is in %q", said)
			}
			call := "nodestorm " + strings.ReplaceAll(test.args, "|", " ")
			page.WriteString(strings.NewReplacer(all, "all N", b.store, "STORE", b.out, "OUT", filepath.Dir(file), "DIR", filepath.Dir(waits), "DIR").Replace(call + "\n    " + said))
		})
	}
	golden(t, filepath.Join("testdata", "wrong.txt"), page.String())
}

var (
	vagueWord = regexp.MustCompile(`(?i)\b(told|tells|tell|nobody|somebody|whoever|besides|meanwhile)\b`)
	// wayOut is in messages that name what is allowed, or what to do.
	wayOut = regexp.MustCompile(`want|did you mean|nodestorm [a-z]|put |name (one|a|the|where|it)|give |leave |write |take |there (is|are) |known|shows|--[a-z]+ (lists|names|is)|` +
		`lacks|needs|is missing|names a file|at least|oldest|known:|one of|like `)
)

// golden compares a text with a file of testdata, which -update writes.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text, 0o644)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(text, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("line %d of %s is other than what is printed (-update writes it):\n%s", i+1, path, strings.Join(is[min(i, len(is)):min(i+1, len(is))], ""))
		}
	}
}

// refuses makes sure of one line with want, status 2, and that nothing was done. It returns the line.
func (b bench) refuses(t *testing.T, want string, args ...string) string {
	t.Helper()
	code, stdout, stderr := nodestorm(t, args...)
	if code != cli.Usage || stdout != "" || !strings.HasPrefix(stderr, "nodestorm: ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q; want status 2 and one line with %q", code, stdout, stderr, want)
	}
	if _, err := os.Stat(b.goCalled); err == nil {
		t.Error("a build was begun")
	}
	entries, _ := filepath.Glob(filepath.Join(b.store, "t*", "*")) // targets/ and tmp/; locks stay
	runs, _ := filepath.Glob(filepath.Join(b.out, "*"))
	if left := append(entries, runs...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return stderr
}

func TestWrongSurroundings(t *testing.T) {
	verify := func(b bench) []string { return []string{"verify", scenario, "--out", b.out} }
	t.Run("a folder that is no control plane", func(t *testing.T) {
		b := newBench(t)
		folder := t.TempDir()
		write(t, filepath.Join(folder, "etcd"), "#!/bin/sh\n", 0o700)
		b.refuses(t, "etcd is not a Linux program (ELF); name a compiled one", append(verify(b), "--kubernetes", folder)...)
		b.refuses(t, "etcd is not a Linux program (ELF); name a compiled one", "up", "--out", b.out, "--kubernetes", folder)
	})
	t.Run("outside a checkout", func(t *testing.T) {
		b := newBench(t)
		t.Chdir(t.TempDir())
		b.refuses(t, "kubernetes@v1.36.3 is not in the store, and its source is needed to build it: no checkout of nodestorm at or above", verify(b)...)
		if code, stdout, stderr := nodestorm(t, "list"); code != cli.AsExpected || !strings.Contains(stdout, scenario) {
			t.Errorf("status %d, %q: what is built in needs no checkout", code, stderr)
		}
		t.Setenv(buildstore.EnvRoot, "/none")
		b.refuses(t, "NODESTORM_ROOT=/none is not a checkout of nodestorm", verify(b)...)
	})
	t.Run("no place for the store", func(t *testing.T) {
		b := newBench(t)
		t.Setenv(buildstore.EnvCache, "")
		t.Setenv("HOME", "")
		t.Setenv("XDG_CACHE_HOME", "")
		b.refuses(t, "name one in NODESTORM_CACHE", verify(b)...)
	})
	t.Run("no go", func(t *testing.T) {
		b := newBench(t)
		t.Setenv("PATH", t.TempDir())
		code, _, stderr := nodestorm(t, verify(b)...)
		if last := lastLine(stderr); code != cli.Usage || !strings.Contains(last, "there is no go in PATH; install Go") {
			t.Errorf("status %d, %q", code, stderr)
		}
	})
	t.Run("does not build", func(t *testing.T) {
		b := newBench(t)
		code, stdout, stderr := nodestorm(t, verify(b)...)
		if code != cli.Usage || stdout != "" || !strings.Contains(stderr, "nodestorm: building kubernetes@v1.36.3 from ") || !strings.Contains(stderr, "this go builds nothing") {
			t.Errorf("status %d, %q", code, stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(b.store, "t*", "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// What is wrong with the features of a checkout is reported by all commands that need them.
func TestWrongFeatures(t *testing.T) {
	const feature = "karpenter/issue-7515-not-ready-noexecute.feature"
	right, err := os.ReadFile("../../features/" + feature)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, new, want string }{
		{"malformed", "Scenario:", "Scenaro:", "features/" + feature + ": malformed: (12:3): \"Scenaro:\" begins no line of a feature:"},
		{"no text", string(right), "\x1b[2J\xff", "features/" + feature + `: malformed: "(1:1): expected:`},
		{"empty", string(right), "", "0 scenarios of features/" + feature + " have the tag @" + scenario},
		{"unknown ID", "@" + scenario, "@karpenter-1-none", "(@karpenter @issue-7515 @karpenter-1-none) is an ID of the catalogue"},
		{"step without a meaning", "When a Deployment", "When one Deployment", `its step "When one Deployment \"web\" of 1 pod that requests 1 CPU is created" matches nothing`},
		{"malformed duration", "within 5m", "within 5mm", `within 5mm" matches nothing`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			root := t.TempDir()
			write(t, filepath.Join(root, "go.mod"), "module nodestorm\n", 0o600)
			for _, dir := range []string{"features", "scenarios"} {
				if err := os.CopyFS(filepath.Join(root, dir), os.DirFS("../../"+dir)); err != nil {
					t.Fatal(err)
				}
			}
			text := strings.ReplaceAll(string(right), test.old, test.new)
			if text == string(right) {
				t.Fatal("the feature does not have what is to be replaced")
			}
			write(t, filepath.Join(root, "features", feature), text, 0o600)
			t.Setenv("NODESTORM_CATALOGUE", root)
			b.refuses(t, test.want, "verify", scenario, "--out", b.out)
			b.refuses(t, test.want, "verify", "--tags", "@issue-7515", "--out", b.out)
			b.refuses(t, test.want, "run", scenario, "--target", "karpenter@v1.6.4", "--out", b.out)
		})
	}
}

// karpenterSource is a folder with all that a target of Karpenter takes from its source.
func karpenterSource(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	for _, dir := range []string{"pkg/apis/crds", "kwok/apis/crds", "kwok/charts"} {
		if err := os.MkdirAll(filepath.Join(source, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return source
}

// A target that is damaged, or made for real time only, is refused before another
// is built.
func TestUnfitTargets(t *testing.T) {
	b := newBench(t)
	source := karpenterSource(t)
	const program = "/bin/true" // no Go program
	if code, stdout, stderr := nodestorm(t, "target", "add", "karpenter@mine", program, "--source", source); code != cli.AsExpected || !strings.Contains(stdout, "karpenter@mine is ready, for --clock real") {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	refuses := func(want string) {
		t.Helper()
		code, stdout, stderr := nodestorm(t, "run", scenario, "--target", "karpenter@mine", "--out", b.out)
		if code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("status %d, stdout %q, stderr %q; want status 2 and one line with %q", code, stdout, stderr, want)
		}
		if _, err := os.Stat(b.goCalled); err == nil {
			t.Error("a build was begun")
		}
	}
	refuses("karpenter@mine was not built with the clock and is no Go program, of which alone it is known how they wait: use --clock real")

	manifests, _ := filepath.Glob(filepath.Join(b.store, "targets/karpenter/mine/*/manifest.json"))
	binaries, _ := filepath.Glob(filepath.Join(b.store, "targets/karpenter/mine/*/bin/karpenter"))
	if len(manifests) != 1 || len(binaries) != 1 {
		t.Fatalf("the store has %v and %v", manifests, binaries)
	}
	const wayOut = "; remove it with: nodestorm target rm karpenter@mine, and get it again with: nodestorm target"
	if err := os.Truncate(binaries[0], 1000); err != nil {
		t.Fatal(err)
	}
	refuses("karpenter@mine is damaged in the store (the binary's SHA-256 is ")
	refuses(wayOut)
	write(t, manifests[0], `{"name": "kar`, 0o600)
	refuses("karpenter@mine is damaged in the store (unexpected end of JSON input)" + wayOut)
	if code, stdout, _ := nodestorm(t, "target", "list"); code != cli.AsExpected || !strings.Contains(stdout, "karpenter@mine is damaged") {
		t.Errorf("status %d, the list is %q", code, stdout)
	}
	if code, _, stderr := nodestorm(t, "target", "rm", "karpenter@mine"); code != cli.AsExpected {
		t.Errorf("removing it: status %d, %q", code, stderr)
	}
	refuses("karpenter@mine is not in the store")
}

func TestRecheckDamaged(t *testing.T) {
	save := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r := run.Run{ID: scenario, Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}}} // of a nodestorm that was killed
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, run.HistoryFile), "{\"seq\":1,\n{\"seq\":2,\n", 0o600)
	}
	parent := t.TempDir()
	whole, cut := filepath.Join(parent, "whole"), filepath.Join(parent, "cut")
	save(whole)
	save(cut)
	if err := os.Truncate(filepath.Join(cut, run.File), 20); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir string
		code      int
		stderr    []string
		stdout    string
	}{
		{"history cut", whole, cli.Inconclusive, []string{"run.json has no digests", "history.ndjson, line 1: ", "history.ndjson, line 2: "}, "INCONCLUSIVE"},
		{"run.json cut", cut, cli.Usage, []string{filepath.Join(cut, run.File) + " is cut off after 20 bytes"}, ""},
		{"both", parent, cli.Inconclusive, []string{"run.json has no digests", "history.ndjson, line 1: ", "history.ndjson, line 2: ", "is cut off after 20 bytes"}, "1 inconclusive"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := nodestorm(t, "recheck", test.dir)
			if code != test.code || !strings.Contains(stdout, test.stdout) || strings.Count(stderr, "\n") != len(test.stderr) {
				t.Errorf("status %d, stdout %q, stderr %q; want status %d, %q and %d lines", code, stdout, stderr, test.code, test.stdout, len(test.stderr))
			}
			for _, want := range test.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr %q, want %q", stderr, want)
				}
			}
		})
	}
}

func TestListJSON(t *testing.T) {
	code, stdout, stderr := nodestorm(t, "list", "--json")
	var records []map[string]any
	if err := json.Unmarshal([]byte(stdout), &records); code != cli.AsExpected || stderr != "" || err != nil || len(records) == 0 {
		t.Fatalf("status %d, stderr %q, %d records, %v", code, stderr, len(records), err)
	}
	for _, r := range records {
		for _, key := range []string{"id", "title", "system", "autoscaler", "issue", "affected", "fixed", "targets"} {
			if r[key] == nil || r[key] == "" {
				t.Errorf("%v has no %s", r["id"], key)
			}
		}
	}
}

func TestCompletion(t *testing.T) {
	newBench(t)
	tests := []struct{ args, want, not string }{
		{"verify|karp", scenario + "\tA Node", ""},
		{"verify|" + scenario + "|karp", "karpenter-7515-not-ready-flap\t", scenario},
		{"run|", scenario + "\t", ""},
		{"run|" + scenario + "|--target|", "karpenter@v1.6.4\nkarpenter@v1.7.0\n", "kubernetes"},
		{"up|--clock|", "auto\nreal\n60x\n", ""},
		{"new|a-failure|--system|", "karpenter\ninstances\naws\nhetzner\nclusterapi\nexternalgrpc\ncluster-api\nbootstrap\nkubespray\n", ""},
		{"tar", "target\tGet, build", ""},
	}
	for _, test := range tests {
		code, stdout, _ := nodestorm(t, append([]string{"__complete"}, strings.Split(test.args, "|")...)...)
		if code != cli.AsExpected || !strings.Contains(stdout, test.want) || test.not != "" && strings.Contains(stdout, test.not+"\t") {
			t.Errorf("%q: status %d, %q; want %q", test.args, code, stdout, test.want)
		}
	}
	if code, stdout, _ := nodestorm(t, "completion", "bash"); code != cli.AsExpected || !strings.Contains(stdout, "__start_nodestorm") {
		t.Errorf("completion bash: status %d, %d bytes", code, len(stdout))
	}
}

// Clean finds what a killed command left, whatever TMPDIR is now, and says what it did.
func TestClean(t *testing.T) {
	newBench(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	if code, stdout, stderr := nodestorm(t, "clean"); code != cli.AsExpected || stdout != "nothing was left behind\n" || stderr != "" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	dir, _, err := process.Scratch("nodestorm-bundle-") // as bundle, report and recheck have one
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Dir(dir)
	t.Setenv("TMPDIR", t.TempDir())
	if code, stdout, stderr := nodestorm(t, "clean"); code != cli.AsExpected || stdout != "left "+dir+" alone: it is in use\n" || stderr != "" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	write(t, filepath.Join(dir, "owner"), fmt.Sprintf("%d 1\n", os.Getpid()), 0o600) // that began with the kernel
	if code, stdout, stderr := nodestorm(t, "clean"); code != cli.AsExpected || stdout != "removed "+dir+"\n" || stderr != "" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// Help of every command fits 80 columns, has an example, and names the value of a flag in capitals.
func TestHelp(t *testing.T) {
	command, value := regexp.MustCompile(`(?m)^  (\w+)  +[A-Z]`), regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+) (\S+)(?:  +|$)`)
	flags, commands := 0, 0
	var look func(args ...string)
	look = func(args ...string) {
		_, text, _ := nodestorm(t, append(args, "--help")...)
		commands++
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
		generated := len(args) == 0 || args[0] == "completion" || args[0] == "help"
		if !generated && !strings.Contains(text, "\nExamples:\n  ") {
			t.Errorf("%v has no example", args)
		}
		_, listed, _ := strings.Cut(text, "\nFlags:\n")
		for _, m := range value.FindAllStringSubmatch(listed, -1) {
			if flags++; m[2] != strings.ToUpper(m[2]) && m[2] != "FILE.feature" {
				t.Errorf("%v --%s %s", args, m[1], m[2])
			}
		}
		for _, heading := range append([]console.Heading{"Available Commands", "Additional Commands"}, console.Headings...) {
			_, listed, _ := strings.Cut(text, string(heading)+":\n")
			listed, _, _ = strings.Cut(listed, "\n\n")
			for _, m := range command.FindAllStringSubmatch(listed, -1) {
				look(append(slices.Clone(args), m[1])...)
			}
		}
	}
	look()
	look("cluster")
	if flags < 100 || commands < 40 {
		t.Errorf("%d flags of %d commands seen", flags, commands)
	}
	if _, text, _ := nodestorm(t); strings.Count(text, "\n  ") > 40 {
		t.Errorf("more than about twenty commands: %s", text)
	}
	for _, topic := range []string{"faults", "rules", "orders"} {
		look("help", topic)
	}
}
