package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/bisect"
	"nodestorm/scenarios"
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
func (m made) word(asked *[]string) func(context.Context, bisect.Point) (bisect.Trial, error) {
	return func(_ context.Context, p bisect.Point) (bisect.Trial, error) {
		*asked = append(*asked, p.ID)
		word := m.git("show", p.ID+":cluster-autoscaler/main.go")
		return bisect.Trial{Name: p.ID[:12], Verdict: verdict.Verdict(word), Reason: "made up"}, nil
	}
}

func newBisection(t *testing.T, dir, good, bad string) (*bisection, *bytes.Buffer) {
	var said bytes.Buffer
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := scenarios.Load()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("hetzner-8402-min-size")
	if err != nil {
		t.Fatal(err)
	}
	e := &env{stdout: &said, stderr: &said, store: store}
	s := &session{env: e, catalogue: catalogue, out: t.TempDir(), status: newStatus(&said)}
	return &bisection{session: s, source: source{dir: dir}, good: good, bad: bad, record: record, points: map[string]candidate{}}, &said
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
			b, said := newBisection(t, m.dir, tc.good, tc.bad)
			b.releases = tc.releases
			var asked []string
			a, err := bisected(t, b, m.word(&asked))
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			for _, want := range tc.says {
				if !strings.Contains(a, want) {
					t.Errorf("it does not say %q:\n%s\n%s", want, a, said)
				}
			}
			if tc.releases && strings.Contains(a, "goes on") {
				t.Errorf("the last commit of a release is told as the change:\n%s", a)
			}
			for _, c := range b.points {
				if strings.Contains(c.name, "chart") || strings.Contains(c.name, "rc") {
					t.Errorf("%s is no release of it", c.name)
				}
			}
		})
	}
}

// bisected is the answer in words, without runs.
func bisected(t *testing.T, b *bisection, try func(context.Context, bisect.Point) (bisect.Trial, error)) (string, error) {
	t.Helper()
	at, err := b.ends(t.Context())
	if err != nil {
		return "", err
	}
	if err := b.remember(at); err != nil {
		return "", err
	}
	b.hunt = &bisect.Hunt{Try: try, Known: b.state.known(), Learned: b.learned, Progress: b.progress}
	found, err := b.find(t.Context(), at)
	if err != nil {
		return "", err
	}
	a, err := b.answer(t.Context(), at, found)
	return a.text(), err
}

