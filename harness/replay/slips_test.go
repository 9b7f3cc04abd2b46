package replay_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"nodestorm/features"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
)

// place is where a word of a folder's file is that people write by hand.
type place struct {
	kind       string
	file       string
	begin, end int
}

// prose are the fields of records that people read and nothing is judged by.
var prose = []string{"title", "summary", "mechanism", "notes", "statement", "as", "issue", "fix", "why"}

var (
	inWord     = regexp.MustCompile(`[A-Za-z0-9]{3,}`)
	inDuration = regexp.MustCompile(`\b(?:\d+(?:h|m|s|ms))+\b`)
	inStep     = regexp.MustCompile(`^ *(?:Given|When|Then|And|But) `)
	inQuotes   = regexp.MustCompile(`"([^"\n]+)"`)
	ofCapture  = regexp.MustCompile(`^\$[A-Za-z]{3,}$`)
	ofRelease  = regexp.MustCompile(`\bv?\d+\.\d+\.\d+\b`)
)

// offsets are where each line of a text begins.
func offsets(text string) (all []int) {
	for at := 0; at <= len(text); {
		all = append(all, at)
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return all
}

// yamlPlaces adds the keys and values of a document that begins at a line of a text, each line shifted by an indentation.
func yamlPlaces(add func(kind string, begin, end int), text, document string, line, indent int,
	kindOf func(path []string, key bool, value string) string) {
	var root yaml.Node
	if yaml.Unmarshal([]byte(document), &root) != nil || len(root.Content) == 0 {
		return
	}
	begins := offsets(text)
	scalar := func(n *yaml.Node, kind string) {
		if kind == "" || n.Line == 0 || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || line+n.Line-1 >= len(begins) {
			return
		}
		begin := begins[line+n.Line-1] + indent + n.Column - 1
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			begin++
		}
		if begin+len(n.Value) <= len(text) && text[begin:begin+len(n.Value)] == n.Value {
			add(kind, begin, begin+len(n.Value))
		}
	}
	var walk func(n *yaml.Node, path []string)
	walk = func(n *yaml.Node, path []string) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := append(slices.Clone(path), n.Content[i].Value)
				if slices.Contains(prose, n.Content[i].Value) {
					continue
				}
				scalar(n.Content[i], kindOf(key, true, n.Content[i].Value))
				walk(n.Content[i+1], key)
			}
		case yaml.SequenceNode:
			for _, item := range n.Content {
				walk(item, path)
			}
		case yaml.ScalarNode:
			scalar(n, kindOf(path, false, n.Value))
		}
	}
	walk(root.Content[0], nil)
}

// ofRecord is the kind of place that a key or a value of a record or of a statement is.
func ofRecord(path []string, key bool, value string) string {
	last := path[len(path)-1]
	under := ""
	if len(path) > 1 {
		under = path[len(path)-2]
	}
	at := slices.Index(path, "detail")
	switch {
	case key && last == "capture" || key && under != "capture" && at < 0:
		return "field"
	case key && under == "capture":
		return "captured"
	case key && at == len(path)-2:
		return "detail"
	case key:
		return "operator or part of a detail"
	case under == "capture":
		return "field of a capture"
	case ofCapture.MatchString(value):
		return "captured"
	case at >= 0:
		return "value of a detail"
	case slices.Contains([]string{"within", "for", "after"}, last):
		return "duration"
	case last == "affected" || last == "fixed" || last == "kubernetes":
		return "range"
	case last == "releases" || under == "targets" && last == "name":
		return "release"
	case last == "name":
		return "name in a statement"
	}
	if slices.Contains([]string{"verb", "resource", "source", "actor", "feature", "system", "autoscaler", "expected", "breaks"}, last) {
		return last
	}
	return "" // numbers, and what is of few records
}

// ofObject is the kind of place that a key or a value of an object is.
func ofObject(path []string, key bool, _ string) string {
	last := path[len(path)-1]
	switch {
	case !key && (last == "apiVersion" || last == "kind"):
		return last + " of an object"
	case key && (slices.Contains(path[:len(path)-1], "labels") || slices.Contains(path[:len(path)-1], "matchLabels") ||
		slices.Contains(path[:len(path)-1], "annotations") || slices.Contains(path[:len(path)-1], "nodeSelector")):
		return "label of an object"
	case key:
		return "field of an object"
	}
	return "value of an object"
}

