package cli_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
)

var update = flag.Bool("update", false, "write the files that are made of the code: make reference does")

// TestReferenceCommands keeps the page of commands in step with what they say of themselves.
func TestReferenceCommands(t *testing.T) {
	const page = "../../docs/reference/commands.md"
	t.Setenv(buildstore.EnvCache, t.TempDir())
	var text strings.Builder
	text.WriteString("# Commands\n\n<!-- written by make reference -->\n\nWhat `nodestorm COMMAND --help` prints.\n")
	writeHelp(t, &text)
	if *update {
		if err := os.WriteFile(page, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(page); err != nil || string(is) != text.String() {
		t.Errorf("%s is not what the commands say, %v: run make reference", page, err)
	}
	if n := strings.Count(text.String(), "\n## "); n < 20 {
		t.Errorf("%d commands", n)
	}
}

var listed = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)

// writeHelp writes the help of a command and of those below it.
func writeHelp(t *testing.T, page *strings.Builder, names ...string) {
	_, help, _ := nodestorm(t, append(names, "--help")...)
	fmt.Fprintf(page, "\n%s nodestorm%s\n\n```\n%s\n```\n", strings.Repeat("#", min(2+max(len(names)-1, 0), 4)), spaced(names), strings.TrimSpace(help))
	if slices.Equal(names, []string{"completion"}) {
		return
	}
	for _, heading := range append([]console.Heading{"Available Commands", "Additional Commands"}, console.Headings...) {
		_, commands, _ := strings.Cut(help, string(heading)+":\n")
		commands, _, _ = strings.Cut(commands, "\n\n")
		for _, m := range listed.FindAllStringSubmatch(commands, -1) {
			writeHelp(t, page, append(slices.Clone(names), m[1])...)
		}
	}
}

func spaced(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + strings.Join(names, " ")
}
