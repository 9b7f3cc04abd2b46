package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"nodestorm/reports/table"
)

// soon is what a verdict may take, world included, of a record that shows itself within long of
// virtual time.
const (
	soon = 10 * time.Second
	long = 20 * time.Minute
)

// replayed is a record on a target.
type replayed struct{ id, target string }

// verdicts are what the two sides have made of records, in the order in which these came.
type verdicts struct {
	order []replayed
	rows  [2]map[replayed][]table.Row
	// without are records of which a replay is missing, and why.
	without []string
}

// replayAll has the command of each side replay the records, or all where ids are none, in turn, and
// prints a table of how long that took. It counts what is slower beyond noise or not as expected.
func replayAll(ctx context.Context, sides []*side, tmp string, count int, ids []string, out, log io.Writer) (worse int, err error) {
	commands := map[*side]string{}
	for _, s := range sides {
		fmt.Fprintf(log, "building nodestorm of %s\n", s.name)
		commands[s] = filepath.Join(tmp, s.name+".nodestorm")
		if _, err := output(ctx, s.root, "go", "build", "-o", commands[s], "./harness/cmd/nodestorm"); err != nil {
			return 0, err
		}
	}
	if len(ids) == 0 {
		names, err := output(ctx, sides[1].root, commands[sides[1]], "list", "-o", "name")
		if err != nil {
			return 0, err
		}
		ids = strings.Fields(names)
	}
	all := &verdicts{}
	for round := range count {
		for n, id := range ids {
			fmt.Fprintf(log, "round %d of %d: %s, record %d of %d\n", round+1, count, id, n+1, len(ids))
			for i := range sides {
				at := (i + round) % len(sides) // neither is always the first
				rows, err := verify(ctx, sides[at].root, commands[sides[at]], id, tmp)
				if err != nil {
					return 0, fmt.Errorf("%s of %s: %w", id, sides[at].name, err)
				}
				all.add(at, rows)
			}
		}
	}
	return all.table(sides[0].name, sides[1].name, out)
}

// verify replays a record on its releases, and leaves no run behind.
func verify(ctx context.Context, dir, command, id, tmp string) (rows []table.Row, err error) {
	runs, err := os.MkdirTemp(tmp, "runs-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(runs)) }()
	printed, err := output(ctx, dir, command, "verify", "--parallel", "1", "-o", "json", "--out", runs, id)
	// Where something is not as expected (1) or inconclusive (3) the rows say so.
	if exited := new(exec.ExitError); errors.As(err, &exited) && (exited.ExitCode() == 1 || exited.ExitCode() == 3) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(printed), &rows); err != nil {
		return nil, fmt.Errorf("reading what verify prints: %w", err)
	}
	return rows, nil
}

func (v *verdicts) add(side int, rows []table.Row) {
	if v.rows[side] == nil {
		v.rows[side] = map[replayed][]table.Row{}
	}
	for _, r := range rows {
		of := replayed{r.ID, r.Target}
		if r.Run == "" {
			if why := r.ID + " on " + r.Target + ": " + r.Reason; !slices.Contains(v.without, why) {
				v.without = append(v.without, why)
			}
			continue
		}
		if !slices.Contains(v.order, of) {
			v.order = append(v.order, of)
		}
		v.rows[side][of] = append(v.rows[side][of], r)
	}
}

// table prints the medians of both sides in Markdown, then what is not as expected, and what takes
// longer than it should.
func (v *verdicts) table(before, now string, out io.Writer) (worse int, err error) {
	if len(v.order) == 0 {
		return 0, fmt.Errorf("nothing was replayed: %s", strings.Join(v.without, "; "))
	}
	var b, notes strings.Builder
	fmt.Fprintf(&b, "| scenario | target | verdict | as expected | virtual | wall, %s | wall, %s | change "+
		"|\n|---|---|---|---|---|---|---|---|\n", before, now)
	thresholds := benchmath.Thresholds{CompareAlpha: alpha}
	var medians [2][]float64
	late := 0
	for _, of := range v.order {
		was, is := v.rows[0][of], v.rows[1][of]
		if len(was) == 0 || len(is) == 0 {
			fmt.Fprintf(&notes, "%s on %s: only one side has it\n", of.id, of.target)
			continue
		}
		samples := [2]*benchmath.Sample{benchmath.NewSample(wall(was), &thresholds), benchmath.NewSample(wall(is), &thresholds)}
		var centers [2]float64
		for i, sample := range samples {
			centers[i] = benchmath.AssumeNothing.Summary(sample, .95).Center
			medians[i] = append(medians[i], centers[i])
		}
		compared := benchmath.AssumeNothing.Compare(samples[0], samples[1])
		if compared.P <= alpha && centers[1] > centers[0]*(1+least) {
			worse++
			fmt.Fprintf(&notes, "%s on %s is slower\n", of.id, of.target)
		}
		fineBefore, fineNow := asExpected(was), asExpected(is)
		// mutant: unexpected verdicts are in no count of what is worse
		if fineNow < len(is) {
			worse++
			fmt.Fprintf(&notes, "%s on %s is as expected in %d of %d: %s\n", of.id, of.target, fineNow, len(is), unexpected(is))
		}
		virtual := median(is, func(r table.Row) float64 { return r.VirtualSeconds })
		if centers[1] > soon.Seconds() && virtual < long.Seconds() {
			late++
			fmt.Fprintf(&notes, "%s on %s takes more than %s\n", of.id, of.target, soon)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d, %d of %d | %s | %.1f s | %.1f s | %s (%s) |\n", of.id, of.target, is[0].Expected,
			fineBefore, len(was), fineNow, len(is), time.Duration(virtual)*time.Second, centers[0], centers[1], compared.FormatDelta(centers[0],
				centers[1]), compared)
	}
	fmt.Fprintf(&b, "\n%d replays, of which %d of less than %s take more than %s; the median is %.1f s, and was %.1f s\n", len(medians[1]),
		late, long, soon, middle(medians[1]), middle(medians[0]))
	b.WriteString(notes.String())
	for _, why := range v.without {
		fmt.Fprintf(&b, "without %s\n", why)
	}
	_, err = io.WriteString(out, b.String())
	return worse, err
}

func wall(rows []table.Row) (seconds []float64) {
	for _, r := range rows {
		seconds = append(seconds, r.WallSeconds)
	}
	return seconds
}

func asExpected(rows []table.Row) (n int) {
	for _, r := range rows {
		if r.Verdict == r.Expected {
			n++
		}
	}
	return n
}

// unexpected are the verdicts that were not expected.
func unexpected(rows []table.Row) string {
	var other []string
	for _, r := range rows {
		if r.Verdict != r.Expected && !slices.Contains(other, r.Verdict) {
			other = append(other, r.Verdict)
		}
	}
	return strings.Join(other, ", ")
}

func median(rows []table.Row, of func(table.Row) float64) float64 {
	var values []float64
	for _, r := range rows {
		values = append(values, of(r))
	}
	return middle(values)
}

// middle is the median of values, which may not be none.
func middle(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), .95).Center
}
