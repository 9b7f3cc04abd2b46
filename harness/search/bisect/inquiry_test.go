package bisect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run/verdict"
)

// made is a made-up repository of Cluster Autoscaler, whose program is one word: what a
// replay on it shows.
type made struct {
	t   *testing.T
	dir string
}

func (m made) git(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", m.dir, "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "merge.conflictStyle=merge"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit is one whose program does what the word says, and that has the tag if there is one.
func (m made) commit(subject, word, tag string) {
	m.t.Helper()
	for file, text := range map[string]string{"go.mod": "module k8s.io/autoscaler/cluster-autoscaler\n", "main.go": word, "other.go": subject} {
		path := filepath.Join(m.dir, "cluster-autoscaler", file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			m.t.Fatal(err)
		}
	}
	m.git("add", ".")
	m.git("commit", "-q", "--allow-empty", "-m", subject)
	if tag != "" {
		m.git("tag", "cluster-autoscaler-"+tag)
	}
}

// autoscaler has 1.0.0 to 1.3.0 on main; 1.2.1 with a backport on a branch from 1.2.0.
// The failure comes with "breaks" after 1.1.0 and goes with "mends" before 1.3.0.
func autoscaler(t *testing.T) made {
	m := made{t, t.TempDir()}
	m.git("init", "-q", "-b", "main")
	m.commit("begin", "healthy", "1.0.0")
	m.commit("more", "healthy", "1.1.0")
	m.commit("later", "healthy", "")
	m.commit("breaks", "reproduced", "")
	m.commit("does not build", "", "")
	m.commit("goes on", "reproduced", "1.2.0")
	m.git("tag", "cluster-autoscaler-chart-1.2.6")
	m.git("tag", "cluster-autoscaler-1.2.9-rc.1")
	m.commit("still", "reproduced", "1.2.5")
	m.commit("mends", "healthy", "")
	m.commit("after", "healthy", "1.3.0")
	m.git("checkout", "-q", "-b", "release-1.2", "cluster-autoscaler-1.2.0")
	m.commit("backport", "healthy", "1.2.1")
	m.git("checkout", "-q", "main")
	return m
}

// word is a repository's player: it plays no world, but reads what the program does.
type word struct {
	made
	asked *[]string
	run   string // a folder
	stop  int    // after how many it is interrupted; 0: never
}

func (w word) Build(_ context.Context, r buildstore.Recipe) (builds.Target, error) {
	if w.stop > 0 && len(*w.asked) == w.stop {
		return builds.Target{}, &buildstore.NoCheckoutError{}
	}
	*w.asked = append(*w.asked, r.At)
	if w.of(r.At) == "" {
		return builds.Target{}, errors.New("made up")
	}
	return builds.Target{Manifest: builds.Manifest{Source: builds.Source{Commit: r.At}}}, nil
}

func (w word) of(commit string) string { return w.git("show", commit+":cluster-autoscaler/main.go") }

func (w word) Check(context.Context, builds.Target) error { return nil }

func (w word) Play(_ context.Context, t builds.Target) (Played, error) {
	return Played{Verdict: verdict.Verdict(w.of(t.Source.Commit)), Reason: "made up", Run: w.run}, nil
}

func options(t *testing.T, m made, good, bad string) (Options, *bytes.Buffer) {
	var said bytes.Buffer
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("hetzner-8402-min-size")
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Subject: Subject{Record: record, From: buildstore.Request{Dir: m.dir}}, Good: good, Bad: bad, Rules: Rules{Healthy: 1, Doubts: 3},
		Out: t.TempDir(), Store: store, Player: word{made: m, asked: new([]string), run: t.TempDir()},
		Say: func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) },
	}, &said
}