// featurePlaces adds what a feature says: words of steps, what they quote, tables and objects.
func featurePlaces(add func(kind string, begin, end int), text, id string) {
	lines := strings.Split(text, "\n")
	begins := offsets(text)
	within := func(r *regexp.Regexp, kind string, i int, group int) {
		for _, m := range r.FindAllStringSubmatchIndex(lines[i], -1) {
			add(kind, begins[i]+m[2*group], begins[i]+m[2*group+1])
		}
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "@"):
			within(regexp.MustCompile("@"+regexp.QuoteMeta(id)+`\b`), "ID as a tag", i, 0) // the other tags judge nothing
		case inStep.MatchString(line):
			within(inQuotes, "quoted in a step", i, 1)
			within(inDuration, "duration of a step", i, 0)
			within(ofRelease, "release in a step", i, 0)
			bare := inQuotes.ReplaceAllStringFunc(line, func(q string) string { return strings.Repeat(" ", len(q)) })
			for _, m := range inWord.FindAllStringIndex(bare, -1) {
				if !strings.ContainsAny(bare[m[0]:m[1]], "0123456789") {
					add("word of a step", begins[i]+m[0], begins[i]+m[1])
				}
			}
		case strings.HasPrefix(trimmed, "|"):
			for _, m := range regexp.MustCompile(`[^|\s][^|]*[^|\s]`).FindAllStringIndex(line, -1) {
				kind := "cell of a table"
				add(kind, begins[i]+m[0], begins[i]+m[1])
			}
		case strings.HasPrefix(trimmed, `"""`):
			indent := strings.Index(line, `"""`)
			first := i + 1
			var document []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), `"""`); i++ {
				document = append(document, lines[i][min(indent, len(lines[i])):])
			}
			kinds := ofRecord
			if strings.Contains(strings.Join(document, "\n"), "apiVersion:") {
				kinds = ofObject
			} else if strings.HasPrefix(strings.Join(document, "\n"), "#cloud-config") {
				continue // a script
			}
			at := first
			for part := range strings.SplitSeq(strings.Join(document, "\n"), "\n---\n") {
				yamlPlaces(add, text, part, at, indent, kinds)
				at += strings.Count(part, "\n") + 2
			}
		}
	}
}

// noNames are kinds of places whose words are no names, though a name may be spelled like one.
var noNames = []string{"word of a step", "field", "system", "autoscaler", "expected", "feature", "field of an object"}

// placesOf are those of a folder. A name that stands once in all of it is free: another one is as right.
func placesOf(folder map[string]string, record, feature string) (all []place) {
	for file, text := range map[string]string{record: folder[record], feature: folder[feature]} {
		add := func(kind string, begin, end int) {
			if end-begin >= 2 {
				all = append(all, place{kind, file, begin, end})
			}
		}
		if file == feature {
			featurePlaces(add, text, strings.TrimSuffix(record, ".yaml"))
		} else {
			yamlPlaces(add, text, text, 0, 0, ofRecord)
		}
	}
	word := func(p place) string { return folder[p.file][p.begin:p.end] }
	count := map[string]int{}
	for _, p := range all {
		if !slices.Contains(noNames, p.kind) {
			count[word(p)]++
		}
	}
	free := []string{"quoted in a step", "value of an object", "cell of a table", "label of an object", "name in a statement"}
	all = slices.DeleteFunc(all, func(p place) bool { return count[word(p)] < 2 && slices.Contains(free, p.kind) })
	slices.SortFunc(all, func(a, b place) int {
		return strings.Compare(a.kind+a.file, b.kind+b.file)*1_000_000 + a.begin - b.begin
	})
	return all
}

// perKind is how many typos are drawn of each kind of place: some two hundred in all.
const perKind = 8

// leastFound is how many of a hundred typos lint finds at least, over all kinds of places alike. What it cannot find is mostly a
// duration that is as good as another. Of sixteen draws the worst found 96 %, and the average was 98 %; that changes with the catalogue.
const leastFound = 95

// seeds is how many draws have to hold it, each in some two seconds.
const seeds = 8

// slip is a place of a record's folder with a typo in it.
type slip struct {
	place
	record       int
	right, wrong string
	folder       map[string]string // with the typo
}

// line is the one with the typo.
func (s slip) line() string {
	text := s.folder[s.file]
	_, line, _ := strings.Cut(text[:s.begin], "\n")
	line = line[strings.LastIndex(line, "\n")+1:]
	rest, _, _ := strings.Cut(text[s.begin:], "\n")
	return strings.TrimSpace(line + rest)
}

