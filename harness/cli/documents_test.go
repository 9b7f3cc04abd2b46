package cli

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nodestorm/harness/builds/buildstore"
)

// TestCommandsInDocuments: what pages have readers type exists, each command with its flags.
func TestCommandsInDocuments(t *testing.T) {
	root, err := buildstore.Root()
	if err != nil {
		t.Skip(err)
	}
	called, pages := map[string]bool{}, 0
	err = fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || p == "reports/out" || p == ".git"):
			return fs.SkipDir
		case d.IsDir(), path.Ext(p) != ".md":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			return err
		}
		pages++
		for _, call := range calls(string(text)) {
			if err := wrongCall(t, call, called); err != nil {
				t.Errorf("%s: nodestorm %s: %v", p, call, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 15 || !called["verify --repeat"] || !called["report --issue"] {
		t.Errorf("%d pages call %v", pages, called)
	}
	// It would notice.
	for page, want := range map[string]string{
		"```sh\nnodestorm verify x --nothing\n```":                    "unknown flag: --nothing",
		"```console\n$ bin/nodestorm verfy x\nnodestorm said\n```":    `unknown command "nodestorm verfy"`,
		"```sh\nnodestorm run x \\\n  --target a@b --again  # c\n```": "unknown flag: --again",
		"Use `nodestorm bundle RUN --zip`, or not.":                   "unknown flag: --zip",
		"Use (`nodestorm\nverfy x`), or not.":                         `unknown command "nodestorm verfy"`,
		"Use `nodestorm COMMAND --zip`; `nodestorm:\nnodestorm x`.":   "",
	} {
		var problems []string
		for _, call := range calls(page) {
			if err := wrongCall(t, call, called); err != nil {
				problems = append(problems, err.Error())
			}
		}
		if got := strings.Join(problems, "; "); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

var (
	fence = regexp.MustCompile("^\\s*```(\\w*)")
	// call is nodestorm with what follows, up to what a shell ends it with. No command begins with a capital or a dash.
	call = regexp.MustCompile(`(?:^|[\s;&|(])(?:bin/)?nodestorm ([a-z][^;&|><]*)`)
	// broken is a span of code that goes on in the next line.
	broken = regexp.MustCompile("`(?:bin/)?nodestorm[^`\\n]*\n[^`\\n]*`")
	span   = regexp.MustCompile("`(?:bin/)?(nodestorm [^`\\n]*)`")
)

// calls are the arguments of nodestorm in a page of Markdown: in blocks of sh, behind the prompts of blocks of console,
// and in code of a line of text.
func calls(page string) (all []string) {
	block, in := "", false
	page = broken.ReplaceAllStringFunc(page, func(span string) string { return strings.Replace(span, "\n", " ", 1) })
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		if m := fence.FindStringSubmatch(line); m != nil {
			in = !in
			block = m[1]
			continue
		}
		var texts []string
		switch {
		case !in:
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				texts = append(texts, m[1])
			}
		case block == "yaml" && strings.HasPrefix(line, "- {"): // an event or a pattern
		case block == "sh" || block == "yaml":
			texts = append(texts, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		case block == "console":
			if typed, is := strings.CutPrefix(line, "$ "); is {
				texts = append(texts, typed)
			}
		}
		for _, text := range texts {
			text, _, _ = strings.Cut(text, " #")
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				all = append(all, strings.TrimSpace(m[1]))
			}
		}
	}
	return all
}

// TestTutorial: the feature and the record of docs/tutorial-first-failure.md are what lint accepts, and its two mistakes
// have the answers that the page quotes. That they play as the page says is seen by hand.
func TestTutorial(t *testing.T) {
	root, err := buildstore.Root()
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "tutorial-first-failure.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	t.Chdir(t.TempDir())
	write := func(ext, content string) {
		t.Helper()
		if err := os.MkdirAll("failures", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("failures/karpenter-no-time-to-stop."+ext, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(language string) string {
		t.Helper()
		_, after, found := strings.Cut(page, "```"+language+"\n")
		block, _, closed := strings.Cut(after, "```\n")
		if !found || !closed {
			t.Fatalf("the page has no block of %s", language)
		}
		return block
	}
	lint := func(want int) {
		t.Helper()
		var stdout, stderr strings.Builder
		status := Run(t.Context(), []string{"lint", "failures"}, &stdout, &stderr)
		if said := strings.TrimSpace(stdout.String()); status != want || said == "" || !strings.Contains(page, "\n"+said+"\n") {
			t.Errorf("status %d, %s%s\nis not quoted", status, stdout.String(), stderr.String())
		}
	}
	feature, record := quoted("gherkin"), quoted("yaml")
	write("feature", strings.Replace(feature, "is Running within", "is Runnin within", 1))
	write("yaml", record)
	lint(1)
	write("feature", feature)
	lint(0)
	write("yaml", strings.Replace(record, "gracePeriodSeconds", "gracePeriod", 1))
	lint(1)
}