// What broke and what mended is found in a repository, also where it was done on the
// branch of the older release.
func TestBisectRepository(t *testing.T) {
	m := autoscaler(t)
	const of = "cluster-autoscaler-"
	for _, tc := range []struct {
		name, good, bad string
		releases        bool
		says            []string
	}{
		{"broken", of + "1.0.0", of + "1.2.0", false, []string{"broken by commit ", "\n  breaks\n"}},
		{"broken, releases", of + "1.0.0", of + "1.2.0", true, []string{"broken in release cluster-autoscaler-1.2.0 (", "the last before it is cluster-autoscaler-1.1.0 ("}},
		{"mended", of + "1.3.0", of + "1.2.0", false, []string{"mended by commit ", "\n  mends\n"}},
		{"mended in a backport", of + "1.2.1", of + "1.2.0", false, []string{"mended by commit ", "\n  backport\n"}},
		{"on the branch of the older", of + "1.2.1", of + "1.2.5", false, []string{"mended by commit ", "\n  backport\n", "note: where the branches of cluster-autoscaler-1.2.1 ("}},
		{"commits", "main~1", "main~2", false, []string{"mended by commit ", "\n  mends\n"}},
		{"by words", "main", of + "1.2.0", false, []string{"mended by commit ", "\n  mends\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, said := options(t, m, tc.good, tc.bad)
			o.Releases = tc.releases
			q, a, err := bisected(t, o)
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			for _, want := range tc.says {
				if !strings.Contains(a, want) {
					t.Errorf("it does not say %q:\n%s\n%s", want, a, said)
				}
			}
			if tc.releases && strings.Contains(a, "goes on") {
				t.Errorf("the last commit of a release is reported as the change:\n%s", a)
			}
			for _, c := range q.points {
				if strings.Contains(c.name, "chart") || strings.Contains(c.name, "rc") {
					t.Errorf("%s is no release of it", c.name)
				}
			}
		})
	}
}

