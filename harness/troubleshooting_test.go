package harness_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// shortest is how many characters a fixed part of a message must have to be looked for.
const shortest = 4

var (
	// message is what the first cell of a row has in code.
	message = regexp.MustCompile("(?m)^\\| (`[^|]+`)[^|`]*\\|")
	spans   = regexp.MustCompile("`([^`]+)`")
	// broken is a text that goes on in the next line of the source.
	broken = regexp.MustCompile(`"\s*\+\s*"`)
	// filled is what a format puts in.
	filled = regexp.MustCompile(`%(?:\.\d+)?[a-zA-Z]`)
)

// TestTroubleshooting keeps the messages of docs/troubleshooting.md as the code has them.
func TestTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	source := sourceText(t)
	rows := message.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 40 {
		t.Fatalf("only %d messages were read", len(rows))
	}
	for _, row := range rows {
		for _, span := range spans.FindAllStringSubmatch(row[1], -1) {
			if part := unknownPart(source, span[1]); part != "" {
				t.Errorf("no message has %q, of %q", part, span[1])
			}
		}
	}
	// It would notice.
	if part := unknownPart(source, "is not in the store; fetch it with: …"); part != "is not in the store; fetch it with:" {
		t.Errorf("%q is unknown of a message that there is not", part)
	}
}

// unknownPart is the first fixed part of a message that no source has, or "".
func unknownPart(source, message string) string {
	for part := range strings.SplitSeq(message, "…") {
		if part = strings.TrimSpace(part); len(part) >= shortest && !strings.Contains(source, part) {
			return part
		}
	}
	return ""
}

// sourceText is all Go code of the module but tests, with texts of several lines joined and … for what is filled in.
func sourceText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	module := os.DirFS("..")
	if err := fs.WalkDir(module, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "reports" && p == "reports/out" || p == ".git"):
			return fs.SkipDir
		case d.IsDir(), path.Ext(p) != ".go", strings.HasSuffix(p, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(module, p)
		all.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return filled.ReplaceAllString(broken.ReplaceAllString(all.String(), ""), "…")
}