// TestSlips draws typos over everything that is written in the catalogue's records and features, as many of each kind of
// place, and has lint find them. With NODESTORM_RUNS, no record with one that is not found calls a run healthy that shows
// the failure.
func TestSlips(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads some three hundred folders; run without -short")
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	byKind := slipsOf(t, catalogue)
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			drawn, missed := drawSlips(t, byKind, seed)
			if drawn < 180 {
				t.Errorf("only %d were drawn", drawn)
			}
			for _, s := range missed {
				t.Logf("not found: %s of %s: %q instead of %q in %q", s.kind, s.file, s.wrong, s.right, s.line())
			}
			share := 100 * (drawn - len(missed)) / drawn
			t.Logf("%d of %d are found, %d %%", drawn-len(missed), drawn, share)
			if share < leastFound {
				t.Errorf("lint finds %d %% of typos, want %d", share, leastFound)
			}
			t.Run("none is healthy", func(t *testing.T) { judgeSlips(t, catalogue, missed) })
		})
	}
}

// slipsOf are the places of all folders in which one may be drawn, by their kind.
func slipsOf(t *testing.T, catalogue *scenarios.Catalogue) map[string][]slip {
	t.Helper()
	byKind := map[string][]slip{}
	for i, record := range catalogue.Records() {
		folder := folderOf(t, catalogue, record)
		if folder[record.ID+".yaml"] == "" {
			continue // a variant
		}
		if wrong := linted(t, folder); wrong != "" {
			if !strings.Contains(wrong, "kin") && !strings.Contains(wrong, "is not there") { // which it needs
				t.Errorf("%s is right, and lint says: %s", record.ID, wrong)
			}
			continue
		}
		for _, p := range placesOf(folder, record.ID+".yaml", record.Feature) {
			byKind[p.kind] = append(byKind[p.kind], slip{place: p, record: i, folder: folder})
		}
	}
	return byKind
}

// sameRange reports whether two ranges differ by blanks or the v of a release, which mean nothing.
func sameRange(a, b string) bool {
	bare := strings.NewReplacer(">=v", ">=", "<v", "<")
	of := func(text string) string { return bare.Replace(strings.ReplaceAll(text, " ", "")) }
	return of(a) == of(b)
}

func drawSlips(t *testing.T, byKind map[string][]slip, seed uint64) (drawn int, missed []slip) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		for range min(perKind, len(byKind[kind])) {
			s := byKind[kind][r.IntN(len(byKind[kind]))]
			text := s.folder[s.file]
			found := inWord.FindAllStringIndex(text[s.begin:s.end], -1)
			if len(found) > 0 { // a word of what has several
				at := found[r.IntN(len(found))]
				s.begin, s.end = s.begin+at[0], s.begin+at[1]
			}
			s.right = text[s.begin:s.end]
			for s.wrong = typo(r, s.right); s.kind == "range" && sameRange(s.right, s.wrong); {
				s.wrong = typo(r, s.right)
			}
			s.folder = maps.Clone(s.folder)
			s.folder[s.file] = text[:s.begin] + s.wrong + text[s.end:]
			drawn++
			if linted(t, s.folder) == "" {
				missed = append(missed, s)
			}
		}
	}
	return drawn, missed
}

// judgeSlips judges stored runs of affected releases by the records with a typo.
func judgeSlips(t *testing.T, catalogue *scenarios.Catalogue, missed []slip) {
	runs := os.Getenv("NODESTORM_RUNS")
	if runs == "" {
		t.Skip("NODESTORM_RUNS names no runs")
	}
	judged := 0
	for _, s := range missed {
		record := catalogue.Records()[s.record]
		if !strings.HasSuffix(s.file, ".yaml") {
			continue // what a feature says was played
		}
		for _, target := range record.Targets {
			dir := filepath.Join(runs, record.ID, target.Name)
			if _, err := os.Stat(filepath.Join(dir, run.File)); target.Expected != scenarios.Reproduced || err != nil {
				continue
			}
			of := scenarios.Empty()
			if err := of.Add(replay.ReadFolder(written(t, s.folder)).Own); err != nil {
				t.Fatal(err)
			}
			again, err := run.Recheck(t.Context(), dir, kept.Records(of))
			if err != nil {
				t.Errorf("%s: %v", dir, err)
				continue
			}
			judged++
			if again.Now.Verdict == verdict.Healthy {
				t.Errorf("%s on %s is healthy with %q instead of %q (%s)", record.ID, target.Name, s.wrong, s.right, s.kind)
			}
		}
	}
	t.Logf("%d runs were judged", judged)
}
