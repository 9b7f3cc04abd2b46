package run

import (
	"regexp"
	"strings"
)

// olderReasons are parts of reasons in older runs, and the words that replaced them. An event was called a record, and a
// count was said without its verb. The step that failed keeps its old words when its run is judged again.
var olderReasons = []struct {
	was *regexp.Regexp
	now string
}{
	{regexp.MustCompile(`is there (\d+ times?)( within \S+?)?, of (\d+) at most`), "was seen $1$2, at most $3 allowed"},
	{regexp.MustCompile(`is there (\d+ times?)( within \S+?)?, of (\d+) at least`), "was seen $1$2, at least $3 required"},
	{regexp.MustCompile(`is (\d+ times?) in the history since (the start|the last When), of (\d+) at least`),
		"was seen $1 since $2, at least $3 required"},
	{regexp.MustCompile(`" is not there`), `" was not seen`},
	{regexp.MustCompile(`\ba record\b`), "an event"},
	{regexp.MustCompile(`\brecord(s?)\b`), "event$1"},
}

// sameReason reports whether two reasons differ in words at most that nodestorm has replaced.
func sameReason(a, b string) bool { return a == b || inTodaysWords(a) == inTodaysWords(b) }

func inTodaysWords(reason string) string {
	for _, r := range olderReasons {
		reason = r.was.ReplaceAllString(reason, r.now)
	}
	return strings.ReplaceAll(reason, "seen 1 times", "seen 1 time")
}
