package wording

import "testing"

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"one two three four":      "one two\nthree\nfour",
		"one\ntwo\nthree":         "one two\nthree",
		"a\n\nb\nc":               "a\n\nb c",
		"a\n  kept as it is\nb":   "a\n  kept as it is\nb",
		"é é é é\nlongerthanany":  "é é é é\nlongerthanany",
		"- one two\n- three":      "- one\n  two\n- three",
		"a\n- b\n  c d e\n\n  as": "a\n- b c d\n  e\n\n  as",
		"- a\nb":                  "- a\nb",
		"a # b\n# kept as it is":  "a # b\n# kept as it is",
	} {
		if got := Wrap(text, 7); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
