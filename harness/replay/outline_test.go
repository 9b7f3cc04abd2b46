package replay

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/scenarios"
	"nodestorm/scenarios/folder"
)

const outline = `Feature: f

  Scenario Outline: the same name
    Given <a>
    # a comment
    Then <a>, <b>

    Examples:
      | a | b |
      | x | 1 |
      # between rows
      | y | 2 |

    @recorded
    Examples: of a record
      | a | b |
      | z | 3 |

  Scenario Outline: of <a>
    Given it
    Then <a>

    Examples:
      | a   |
      | one |
      | two |

  Scenario: plain
    Given it
    Then plain
`

// Each row is a scenario of its own: it has an ID and a place, and godog plays it alone.
func TestRowsOfOutlines(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.feature"), []byte(outline), 0o600); err != nil {
		t.Fatal(err)
	}
	f := folder.Read(dir)
	if len(f.Problems) > 0 {
		t.Fatal(f.Problems)
	}
	for i, want := range []struct {
		id, name string
		line     int
		last     string // step
	}{
		{"f-the-same-name-x-1", "the same name (x, 1)", 10, "x, 1"},
		{"f-the-same-name-y-2", "the same name (y, 2)", 12, "y, 2"},
		{"f-the-same-name-z-3", "the same name (z, 3)", 17, "z, 3"},
		{"f-of-one", "of one", 25, "one"},
		{"f-of-two", "of two", 26, "two"},
		{"f-plain", "plain", 28, "plain"},
	} {
		s := f.Scenarios[i]
		if s.Record.ID != want.id || s.Name != want.name || s.Line != want.line {
			t.Errorf("scenario %d is %s, %q at line %d; want %+v", i, s.Record.ID, s.Name, s.Line, want)
		}
		played := playedOf(t, s.Record, f.Files())
		if len(played) != 1 || played[0] != want.last {
			t.Errorf("%s plays %q, want %q only", s.Record.ID, played, want.last)
		}
	}
}

// playedOf are the last steps of what godog plays for a record.
func playedOf(t *testing.T, r scenarios.Record, features fs.FS) (last []string) {
	t.Helper()
	suite, err := Request{Record: r, Features: features}.suite()
	if err != nil {
		t.Fatal(err)
	}
	found, err := suite.RetrieveFeatures()
	if err != nil {
		t.Fatal(err)
	}
	for _, feature := range found {
		for _, pickle := range feature.Pickles {
			last = append(last, pickle.Steps[len(pickle.Steps)-1].Text)
		}
	}
	return last
}

func TestAlikeRows(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.feature"), []byte(strings.ReplaceAll(outline, "| y | 2 |", "| x | 1 |")), 0o600); err != nil {
		t.Fatal(err)
	}
	f := folder.Read(dir)
	if len(f.Problems) > 0 || f.Scenarios[1].Record.ID != "f-the-same-name-line-12" {
		t.Errorf("%v, %s", f.Problems, f.Scenarios[1].Record.ID)
	}
}