// What a search would build is known before it begins, and at most that is built.
func TestOutlook(t *testing.T) {
	m := autoscaler(t)
	const of = "cluster-autoscaler-"
	for _, tc := range []struct {
		name, good, bad string
		releases, every bool
		between         int
	}{
		{"releases", of + "1.0.0", of + "1.2.0", true, false, 1},
		{"all releases", of + "1.0.0", of + "1.2.5", true, true, 3},
		{"releases, then commits", of + "1.0.0", of + "1.2.0", false, false, 3},
		{"neighbours", "main~1", "main~2", false, false, 0},
	} {
		o, said := options(t, m, tc.good, tc.bad)
		o.Releases, o.Every = tc.releases, tc.every
		q, err := Open(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		ends, between, err := q.Outlook(t.Context())
		if err != nil || len(ends) != 2 || ends[0].Way != Built || between != tc.between {
			t.Errorf("%s: %+v, %d between, %v; want %d", tc.name, ends, between, err, tc.between)
		}
		asked := o.Player.(word).asked
		if _, _, err := bisected(t, o); err != nil || len(*asked) > 2+between {
			t.Errorf("%s: %d were built, of %d between the ends, %v (%s)", tc.name, len(*asked), between, err, said)
		}
	}
}

// bisected is the answer in words.
func bisected(t *testing.T, o Options) (*Inquiry, string, error) {
	t.Helper()
	q, err := Open(t.Context(), o)
	if err != nil {
		return nil, "", err
	}
	if err := q.Remember(); err != nil {
		return nil, "", err
	}
	a, err := q.Find(t.Context())
	if err != nil {
		return nil, "", err
	}
	return q, a.Text(), nil
}

// A release with a backport is healthy between two that are not: no single one since when.
func TestBisectNotMonotonic(t *testing.T) {
	m := autoscaler(t)
	m.git("checkout", "-q", "cluster-autoscaler-1.2.0")
	m.commit("comes again", "reproduced", "1.4.0")
	m.git("checkout", "-q", "main")
	o, said := options(t, m, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.4.0")
	o.Every = true
	_, a, err := bisected(t, o)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"note: the releases change 5 times", "ASKED"} {
		if !strings.Contains(a, want) {
			t.Errorf("it does not say %q:\n%s", want, a)
		}
	}
}

// A second call asks nothing that the first has learned.
func TestBisectResumes(t *testing.T) {
	m := autoscaler(t)
	out := t.TempDir()
	var whole, first, second []string
	for _, tc := range []struct {
		asked *[]string
		stop  int
	}{{&first, 3}, {&second, 100}} {
		o, said := options(t, m, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
		o.Out = out
		o.Player = word{m, tc.asked, out, tc.stop}
		if _, _, err := bisected(t, o); (err != nil) != (tc.stop == 3) {
			t.Fatalf("%v: %s", err, said)
		}
		if tc.stop != 3 && !strings.Contains(said.String(), "going on with 3 answers learned earlier") {
			t.Errorf("it does not say that it goes on: %s", said)
		}
	}
	o, _ := options(t, m, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	o.Player = word{made: m, asked: &whole, run: out}
	if _, _, err := bisected(t, o); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(append(first, second...), "\n"), strings.Join(whole, "\n"); got != want {
		t.Errorf("in two calls it asked\n%s\nin one\n%s", got, want)
	}
}

func TestBisectEnds(t *testing.T) {
	m := autoscaler(t)
	m.git("checkout", "-q", "--orphan", "other")
	m.commit("another story", "healthy", "")
	const of = "cluster-autoscaler-"
	for _, tc := range []struct{ good, bad, says string }{
		{of + "1.0", of + "1.2.0", `--good: ` + m.dir + ` has no ref "cluster-autoscaler-1.0", did you mean "cluster-autoscaler-1.`},
		{"1.0.0", of + "1.2.0", `did you mean "cluster-autoscaler-1.0.0"?`},
		{"main", "other~0", "neither of --good main and --bad other~0 comes before the other"},
		{"main", "main~0", "--good main and --bad main~0 are the same commit"},
		{"main", "-other", `"-other" is no ref`},
		{of + "1.2.0", of + "1.1.0", "they are the wrong way round"},
		{of + "1.1.0", of + "1.0.0", "are both healthy: nothing changes between them"},
	} {
		o, _ := options(t, m, tc.good, tc.bad)
		if _, _, err := bisected(t, o); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s, %s: %v, want %q", tc.good, tc.bad, err, tc.says)
		}
	}
}

func TestAround(t *testing.T) {
	releases := []string{"v1.0.8", "v1.6.4", "v1.7.0", "v1.14.1"}
	for version, want := range map[string]string{
		"v1.7.99": "; next to it are v1.7.0 and v1.14.1", "v0.9.0": "; the oldest is v1.0.8", "v2.0.0": "; the newest is v1.14.1", "1.7.0": `, did you mean "v1.7.0"?`,
	} {
		if got := neighbours(version, releases); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// opened is an inquiry about the made-up repository, with what it remembers.
func opened(t *testing.T, o Options) (*Inquiry, error) {
	t.Helper()
	q, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q, q.Remember()
}

// What was learned and cannot be read is not taken for nothing.
func TestBisectDamagedState(t *testing.T) {
	o, _ := options(t, autoscaler(t), "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	q, err := opened(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(q.memory.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := opened(t, o); err == nil || !strings.Contains(err.Error(), "--fresh forgets it") {
		t.Errorf("%v", err)
	}
	o.Anew = true
	if _, err := opened(t, o); err != nil {
		t.Errorf("anew: %v", err)
	}
}

// Another question has another memory, and what could not be decided is tried again.
func TestBisectRemembersAnswers(t *testing.T) {
	o, _ := options(t, autoscaler(t), "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	remember := func() *Inquiry {
		t.Helper()
		q, err := opened(t, o)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	first := remember()
	if err := first.learned(Trial{ID: "cannot be built"}); err != nil {
		t.Fatal(err)
	}
	if again := remember(); again.Dir() != first.Dir() || len(again.memory.Trials) != 0 {
		t.Errorf("it goes on with %v in %s", again.memory.Trials, again.Dir())
	}
	o.Conditions = []string{"another record"}
	second := remember()
	o.Conditions = append(o.Conditions, builds.Instances)
	if third := remember(); second.Dir() == first.Dir() || third.Dir() == second.Dir() {
		t.Errorf("of other questions the memories are %s, %s and %s", first.Dir(), second.Dir(), third.Dir())
	}
}

// What is called the last before a commit is right before it, or the words are others.
func TestParentOf(t *testing.T) {
	q := &Inquiry{hunt: &Hunt{Old: verdict.Healthy, New: verdict.Reproduced, Known: map[string]Trial{
		"older": {Verdict: verdict.Healthy}, "asked": {Verdict: verdict.Healthy}, "merge": {Verdict: verdict.Reproduced}, "topic": {Verdict: verdict.Reproduced},
	}}}
	for _, test := range []struct {
		name   string
		points []Point
		first  string
		want   string
		parted bool
	}{
		{"its parent", []Point{{ID: "merge", Parents: []string{"asked"}}, {ID: "asked", Parents: []string{"older"}}}, "merge", "asked", false},
		{"the older end is its parent", []Point{{ID: "merge", Parents: []string{"older"}}}, "merge", "older", false},
		{"another branch was asked", []Point{{ID: "merge", Parents: []string{"asked", "topic"}}, {ID: "asked"}, {ID: "topic", Parents: []string{"fork"}}}, "topic", "asked", true},
		{"a branch from before the older end", []Point{{ID: "merge", Parents: []string{"older", "topic"}}, {ID: "topic", Parents: []string{"fork"}}}, "topic", "older", true},
	} {
		if got, parted := q.parentOf(test.points, []string{test.first}, "older"); got != test.want || parted != test.parted {
			t.Errorf("%s: %s, parted %v, want %s, %v", test.name, got, parted, test.want, test.parted)
		}
	}
	a := &Answer{Change: "broken", Found: "commit", First: []string{"topic"}, Before: "older", Parted: true}
	if got, want := a.outcome(), "broken by commit topic; the newest asked that is as before it is older"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
