package replay_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

// typoPlaces are where a typo is always found: what the group of each expression matches. Not among them are places where
// another word may be right as well, such as durations, words of logs and names of what a cluster makes by itself.
var typoPlaces = map[string]*regexp.Regexp{
	"verb":               regexp.MustCompile(`verb: ([a-z_]{4,}|"[^"\n]{4,}")`),
	"verb of a list":     regexp.MustCompile(`verb: \[(?:[^]\n]*, )?([a-z]{4,})\b`),
	"resource of a call": regexp.MustCompile(`source: api, (?:verb: [a-z]+, )?resource: (pods|nodes|nodeclaims|nodepools|machines|machinedeployments|deployments|configmaps)\b`),
	"source":             regexp.MustCompile(`\bsource: ([a-z]{3,})`),
	"actor":              regexp.MustCompile(`actor: (karpenter|cluster-autoscaler|kubectl|kube-scheduler|kube-controller-manager)\b`),
	"key of details":     regexp.MustCompile(`detail: \{(?:[^}\n]*, )?([a-zA-Z]{4,}):`),
	"field":              regexp.MustCompile(`(?m)^ *-? ?(statement|sequence|match|absent|capture|count|never|summary|trigger|symptom):`),
	"captured":           regexp.MustCompile(`\$([a-zA-Z]{3,})`),
	"word of a step":     regexp.MustCompile(`(?m)^ *(?:Given|When|Then|And|But) (?:[^"\n]*? )?([a-z]{4,})\b`),
	"pod of a Then":      regexp.MustCompile(`(?m)^ *Then the pod "([a-z][\w-]{2,})" is Running`),
}

// typo is a word with one letter less, one twice, two swapped, or another one.
func typo(r *rand.Rand, word string) string {
	for {
		i := r.IntN(len(word) - 1)
		changed := []string{
			word[:i] + word[i+1:], word[:i+1] + word[i:], word[:i] + string(word[i+1]) + string(word[i]) + word[i+2:],
			word[:i] + string("abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]) + word[i+1:],
		}[r.IntN(4)]
		if changed != word {
			return changed
		}
	}
}

// perPlace is how many typos of each kind are drawn.
const perPlace = 20

// TestTypos has a typo in the catalogue's own records and features, as a user's. Lint finds it before anything starts.
func TestTypos(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads some two hundred folders; run without -short")
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for place, at := range typoPlaces {
		drawn := 0
		for _, i := range r.Perm(len(catalogue.Records())) {
			if drawn == perPlace {
				break
			}
			record := catalogue.Records()[i]
			folder := folderOf(t, catalogue, record)
			file := record.ID + ".yaml"
			if strings.HasSuffix(place, "step") || strings.HasSuffix(place, "Then") {
				file = record.Feature
			}
			found := at.FindAllStringSubmatchIndex(folder[file], -1)
			if len(found) == 0 || linted(t, folder) != "" {
				continue // it has no such place, or needs a record that is not there
			}
			drawn++
			group := found[r.IntN(len(found))][2:4]
			right := folder[file][group[0]:group[1]]
			wrong := typo(r, right)
			folder[file] = folder[file][:group[0]] + wrong + folder[file][group[1]:]
			if linted(t, folder) == "" {
				t.Errorf("%s of %s: %q instead of %q is not found", place, record.ID, wrong, right)
			}
		}
		if drawn == 0 {
			t.Errorf("no %s was drawn", place)
		}
	}
}

// folderOf is a folder of a user with the record and its feature, by the names of its files.
func folderOf(t *testing.T, catalogue *scenarios.Catalogue, record scenarios.Record) map[string]string {
	t.Helper()
	files := map[string]string{}
	all := catalogue.Features()
	err := fs.WalkDir(all, path.Dir(record.Feature), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".feature") && name != record.Feature {
			return err
		}
		text, err := fs.ReadFile(all, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("../../scenarios", record.System, strings.TrimPrefix(record.ID, record.System+"-")+".yaml"))
	if err == nil { // a variant is in the file of another one
		files[record.ID+".yaml"] = string(text)
	}
	return files
}

// written is a folder with such files.
func written(t *testing.T, folder map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range folder {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// linted is what lint says of a folder.
func linted(t *testing.T, folder map[string]string) string {
	t.Helper()
	l, err := replay.Lint(t.Context(), scenarios.Empty(), []string{written(t, folder)})
	if err != nil {
		t.Fatal(err)
	}
	return l.Problems.Error()
}
