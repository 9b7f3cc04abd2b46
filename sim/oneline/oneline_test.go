package oneline_test

import (
	"errors"
	"io/fs"
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
