package wording_test

import (
	"strings"
	"testing"

	"nodestorm/reports/wording"
)

// GitHub makes links of these by itself, whatever Markdown says.
func TestMarkdownIsNoLink(t *testing.T) {
	for _, text := range []string{"@maintainers", "a@b.example", "#1", "o/r#1", "GH-1", "www.evil.example", "https://evil.example"} {
		if got := wording.Markdown(text); strings.Contains(got, text) || strings.ReplaceAll(strings.ReplaceAll(got, "\u200b", ""), `\`, "") != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"2026-11-27": "2026-11-27", "1.30.2": "1.30.2", "1. item": "1\\. item", "12) item": "12\\) item", "- item": "\\- item",
		"---": "\\---", "1.": "1\\.",
	} {
		if got := wording.Markdown(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"karpenter@v1.6.4": "`karpenter@v1.6.4`", "a`b": "a\\`b", "": ""} {
		if got := wording.MarkdownName(text); got != want {
			t.Errorf("the name %q became %q, want %q", text, got, want)
		}
	}
}
