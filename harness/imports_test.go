package harness_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImports keeps who imports whom as ARCHITECTURE.md has it.
func TestImports(t *testing.T) {
	imports := listImports(t)
	if len(imports["nodestorm/harness/world"]) == 0 || len(imports["nodestorm/scenarios"]) == 0 {
		t.Fatalf("packages of this module are missing among the %d listed", len(imports))
	}
	for _, wrong := range wrongImports(imports) {
		t.Error(wrong)
	}
}

func TestWrongImports(t *testing.T) {
	for _, test := range []struct {
		imports map[string][]string
		want    string // part of the only one; empty for none
	}{
		{map[string][]string{"nodestorm/sim/machine/node": {"nodestorm/sim/fault", "fmt"}, "nodestorm/harness/world": {"nodestorm/sim/machine/node"}}, ""},
		{map[string][]string{"nodestorm/sim/machine/node": {"nodestorm/fakecloud"}}, "nodestorm/sim/machine/node imports nodestorm/fakecloud"},
		{map[string][]string{"nodestorm/reports/story": {"nodestorm/harness/run"}}, "nodestorm/reports/story imports"},
		{map[string][]string{"nodestorm/harness/cloud/machines": {"github.com/cucumber/godog"}}, "nodestorm/harness/cloud/machines imports github.com/cucumber/godog"},
		{map[string][]string{"nodestorm/fakecloud/hcloud": {"k8s.io/client-go/rest"}}, "nodestorm/fakecloud/hcloud imports k8s.io/client-go/rest"},
		{map[string][]string{"nodestorm/harness/world": {"nodestorm/harness/world/process"}, "nodestorm/harness/world/process": {"nodestorm/scenarios"}}, "nodestorm/harness/world needs nodestorm/scenarios"},
		{map[string][]string{"nodestorm/harness/replay": {"nodestorm/harness/program/karpenter"}},
			"nodestorm/harness/replay imports nodestorm/harness/program/karpenter"},
		{map[string][]string{"nodestorm/harness/replay": {"nodestorm/harness/program/programs"}}, ""},
		{map[string][]string{"nodestorm/harness/run/then": {"nodestorm/harness/sentences/words"}, "nodestorm/harness/sentences/words": {"fmt"}}, ""},
		{map[string][]string{"nodestorm/harness/run/then": {"nodestorm/harness/sentences"}, "nodestorm/harness/sentences": {}},
			"nodestorm/harness/run/then needs nodestorm/harness/sentences"},
		{map[string][]string{"nodestorm/harness/run": {"nodestorm/harness/builds"}, "nodestorm/harness/builds": {"nodestorm/harness/world/process"}},
			"nodestorm/harness/run needs nodestorm/harness/world/process"},
		{map[string][]string{"nodestorm/harness/run/summary": {"nodestorm/sim/history"}, "nodestorm/sim/history": {"k8s.io/client-go/rest"}},
			"nodestorm/harness/run/summary needs k8s.io/client-go/rest"},
		{map[string][]string{"nodestorm/harness/builds/buildstore": {"nodestorm/harness/program/manifest"}, "nodestorm/harness/program/manifest": {"nodestorm/harness/program/installer"}}, "nodestorm/harness/builds/buildstore needs nodestorm/harness/program/installer"},
	} {
		wrong := wrongImports(test.imports)
		if len(wrong) == 0 && test.want == "" {
			continue
		}
		if len(wrong) != 1 || test.want == "" || !strings.Contains(wrong[0], test.want) {
			t.Errorf("%v: %q, want %q", test.imports, wrong, test.want)
		}
	}
}

// rooms are the folders of the module and those of its folders that each may import.
var rooms = map[string][]string{
	"sim":       {"sim"},
	"fakecloud": {"fakecloud", "sim"},
	"reports":   {"reports", "sim"},
	"features":  {"scenarios"},
	"scenarios": {"scenarios", "sim"},
	"harness":   {"harness", "features", "scenarios", "reports", "fakecloud", "sim"},
}

// apart are packages of one room that must not need each other, not even through others.
var apart = []struct{ p, from, why string }{
	{"nodestorm/harness/world", "nodestorm/scenarios", "a world is the same whatever is replayed in it"},
	{"nodestorm/harness/run", "nodestorm/reports", "a stored run is a record, and what people read of it is harness/run/summary's and the reports'"},
	{"nodestorm/harness/builds/buildstore", "nodestorm/harness/program/installer", "the store has builds, and what a name stands for is said where targets are named"},
}

// readers are what judges and reads runs, with all below them.
var readers = []string{"nodestorm/harness/run", "nodestorm/harness/night/shard", "nodestorm/harness/night/store"}

