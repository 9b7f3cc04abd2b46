package oneline_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/oneline"
)

func TestOneLine(t *testing.T) {
	for name, test := range map[string]struct{ got, want string }{
		"lines":      {oneline.Of(" a\n\tb  c\n"), "a b c"},
		"an error":   {oneline.Error(errors.New("a\nb")).Error(), "a b"},
		"of YAML":    {oneline.YAML(errors.New("error converting YAML to JSON: yaml: line 2:\n  no")).Error(), "yaml: line 2: no"},
		"escapes":    {oneline.Cut("a\x1b[1mb\u202ec\xff", 99), "a [1mb c"},
		"long":       {oneline.Cut("äöü", 3), "ä…"},
		"both ends":  {oneline.Ends("\nfirst\n middle\nlast\n"), "first … last"},
		"one":        {oneline.Ends("first\n"), "first"},
		"its output": {oneline.Ends("first\n    output"), "first"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", name, test.got, test.want)
		}
	}
	for _, err := range []error{oneline.Error(fs.ErrNotExist), oneline.YAML(fs.ErrNotExist), oneline.CutError(fs.ErrNotExist, 9)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v has lost what it is", err)
		}
	}
}

var unprintable = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\x1b", `\x1b`, "\u202e", `\u202e`, "\xff", `\ufffd`)

// What a shell makes of a command are the words that it was made of, whatever is in them.
func TestCommand(t *testing.T) {
	for _, words := range [][]string{
		{"nodestorm", "run", "x", "--target", "karpenter@v1.6.4"}, {""}, {"a b", "a\tb\nc", "\x1b[1m", "a\u202eb", "\xff"},
		{"v1.6.4;touch${IFS}OWNED", "$(touch OWNED)", "`touch OWNED`", "a'b\"c\\", "'; touch OWNED; '", "'\"'\"'", "!touch", "it's!touch", "~", "*", "#", "{a,b}",
			"=ls", "a\n&touch OWNED", "$'\\''touch OWNED", "-n", "&&", "|"},
	} {
		want := make([]string, len(words))
		for i, word := range words {
			want[i] = unprintable.Replace(word)
		}
		for _, shell := range []string{"sh", "bash"} {
			path, err := exec.LookPath(shell)
			if err != nil {
				continue
			}
			cmd := exec.Command(path, "-c", `prints() { printf '%s\n' "$@"; }; prints `+oneline.Command(words...))
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s takes %s for %q, %v; want %q", shell, oneline.Command(words...), got, err, want)
			}
			if made, _ := os.ReadDir(cmd.Dir); len(made) > 0 {
				t.Errorf("%s has made %s of %s", shell, made[0].Name(), oneline.Command(words...))
			}
		}
	}
}
