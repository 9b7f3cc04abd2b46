package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/propose"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/redact"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Symptom is one that was made of events of a run, and where it holds.
type Symptom struct {
	*propose.Proposal
	// Text is the symptom in YAML, as a record has it; Symptom is the same for programs.
	Text    string          `json:"-"`
	Symptom json.RawMessage `json:"symptom"`
	// LeftOut says of each run that it was not held against why.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Symptom makes a symptom out of the events of a run that lines name by their numbers, and holds it against others, of which those
// are left out that prove nothing.
func (r *Reporter) Symptom(ctx context.Context, of Run, lines []uint64, others []Run) (*Symptom, error) {
	own, err := propose.Load(ctx, of.Dir, of.Name)
	if err != nil {
		return nil, err
	}
	redactor := redact.ForHere(kept.HasWord(r.Catalogue, of.Dir))
	hidden := func(text string) bool { return redactor.Text(text) != text }
	d, err := propose.New(own, lines, kinOf(r.Catalogue, own.ID), hidden)
	if err != nil {
		return nil, err
	}
	s := &Symptom{}
	for _, other := range others {
		if sameFolder(other.Dir, of.Dir) {
			continue
		}
		with, err := propose.Load(ctx, other.Dir, other.Name)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			s.LeftOut = append(s.LeftOut, other.ErrorText(err))
		// mutant: a run that proves nothing is held against
		case with.Verdict == verdict.Inconclusive || with.Verdict == "":
			s.LeftOut = append(s.LeftOut, fmt.Sprintf("%s is inconclusive", other.Name))
		default:
			d.CompareWith(with)
		}
	}
	if s.Proposal, err = d.Propose(); err != nil {
		return nil, err
	}
	if s.Text, err = s.YAML(); err != nil {
		return nil, err
	}
	var record struct {
		Symptom json.RawMessage `json:"symptom"`
	}
	if err := yaml.Unmarshal([]byte(s.Text), &record); err != nil {
		return nil, fmt.Errorf("reading the symptom that was written: %w", err)
	}
	s.Symptom = record.Symptom
	return s, nil
}

// kinOf are the scenarios whose failing runs may show the symptom of another one, by either record.
func kinOf(catalogue *scenarios.Catalogue, id string) (kin []string) {
	for _, record := range catalogue.Records() {
		switch {
		case record.ID == id:
			kin = append(kin, record.Kin...)
		case slices.Contains(record.Kin, id):
			kin = append(kin, record.ID)
		}
	}
	return kin
}

func sameFolder(a, b string) bool {
	first, err := filepath.Abs(a)
	second, other := filepath.Abs(b)
	return err == nil && other == nil && first == second
}

// Show writes the symptom in YAML, and below it as comments where it holds: of other scenarios those runs only in which it is not as
// it ought to be, unless all is asked for.
func (s *Symptom) Show(to io.Writer, all bool) error {
	var text bytes.Buffer
	rows := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "\tSCENARIO\tTARGET\tVERDICT\tHOLDS\tLINES")
	scenarios, hidden := map[string]bool{}, 0
	for _, h := range s.Runs {
		if !all && h.ID != s.Runs[0].ID && !h.Wrong() && h.Want == propose.Absent {
			scenarios[h.ID] = true
			hidden++
			continue
		}
		mark := "✓"
		switch {
		case h.Wrong():
			mark = "✗"
		case h.Want == propose.Either:
			mark = "–"
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\t%s\n", mark, wording.Clean(h.ID), wording.Clean(h.Target), h.Verdict, h.Holds, numbers(h.Lines))
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	if hidden > 0 {
		fmt.Fprintf(&text, "\nit holds in none of %s of %s\n", wording.Counted(hidden, "run"), wording.Counted(len(scenarios), "other scenario"))
	}
	if len(s.LeftOut) > 0 {
		fmt.Fprintf(&text, "\n%s left out\n", wording.Counted(len(s.LeftOut), "run"))
	}
	for _, wrong := range s.Wrong {
		fmt.Fprintf(&text, "\n%s\n", wording.Clean(wrong))
	}
	if s.Unfixed != "" {
		fmt.Fprintf(&text, "\n%s\n", wording.Clean(s.Unfixed))
	}
	if _, err := io.WriteString(to, s.Text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(to, strings.TrimRight("# "+line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of lines, of many the first ones.
func numbers(lines []uint64) string {
	const most = 8
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(lines[:min(len(lines), most)]), " ", ","), "[]")
	if len(lines) > most {
		text += ",…"
	}
	return text
}
