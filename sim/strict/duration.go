package strict

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Duration is a time.Duration that JSON and YAML hold as text such as "90s". What the time is of, real or virtual, is for
// others to say.
type Duration time.Duration

// String is as time.Duration's.
func (d Duration) String() string { return time.Duration(d).String() }

// Short is String without zeros at its end: 3m in place of 3m0s.
func (d Duration) Short() string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var (
	// spelled is a duration as people say it: 30 minutes, 5 min, or a bare number.
	spelled = regexp.MustCompile(`^([0-9]{1,6}) *([A-Za-z]*)$`)
	// units are those of durations, by how their names begin.
	units = []struct{ name, unit string }{{"milliseconds", "ms"}, {"seconds", "s"}, {"minutes", "m"}, {"hours", "h"}}
)

// DurationMeant is how a duration is written that people say in words: 30m for "30 minutes". It is empty if a text is none.
func DurationMeant(text string) string {
	m := spelled.FindStringSubmatch(text)
	if m == nil || m[2] == "" {
		return ""
	}
	word := strings.ToLower(m[2])
	for _, of := range units {
		if short := strings.TrimSuffix(word, "s"); word == of.unit || short != "" && strings.HasPrefix(of.name, short) {
			return m[1] + of.unit
		}
	}
	return ""
}

// NoDuration is the error of a value in JSON that is no duration above zero.
func NoDuration(text []byte) error {
	said := strings.Trim(string(text), `"`)
	if meant := DurationMeant(said); meant != "" && meant != said {
		return fmt.Errorf("%s is no duration: write %s", text, meant)
	}
	return fmt.Errorf("%s is no duration above zero (want for example 150s or 15m)", text)
}

// MarshalJSON writes what UnmarshalJSON reads.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what time.ParseDuration reads.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("found %s, want a duration such as \"90s\"", text)
	}
	parsed, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("found %q, want a duration such as \"90s\"", s)
	}
	*d = Duration(parsed)
	return nil
}
