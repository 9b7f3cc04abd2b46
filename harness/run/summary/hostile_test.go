package summary

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/reports/formats"
	"nodestorm/reports/page"
	"nodestorm/reports/story"
)

// words are what shells make of a command, which are to agree and to do nothing else; none of no command. As interactive shells may
// know no comments, it is given without the # as well, and then has what comes behind that as one word.
func words(t *testing.T, command string) (said []string) {
	t.Helper()
	for _, shell := range []string{"sh", "bash"} {
		for n, text := range []string{command, strings.Replace(command, " # ", " ", 1)} {
			cmd := exec.Command(shell, "-c", `nodestorm() { printf '%s\n' "$@"; }; `+text)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s of %s: %v, %s", shell, text, err, out)
			}
			if made, _ := os.ReadDir(cmd.Dir); len(made) > 0 {
				t.Errorf("%s has made %s of %s", shell, made[0].Name(), text)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if commented := strings.Contains(command, " # "); n == 1 && commented {
				got = got[:len(got)-1]
			}
			if said != nil && !slices.Equal(said, got) {
				t.Errorf("%s makes %q of %s, and others %q", shell, got, text, said)
			}
			said = got
		}
	}
	return said
}

// shown are the commands that reports of a run have, by report.
func shown(t *testing.T, dir string) map[string]string {
	t.Helper()
	described, err := Run(t.Context(), dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{"the story": described.Run.Repeat}
	report := func(name, pattern string, write func(*bytes.Buffer) error) {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text.Bytes())
		if found == nil {
			t.Fatalf("%s has no command:\n%s", name, &text)
		}
		commands[name] = string(found[1])
	}
	if described.Run.Repeat == "" {
		var text bytes.Buffer
		if err := formats.Issue(&text, []*story.Story{described}); err != nil || strings.Contains(text.String(), "To repeat") {
			t.Errorf("%v: without a command:\n%s", err, &text)
		}
		return commands
	}
	stories := []*story.Story{described}
	report("the text for an issue", "(?s)To repeat\\*\\*\n\n`+sh\n(.*?)\n```", func(b *bytes.Buffer) error { return formats.Issue(b, stories) })
	report("the table", `(?m)^    (nodestorm run .*)$`, func(b *bytes.Buffer) error { return formats.Markdown(b, stories) })
	report("the page", `<dt>repeat it</dt><dd><code>(.*?)</code>`, func(b *bytes.Buffer) error { return page.Write(b, page.Run{Story: described}) })
	commands["the page"] = html.UnescapeString(commands["the page"])
	return commands
}

// stored is a run's folder, sealed as if nodestorm had written it.
func stored(t *testing.T, r run.Run) string {
	t.Helper()
	dir := t.TempDir()
	r.Seal, r.Verdict, r.Reason = &run.Seal{Record: "01"}, "inconclusive", "made up"
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, run.HistoryFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostile are texts that would be commands, were they not quoted.
var hostile = []string{
	"v1.6.4;touch${IFS}OWNED", "$(touch OWNED)", "`touch OWNED`", "a\ntouch OWNED\n", "a'; touch OWNED; '", "a`;touch OWNED;`", "x & touch OWNED;#",
	"password='; touch OWNED; '", "a'#\ntouch OWNED", "--out=/tmp/x", "a\x1b]0;touch OWNED\a",
}

// A run that names something that no nodestorm names has no command at all, and is inconclusive.
func TestMisshapenRunsHaveNoCommand(t *testing.T) {
	for name, change := range map[string]func(*run.Run, string){
		"scenario":   func(r *run.Run, text string) { r.ID = text },
		"target":     func(r *run.Run, text string) { r.Target.Name = text },
		"version":    func(r *run.Run, text string) { r.Target.Version = text },
		"cloud":      func(r *run.Run, text string) { r.ID, r.Target.Provider = scenario, text },
		"clock":      func(r *run.Run, text string) { r.Clock.Mode = text },
		"machines":   func(r *run.Run, text string) { r.Provenance.Machines = text },
		"cluster":    func(r *run.Run, text string) { r.Provenance.Cluster = text },
		"Kubernetes": func(r *run.Run, text string) { r.Provenance.ControlPlane = &run.ControlPlane{Version: text} },
		"a part": func(r *run.Run, text string) {
			r.Provenance.With = []builds.Manifest{{Ref: builds.Ref{Name: "ccm", Version: text}}}
		},
		"a stale build": func(r *run.Run, text string) { r.Provenance.Stale = []builds.Ref{{Name: "ccm", Version: text}} },
	} {
		for _, text := range hostile {
			r := clean()
			change(&r, text)
			dir := stored(t, r)
			for report, command := range shown(t, dir) {
				if command != "" {
					t.Errorf("%s %q: %s has %s", name, text, report, command)
					words(t, command)
				}
			}
			checked, err := run.Checked(t.Context(), dir)
			if err != nil || !strings.Contains(checked.Reason, "that no nodestorm writes") {
				t.Errorf("%s %q: %q, %v", name, text, checked.Reason, err)
			}
		}
	}
	if wrong := clean().Misshapen(); len(wrong) > 0 {
		t.Errorf("of what is as it ought to be: %q", wrong)
	}
}

// Names of files may be anything: in all reports they are one word of the command.
func TestNamesOfFilesAreWords(t *testing.T) {
	for name, change := range map[string]func(*run.Run, string){
		"manifest": func(r *run.Run, text string) { r.Provenance.Manifest = &run.Input{Name: text} },
		"order":    func(r *run.Run, text string) { r.Provenance.Order = []run.Input{{Name: text}} },
		"feature":  func(r *run.Run, text string) { r.Unrecorded, r.Provenance.Feature = true, &run.Input{Name: text} },
		"catalogue": func(r *run.Run, text string) {
			r.Provenance.Feature = &run.Input{Name: strings.ReplaceAll(text, "/", "-") + "/x"}
		},
		"Kubernetes": func(r *run.Run, text string) { r.Provenance.ControlPlane = &run.ControlPlane{Name: text} },
		"commit":     func(r *run.Run, text string) { r.Provenance.Nodestorm.Commit = text },
	} {
		for _, text := range hostile {
			r := clean()
			change(&r, text)
			want := len(words(t, Describe(r, nil).Repeat))
			for report, command := range shown(t, stored(t, r)) {
				got := words(t, command)
				// What is a credential's is not there, and all else is.
				secret := strings.HasPrefix(text, "password=")
				if len(got) != want || name != "commit" && !secret && !slices.Contains(got, printable.Replace(text)) && !slices.Contains(got, printable.Replace(filepath.Base(text))) {
					t.Errorf("%s %q: %s has %s, whose words are %q", name, text, report, command, got)
				}
			}
		}
	}
}

// printable makes of a text what commands have.
var printable = strings.NewReplacer("\n", `\n`, "\x1b", `\x1b`, "\a", `\a`)