// single reports whether a package is that of one program or cloud, which only the registries know.
func single(p string) bool {
	for parent, shared := range map[string][]string{
		"nodestorm/harness/program": {"deploy", "manifest", "programs"}, "nodestorm/harness/cloud": {"all", "live", "machines"},
	} {
		if name, is := strings.CutPrefix(p, parent+"/"); is {
			return !slices.Contains(shared, name)
		}
	}
	return false
}

// pure reports whether what judges and reads runs may need a package: none of what makes them.
func pure(p string) bool {
	switch {
	case under(p, "k8s.io/client-go"), under(p, "github.com/cucumber/godog"):
		return false
	case under(p, "nodestorm/harness"):
		return reads(p) ||
			under(p, "nodestorm/harness/sentences/words") ||
			slices.Contains([]string{"nodestorm/harness/builds", "nodestorm/harness/night/bucket"}, p)
	}
	return roomOf(p) != "fakecloud" && p != "nodestorm/sim/time/clock" && !under(p, "nodestorm/sim/machine")
}

func reads(p string) bool {
	return slices.ContainsFunc(readers, func(reader string) bool { return under(p, reader) })
}

// wrongImports says in a sentence each what must not be.
func wrongImports(imports map[string][]string) (wrong []string) {
	for p, imported := range imports {
		room := roomOf(p)
		for _, other := range imported {
			var ok bool
			switch {
			case single(other) && (under(p, "nodestorm/harness/sentences") || under(p, "nodestorm/harness/replay")):
			case roomOf(other) != "":
				ok = slices.Contains(rooms[room], roomOf(other))
			case under(other, "github.com/cucumber/godog"):
				ok = under(p, "nodestorm/harness/sentences") || under(p, "nodestorm/harness/replay")
			case under(other, "k8s.io/client-go"): // the cloud's truth is not the cluster's
				ok = room != "fakecloud"
			default:
				ok = true
			}
			if !ok {
				wrong = append(wrong, p+" imports "+other)
			}
		}
	}
	for _, apart := range apart {
		if needs(imports, apart.p, apart.from) {
			wrong = append(wrong, apart.p+" needs "+apart.from+": "+apart.why)
		}
	}
	for p := range imports {
		if !reads(p) {
			continue
		}
		if impure := first(imports, p, map[string]bool{}, func(p string) bool { return !pure(p) }); impure != "" {
			wrong = append(wrong, p+" needs "+impure+": a stored run is judged and read without what makes runs")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// TestOneGit keeps all calls of git in one package, which runs nothing of a repository's own.
func TestOneGit(t *testing.T) {
	calls := regexp.MustCompile(`exec\.Command(Context)?\([^)]*"git"|[(,] "", "git",`)
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), file)
		if calls.Match(text) && path.Dir(file) != "harness/builds/repository" {
			t.Errorf("%s calls git: harness/builds/repository does so for all", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// mostNeeded is how many of our packages what judges a stored run may need, itself among them.
const mostNeeded = 15

// TestJudgeIsSmall keeps what judges a stored run apart from the rest of the house.
func TestJudgeIsSmall(t *testing.T) {
	seen := map[string]bool{}
	first(listImports(t), "nodestorm/harness/run", seen, func(string) bool { return false })
	needed := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(p string) bool { return roomOf(p) == "" })
	if len(needed) > mostNeeded || len(needed) < 5 {
		t.Errorf("harness/run needs %d of our packages, want %d at most: %q", len(needed), mostNeeded, needed)
	}
}

// mostPlayed is how many of our packages the player of steps may import. What steps can say, what is wrong with them and
// what people read about them are packages below it.
const mostPlayed = 10

// TestPlayerIsSmall keeps the player of steps apart from the language that they are written in.
func TestPlayerIsSmall(t *testing.T) {
	imported := slices.DeleteFunc(listImports(t)["nodestorm/harness/sentences"], func(p string) bool { return roomOf(p) == "" })
	if len(imported) > mostPlayed || len(imported) < 5 {
		t.Errorf("harness/sentences imports %d of our packages, want %d at most: %q", len(imported), mostPlayed, imported)
	}
}

func needs(imports map[string][]string, p, other string) bool {
	return first(imports, p, map[string]bool{}, func(p string) bool { return p == other }) != ""
}

// first is a package that is, of those that p imports or that they do, or "".
func first(imports map[string][]string, p string, seen map[string]bool, is func(string) bool) string {
	seen[p] = true
	for _, next := range imports[p] {
		if is(next) {
			return next
		}
		if !seen[next] {
			if found := first(imports, next, seen, is); found != "" {
				return found
			}
		}
	}
	return ""
}

// roomOf is "" for what is not ours.
func roomOf(p string) string {
	path, ours := strings.CutPrefix(p, "nodestorm/")
	if !ours {
		return ""
	}
	room, _, _ := strings.Cut(path, "/")
	return room
}

func under(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

// listImports are those of every package of the module, tests left out.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "nodestorm/...")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing imports: %v\n%s", err, &said)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports[words[0]] = words[1:]
	}
	return imports
}
