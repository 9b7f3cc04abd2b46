package nightly

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"nodestorm/reports/document"
	"nodestorm/reports/wording"
)

// Write writes the report as html, md or json.
func (r *Report) Write(w io.Writer, format string) error { return document.Write(w, format, r) }

// HTML writes it as a page.
func (r *Report) HTML(w io.Writer) error { return parsed.Execute(w, r) }

// Sum is the night in a line.
func (r *Report) Sum() string {
	var parts []string
	for _, what := range []string{string(NewlyFailing), string(Inconclusive), string(Gone), "slower", string(NewlyHealthy),
		"flaky", string(Failing), string(New)} {
		if n := r.Counts[what]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	if len(parts) == 0 {
		return "all as before"
	}
	return strings.Join(parts, ", ")
}

// Before says what the night was held against.
func (r *Report) Before() string {
	switch n := len(r.Nights) - 1; {
	case r.Missing != "":
		return "the nights before it could not be read, so that all of it is held for new: " + r.Missing
	case n == 0:
		return "there is no night before it to compare with"
	case n == 1:
		return "against the night before it"
	default:
		return fmt.Sprintf("against the %d nights before it", n)
	}
}

// Machine says if all of the night took longer or shorter than usual, or "".
func (r *Report) Machine() string {
	f := r.Nights[len(r.Nights)-1].Machine
	if f > 0.8 && f < leastFactor {
		return ""
	}
	return fmt.Sprintf("All replays took %.1f times as long as usual (another machine, or another load); "+
		"durations below are corrected for that.", f)
}

// Says is what has become of the row's pair, in a sentence.
func (r Row) Says() string {
	verdict := cmp.Or(r.Verdict, "without a verdict")
	expected := ""
	if r.Expected != "" && r.Expected != r.Verdict {
		expected = ", expected " + r.Expected
	}
	because := ""
	if r.Reason != "" {
		because = ": " + r.Reason
	}
	switch r.Class {
	case NewlyFailing:
		return verdict + expected + because
	case Failing:
		return fmt.Sprintf("%s%s, since %s%s", verdict, expected, r.Since, because)
	case Inconclusive:
		return "was decided before" + because
	case Gone:
		if r.Points[len(r.Points)-1].Outcome == Skipped {
			return "skipped" + because
		}
		return "was run in the night before, and is not there"
	case NewlyHealthy:
		return verdict + " as expected again"
	case New:
		if r.Points[len(r.Points)-1].Outcome == Good {
			return verdict + " as expected, run for the first time"
		}
		return verdict + expected + ", run for the first time" + because
	}
	return verdict + expected
}

// Rate is how often it was not as expected, and what that says.
func (r Row) Rate() string {
	return fmt.Sprintf("%d of %d runs not as expected: %.0f %% (%.0f to %.0f %%)", r.Unexpected, r.Decided,
		100*share(r.Unexpected, r.Decided), 100*r.Low, 100*r.High)
}

// Takes is how long it took beside what is usual.
func (r Row) Takes() string {
	now := r.Points[len(r.Points)-1]
	if r.Slower > 0 {
		return fmt.Sprintf("took %.1f s, usually %.1f s: %.1f times as long, and it scatters by a factor of %.2f", now.Adjusted,
			r.Usual, r.Slower, r.Noise)
	}
	if now.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f s", now.Seconds)
}

func share(k, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(k) / float64(n)
}

// linked is a row with the page of its scenario.
type linked struct {
	Row
	Page string
}

// At is a row with the page of its scenario, if there is one.
func (r *Report) At(row Row) any { return linked{row, r.Pages[row.Scenario]} }

// Section is a part of the page and of the text for a chat.
type Section struct {
	Title, About string
	Rows         []Row
	Says         func(Row) string
}

// Sections are those that have rows.
func (r *Report) Sections() []Section {
	says := Row.Says
	return slices.DeleteFunc([]Section{
		{"Newly failing", "As expected when it was last decided, and not in this night.", r.Only(NewlyFailing), func(row Row) string {
			if row.Unexpected < row.Decided && row.Changes > 1 {
				return says(row) + " (" + row.Rate() + ")"
			}
			return says(row)
		}},
		{"Inconclusive", "Decided in the night before, and not in this one.", r.Only(Inconclusive), says},
		{"No longer run", "Run in the night before, and not in this one.", r.Only(Gone), says},
		{"Slower", "By more than it scattered in the nights before, and more than all of the night.", r.Slower(), Row.Takes},
		{"Newly healthy", "Not as expected when it was last decided, and as expected in this night.", r.Only(NewlyHealthy), says},
		{"Flaky", "As expected, not, and back again. In brackets what these runs are compatible with (Wilson, 95 %).", r.Flaky(), Row.Rate},
		{"Still failing", "Not as expected, as in the nights before.", r.Only(Failing), says},
		{"New", "Run for the first time.", r.Only(New), says},
	}, func(s Section) bool { return len(s.Rows) == 0 })
}

// mostInChat is how many rows of a section a chat gets to read.
const mostInChat = 8

// Markdown is the night for a chat.
func (r *Report) Markdown() string {
	var b strings.Builder
	last := r.Nights[len(r.Nights)-1]
	fmt.Fprintf(&b, "**Night %s**: %s\n\n", wording.Markdown(r.Night), wording.Markdown(r.Sum()))
	fmt.Fprintf(&b, "%d as expected, %d not, %d inconclusive, %d skipped; %s.", last.Good, last.Bad, last.Unsure, last.Skipped,
		wording.Markdown(r.Before()))
	if m := r.Machine(); m != "" {
		b.WriteString(" " + m)
	}
	b.WriteString("\n")
	for _, s := range r.Sections() {
		fmt.Fprintf(&b, "\n**%s** (%d)\n\n", s.Title, len(s.Rows))
		for i, row := range s.Rows {
			if i == mostInChat {
				fmt.Fprintf(&b, "- and %d more\n", len(s.Rows)-i)
				break
			}
			fmt.Fprintf(&b, "- %s on %s: %s\n", wording.MarkdownName(row.Scenario), wording.MarkdownName(row.Target),
				wording.Markdown(wording.Cut(s.Says(row), 300)))
		}
	}
	return b.String()
}

var (
	//go:embed nightly.html
	page string
	//go:embed nightly.css
	style string

	parsed = document.Page("nightly", page, style, "", template.FuncMap{
		"clean": wording.Clean, "trend": trend, "link": link,
		"strip": func(r linked) []mark { return strip(r.Row) }, "spark": func(r linked) *curve { return spark(r.Row) },
		"wide": func(row linked) int { return len(row.Points) * pitch }, "dates": dates,
	})
)

// link is a relative path as a URL; what is none leads nowhere.
func link(path string) string {
	if path == "" || strings.HasPrefix(path, "/") {
		return ""
	}
	return document.Link(path)
}

// mark is a night in a strip: its height says what the colour does.
type mark struct {
	X, Y, Width, Height int
	Class, Title        string
}

const (
	pitch  = 7 // of nights, in pixels
	height = 16
)

var looks = map[Outcome]struct {
	class  string
	height int
}{Good: {"good", 6}, Bad: {"wrong", 16}, Mixed: {"mixed", 12}, Unsure: {"waiting", 9}, Skipped: {"none", 2}}

// dates are the first and the last night of a strip.
func dates(r *Report) string {
	first, last := r.Nights[0].Name, r.Nights[len(r.Nights)-1].Name
	if first == last {
		return wording.Clean(last)
	}
	return wording.Clean(first + " to " + last)
}

func strip(row Row) (marks []mark) {
	for n, point := range row.Points {
		look, shown := looks[point.Outcome]
		if !shown {
			continue
		}
		title := fmt.Sprintf("%s: %s", point.Night, point.Outcome)
		if point.Verdict != "" {
			title += " (" + point.Verdict + ")"
		}
		marks = append(marks, mark{n * pitch, height - look.height, pitch - 1, look.height, look.class, wording.Clean(title)})
	}
	return marks
}

// curve is a line of times.
type curve struct {
	Points      string
	X, Y, Width int // of the last point
	Title       string
}

// spark is the adjusted times of all nights, on an axis from 0 to the longest.
func spark(row Row) *curve {
	longest := 0.0
	for _, p := range row.Points {
		longest = max(longest, p.Adjusted)
	}
	if longest == 0 {
		return nil
	}
	c := &curve{Width: len(row.Points) * pitch}
	var points []string
	shortest := math.Inf(1)
	for n, p := range row.Points {
		if p.Adjusted == 0 {
			continue
		}
		shortest = min(shortest, p.Adjusted)
		c.X, c.Y = n*pitch+pitch/2, height-1-int(p.Adjusted/longest*(height-3))
		points = append(points, fmt.Sprintf("%d,%d", c.X, c.Y))
	}
	c.Points = strings.Join(points, " ")
	c.Title = fmt.Sprintf("%.1f to %.1f s, as on one machine", shortest, longest)
	return c
}

// bars are the nights as columns of what came out.
type bars struct {
	Width, Height int
	Marks         []mark
	Dates         []date
	First, Last   string
	Most          int
}

// date is that of a night below its column: month and day.
type date struct {
	X    int // of its middle
	Text string
}

// Wide is how wide it is with them, of which the first and the last stand out.
func (b bars) Wide() int { return b.Width + 16 }

// Below is how high the drawing is with the dates.
func (b bars) Below() int { return b.Height + 16 }

func trend(nights []NightSum) bars {
	const wide, high = 22, 90
	b := bars{Width: len(nights) * wide, Height: high, First: nights[0].Name, Last: nights[len(nights)-1].Name}
	for _, n := range nights {
		b.Most = max(b.Most, n.Good+n.Bad+n.Unsure+n.Skipped)
	}
	if b.Most == 0 {
		return b
	}
	for i, n := range nights {
		if (len(nights)-1-i)%2 == 0 && !n.At.IsZero() { // those of all would overlap
			b.Dates = append(b.Dates, date{i*wide + (wide-4)/2, n.At.UTC().Format("01-02")})
		}
		y := high
		for _, part := range []struct {
			class, what string
			count       int
		}{{"good", "as expected", n.Good}, {"wrong", "not as expected", n.Bad}, {"waiting", "inconclusive", n.Unsure},
			{"none", "skipped", n.Skipped}} {
			if part.count == 0 {
				continue
			}
			h := max(2, part.count*high/b.Most)
			y -= h
			b.Marks = append(b.Marks,
				mark{i * wide, y, wide - 4, h, part.class,
					wording.Clean(fmt.Sprintf("%s: %d %s; %.0f s, %.2f times as long as usual", n.Name, part.count, part.what, n.Seconds, n.Machine))})
		}
	}
	return b
}
