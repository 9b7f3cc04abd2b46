package formats_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/reporttest"
	"nodestorm/reports/story"
)

// plain makes sure that a text for GitHub has no markup but ours: no link, no
// picture, no HTML.
func plain(t testing.TB, text []byte) reporttest.Seen {
	t.Helper()
	s, err := reporttest.Markdown(text)
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.Fields("html head body h3 hr p strong ul li pre code table thead tbody tr th td")
	for element := range s.Elements {
		if !slices.Contains(ours, element) {
			t.Errorf("a reader sees <%s> in %q", element, text)
		}
	}
	return s
}

// asText is what a reader reads of a cell: that nothing is a mention or a link
// takes characters without a width.
func asText(cell string) string { return strings.ReplaceAll(cell, "\u200b", "") }

func TestMarkdownForOthers(t *testing.T) {
	s := plain(t, written(t, "md", runs(t)...))
	if len(s.Rows) != 5 {
		t.Fatalf("the table has %d rows, want a head and one a run", len(s.Rows))
	}
	if got := strings.Join(s.Rows[3], " · "); got != "❌ · karpenter-7515-not-ready-noexecute · karpenter@v1.8.0 · healthy · reproduced · 2.2 s · 1m8s · 151 ms" {
		t.Errorf("the third run is %q", got)
	}
	issue := plain(t, written(t, "issue", runs(t)[0]))
	for want, n := range map[string]int{"h3": 1, "pre": 2, "ul": 2, "li": 6} {
		if issue.Elements[want] != n {
			t.Errorf("the text for an issue has %d <%s>, want %d", issue.Elements[want], want, n)
		}
	}
}

// A reader sees text as it is, whatever is in it.
func TestMarkdownOfHostileText(t *testing.T) {
	harmless := plain(t, written(t, "issue", about(t, "harm less"))).Elements
	for _, evil := range []string{
		"a|b", "`code`", "*bold* _and_ ~~gone~~", "<b>bold</b><!-- -->", "[text](http://evil.example)", "![](http://evil.example/x.png)",
		"https://evil.example/?a=b&c", "www.evil.example", "mail@evil.example", "@maintainers", "o/r#1 #2", "GH-1", "&lt;b&gt;", `\`, `\|`, "# heading", "- item", "1. item", "1) item", "    code", "> quote",
		"a_b_c", "***", "---", "===", "+ item", "[x]: http://evil.example", "ftp://evil.example", "mailto:a@evil.example", "xmpp:a@evil.example", "- [x] task", "[^1]", "2 - 3",
	} {
		s := plain(t, written(t, "md", about(t, evil)))
		if len(s.Rows) != 2 || len(s.Rows[1]) != 8 || asText(s.Rows[1][1]) != strings.TrimSpace(evil) || asText(s.Rows[1][2]) != strings.TrimSpace(evil) {
			t.Errorf("a scenario %q is seen as %q", evil, s.Rows)
		}
		s = plain(t, written(t, "issue", about(t, evil)))
		if !strings.Contains(asText(s.Text), strings.TrimSpace(evil)) {
			t.Errorf("in the text for an issue %q is seen as %q", evil, s.Text)
		}
		delete(s.Elements, "code")
		delete(harmless, "code")
		if !maps.Equal(s.Elements, harmless) {
			t.Errorf("with %q the text for an issue has %v, without it %v", evil, s.Elements, harmless)
		}
	}
}

func about(t testing.TB, text string) *story.Story {
	return readStory(t, "affected", story.Run{ID: text, Title: text, Summary: text, Target: text, Source: text, Kubernetes: text, Verdict: text, Expected: text, Outcome: text, Reason: text, Problems: []string{text}})
}

// An error of several lines is a line and what it quotes, without the folders of who played it.
func TestIssueQuotes(t *testing.T) {
	text := string(written(t, "issue", story.NewBuilder(story.Run{ID: "x", Reason: "it ended: boom\nits last lines, of /home/me/runs/x/logs/karpenter.log:\n\tgoroutine 1 [running]:"}).Story()))
	if want := "it ended: boom\n\n```\nits last lines, of logs/karpenter.log:\n    goroutine 1 [running]:\n```\n"; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}
