package strict_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/strict"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]string{"90s": "1m30s", "3m": "3m0s", "0s": "0s", "-1s": "-1s"} {
		var d strict.Duration
		if err := json.Unmarshal([]byte(`"`+text+`"`), &d); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(d); err != nil || string(got) != `"`+want+`"` {
			t.Errorf("%s is written as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"10", `"soon"`, "{}"} {
		if err := json.Unmarshal([]byte(text), new(strict.Duration)); err == nil || !strings.Contains(err.Error(), `want a duration such as "90s"`) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", time.Minute: "1m", 10 * time.Second: "10s", 90 * time.Second: "1m30s"} {
		if got := strict.Duration(d).Short(); got != want {
			t.Errorf("%v is %s in short, want %s", d, got, want)
		}
	}
}

func TestDurationMeant(t *testing.T) {
	for text, want := range map[string]string{
		"30 minutes": "30m", "5 min": "5m", "1 hour": "1h", "90 Seconds": "90s", "10 secs": "10s", "20ms": "20ms", "30": "", "30 pods": "", "30 s": "30s",
		"a minute": "", "5 metres": "",
	} {
		if got := strict.DurationMeant(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
