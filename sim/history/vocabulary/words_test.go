package vocabulary_test

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// equal is a pattern's comparison with one value.
type equal string

func (e equal) Op() string                { return "" }
func (e equal) Values() []string          { return []string{string(e)} }
func (e equal) Plain() []string           { return e.Values() }
func (e equal) MayMatch(of []string) bool { return slices.Contains(of, string(e)) }

// A reason that is spelled almost like one that is known is a slip; any other may be one that is not known.
func TestReasons(t *testing.T) {
	for _, good := range []equal{"FailedToScaleUpGroup", "SomethingOfItsOwn", "Killing"} {
		if err := vocabulary.Compare(history.API, "reason", good); err != nil {
			t.Error(err)
		}
	}
	err := vocabulary.Compare(history.API, "reason", equal("FailedToScaleUpGruop"))
	if err == nil || !strings.Contains(err.Error(), `did you mean "FailedToScaleUpGroup"?`) {
		t.Errorf("error %v", err)
	}
	if err := vocabulary.Compare(history.Logged, "level", equal("RROR")); err == nil || !strings.Contains(err.Error(), `did you mean "ERROR"?`) {
		t.Errorf("error %v", err)
	}
	if err := vocabulary.Compare(history.Logged, "level", equal("ERROR")); err != nil {
		t.Error(err)
	}
}