// A release with a backport is healthy between two that are not: no single one since when.
func TestBisectNotMonotonic(t *testing.T) {
	m := autoscaler(t)
	m.git("checkout", "-q", "cluster-autoscaler-1.2.0")
	m.commit("comes again", "reproduced", "1.4.0")
	m.git("checkout", "-q", "main")
	b, said := newBisection(t, m.dir, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.4.0")
	b.every = true
	var asked []string
	a, err := bisected(t, b, m.word(&asked))
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
		b, said := newBisection(t, m.dir, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
		b.out = out
		ask := m.word(tc.asked)
		_, err := bisected(t, b, func(ctx context.Context, p bisect.Point) (bisect.Trial, error) {
			if len(*tc.asked) == tc.stop {
				return bisect.Trial{}, context.Canceled
			}
			tr, err := ask(ctx, p)
			tr.Played = []bisect.Played{{Verdict: tr.Verdict, Run: out}}
			return tr, err
		})
		if (err != nil) != (tc.stop == 3) {
			t.Fatalf("%v: %s", err, said)
		}
		if tc.stop != 3 && !strings.Contains(said.String(), "going on with 3 answers learned earlier") {
			t.Errorf("it does not say that it goes on: %s", said)
		}
	}
	b, _ := newBisection(t, m.dir, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	if _, err := bisected(t, b, m.word(&whole)); err != nil {
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
		b, _ := newBisection(t, m.dir, tc.good, tc.bad)
		var asked []string
		if _, err := bisected(t, b, m.word(&asked)); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s, %s: %v, want %q", tc.good, tc.bad, err, tc.says)
		}
	}
}

func TestAround(t *testing.T) {
	releases := []string{"v1.0.8", "v1.6.4", "v1.7.0", "v1.14.1"}
	for version, want := range map[string]string{
		"v1.7.99": "; next to it are v1.7.0 and v1.14.1", "v0.9.0": "; the oldest is v1.0.8", "v2.0.0": "; the newest is v1.14.1", "1.7.0": `, did you mean "v1.7.0"?`,
	} {
		if got := around(version, releases); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// What was learned and cannot be read is not taken for nothing.
func TestBisectDamagedState(t *testing.T) {
	m := autoscaler(t)
	b, _ := newBisection(t, m.dir, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	out := b.out
	at, err := b.ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.remember(at); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.state.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.out = out
	if err := b.remember(at); err == nil || !strings.Contains(err.Error(), "--anew forgets it") {
		t.Errorf("%v", err)
	}
	b.out, b.anew = out, true
	if err := b.remember(at); err != nil {
		t.Errorf("anew: %v", err)
	}
}

// Another question has another memory, and what could not be told is tried again.
func TestBisectRemembersAnswers(t *testing.T) {
	m := autoscaler(t)
	b, _ := newBisection(t, m.dir, "cluster-autoscaler-1.0.0", "cluster-autoscaler-1.2.0")
	out := b.out
	at, err := b.ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	remember := func() string {
		t.Helper()
		b.out = out
		if err := b.remember(at); err != nil {
			t.Fatal(err)
		}
		return b.state.dir
	}
	first := remember()
	if err := b.learned(bisect.Trial{ID: "cannot be built"}); err != nil {
		t.Fatal(err)
	}
	if again := remember(); again != first || len(b.state.Trials) != 0 {
		t.Errorf("it goes on with %v in %s", b.state.Trials, again)
	}
	b.record.Symptom.Statement += ", and more"
	second := remember()
	b.cloud = builds.Instances
	if third := remember(); second == first || third == second {
		t.Errorf("of other questions the memories are %s, %s and %s", first, second, third)
	}
}

// What is called the last before a commit is right before it, or the words are others.
func TestParentOf(t *testing.T) {
	b := &bisection{hunt: &bisect.Hunt{Old: verdict.Healthy, New: verdict.Reproduced, Known: map[string]bisect.Trial{
		"older": {Verdict: verdict.Healthy}, "asked": {Verdict: verdict.Healthy}, "merge": {Verdict: verdict.Reproduced}, "topic": {Verdict: verdict.Reproduced},
	}}}
	for _, test := range []struct {
		name   string
		points []bisect.Point
		first  string
		want   string
		parted bool
	}{
		{"its parent", []bisect.Point{{ID: "merge", Parents: []string{"asked"}}, {ID: "asked", Parents: []string{"older"}}}, "merge", "asked", false},
		{"the older end is its parent", []bisect.Point{{ID: "merge", Parents: []string{"older"}}}, "merge", "older", false},
		{"another branch was asked", []bisect.Point{{ID: "merge", Parents: []string{"asked", "topic"}}, {ID: "asked"}, {ID: "topic", Parents: []string{"fork"}}}, "topic", "asked", true},
		{"a branch from before the older end", []bisect.Point{{ID: "merge", Parents: []string{"older", "topic"}}, {ID: "topic", Parents: []string{"fork"}}}, "topic", "older", true},
	} {
		if got, parted := b.parentOf(test.points, []string{test.first}, "older"); got != test.want || parted != test.parted {
			t.Errorf("%s: %s, parted %v, want %s, %v", test.name, got, parted, test.want, test.parted)
		}
	}
	a := answer{Change: "broken", Found: "commit", First: []string{"topic"}, Before: "older", Parted: true}
	if got, want := a.outcome(), "broken by commit topic; the newest asked that is as before it is older"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
