package vocabulary_test

import (
	"slices"
	"testing"

	"nodestorm/sim/history/vocabulary"
)

func TestCaptures(t *testing.T) {
	captured := map[string]string{"pod": "web", "node": "a"}
	for _, test := range []struct {
		value  string
		names  []string
		filled string
		wrong  bool
	}{
		{"web", nil, "web", false},
		{"$pod", []string{"pod"}, "web", false},
		{"$other", []string{"other"}, "", false},
		{"Pod/${pod} on ${node}", []string{"pod", "node"}, "Pod/web on a", false},
		{"${pod}", []string{"pod"}, "web", false},
		{"Pod/$pod", nil, "Pod/$pod", true},
		{"5 $", nil, "5 $", false},
	} {
		if names := vocabulary.Captures(test.value); !slices.Equal(names, test.names) {
			t.Errorf("%s: names %q, want %q", test.value, names, test.names)
		}
		if filled := vocabulary.FillCaptures(test.value, captured); filled != test.filled {
			t.Errorf("%s: filled %q, want %q", test.value, filled, test.filled)
		}
		if err := vocabulary.CheckCaptures(test.value); (err != nil) != test.wrong {
			t.Errorf("%s: %v", test.value, err)
		}
	}
}
