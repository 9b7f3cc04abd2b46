package stored

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/formats"
	"nodestorm/reports/matrix"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
	"nodestorm/sim/strict"
)

// Cells are runs as cells of a matrix, with links relative to a folder. Runs that cannot be read
// are named and left out; unread is the exit status then.
func (r *Reporter) Cells(ctx context.Context, found []Run, base string) (cells []matrix.Cell, unread error) {
	for _, f := range found {
		c, err := r.cell(ctx, f, base)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			r.Say("left out: %v", err)
			unread = &exit.Error{Code: exit.Inconclusive}
			continue
		}
		cells = append(cells, c)
	}
	return cells, unread
}

func (r *Reporter) cell(ctx context.Context, f Run, base string) (c matrix.Cell, err error) {
	of, err := run.Checked(ctx, f.Dir)
	if err != nil {
		return c, err
	}
	redactor := redact.ForHere(kept.HasWord(r.Catalogue, f.Dir))
	expected := of.Expected
	if record, err := r.Catalogue.Lookup(of.ID); err == nil {
		expected = run.Expects(of.Target, record.Expected(of.Target.Ref.String()))
	}
	c = matrix.Cell{
		Scenario: of.ID, Target: of.Target.Ref.String(), Expected: string(expected), Verdict: string(of.Verdict),
		Reason:      redactor.Text(of.Reason),
		WallSeconds: of.Took().Seconds(), Started: of.Started, Kubernetes: summary.KubernetesVersion(of), Commit: of.Commit,
	}
	if summary.NamedSo(of.Target) != "" {
		c.Target = matrix.NamedSo(c.Target, of.Target.SHA256)
	}
	if of.Provenance != nil && of.Provenance.ControlPlane != nil {
		c.Target = matrix.OnKubernetes(c.Target, c.Kubernetes)
	}
	for _, departure := range summary.Departures(of) {
		c.Departures = append(c.Departures, redactor.Text(departure))
	}
	if of.Provenance == nil {
		c.Departures = append(c.Departures, "the run is of before nodestorm noted all that was run")
	}
	if of.Seal != nil {
		c.Digest = of.Seal.Run
	}
	if of.Verdict != "" {
		c.Outcome = string(verdict.Compare(expected, of.Verdict))
	}
	if _, err := os.Stat(f.Page); err == nil {
		// A link that needs the user's name is none to give away.
		if link := relative(base, f.Page); redactor.Text(link) == link {
			c.Run = link
		}
	}
	return c, nil
}

func relative(base, path string) string {
	from, err := filepath.Abs(base)
	if err != nil {
		return ""
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	link, err := filepath.Rel(from, to)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(link)
}

// Documented is the catalogue, as a matrix shows it.
func Documented(c *scenarios.Catalogue) []matrix.Scenario {
	var list []matrix.Scenario
	for _, r := range c.Records() {
		s := matrix.Scenario{
			ID: r.ID, Title: r.Title, System: r.System, Provider: r.Provider(), Issue: r.Issue, Fix: r.Fix,
			Affected: string(r.Affected), Fixed: string(r.Fixed), Control: r.Control(),
		}
		for _, t := range r.Targets {
			s.Targets = append(s.Targets, matrix.Promise{Target: t.Name, Expected: string(t.Expected)})
		}
		list = append(list, s)
	}
	return list
}

// ReadMatrix reads one in JSON.
func ReadMatrix(ctx context.Context, path string) (*matrix.Matrix, error) {
	file, err := strict.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return matrix.Read(file)
}

// Matrix is the newest run of each scenario and target of which keep holds, with what has changed
// since the matrix in a file; empty: not asked.
func (r *Reporter) Matrix(ctx context.Context, cells []matrix.Cell, keep matrix.Filter, since string) (*matrix.Matrix, error) {
	m := matrix.New(time.Now(), Documented(r.Catalogue), cells)
	if keep.Target != "" && !slices.ContainsFunc(m.Targets, func(t string) bool { return strings.Contains(t, keep.Target) }) {
		return nil, fmt.Errorf("--target %q: no run's target has this text; there are %s", keep.Target, strings.Join(m.Targets, ", "))
	}
	anyStatus := keep
	anyStatus.Status = "" // what has changed was another last time
	m.Filter(anyStatus)
	if since != "" {
		old, err := ReadMatrix(ctx, since)
		if err != nil {
			return nil, fmt.Errorf("--since %s: %w", since, err)
		}
		old.Filter(anyStatus)
		m.MarkChanges(old)
	}
	m.Filter(keep)
	return m, nil
}

// Publish writes a page for each run into its folder, one for the two sides of a failure where
// both were replayed, and into out an index of them all, whose path it returns, with what
// has changed since the last; empty if nothing was run.
func (r *Reporter) Publish(ctx context.Context, rows []table.Row, out string) (string, error) {
	var found []Run
	var without []matrix.Skip
	redactor := redact.ForHere(r.Catalogue.HasWord)
	for _, row := range rows {
		if row.Run == "" {
			without = append(without, matrix.Skip{Scenario: row.ID, Target: row.Target, Reason: redactor.Text(row.Reason)})
			continue
		}
		f := Run{row.Run, row.Run, filepath.Join(row.Run, run.ReportFile)}
		if err := r.Page(ctx, f.Page, f.Dir); err != nil { // in the place of one that a shard has left
			return "", err
		}
		found = append(found, f)
	}
	if len(rows) == 0 {
		return "", nil
	}
	known := Documented(r.Catalogue)
	for i := range known {
		beside, err := r.sides(ctx, rows, known[i].ID, out)
		if err != nil {
			return "", err
		}
		if beside != "" {
			known[i].Beside = relative(out, beside)
		}
	}
	cells, _ := r.Cells(ctx, found, out) // what it could not read it has said
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m := matrix.New(time.Now(), known, cells)
	m.Skipped = without
	m.Filter(matrix.Filter{}) // leaves failures out that were not replayed
	index, last := filepath.Join(out, "index.html"), filepath.Join(out, MatrixFile)
	if old, err := ReadMatrix(ctx, last); err == nil { // the one of before is no reason to have no new one
		m.MarkChanges(old.Intersect(m))
	}
	for path, format := range map[string]string{index: "html", last: "json"} {
		if err := r.File(ctx, path, func(w io.Writer) error { return m.Write(w, format) }); err != nil {
			return "", err
		}
	}
	return index, nil
}

// MatrixFile is the name of the matrix that Publish writes beside the index.
const MatrixFile = "matrix.json"

// sides writes the page of the last run that showed a failure beside the last
// that did not below out, and returns where it is, or "" if there are not both.
func (r *Reporter) sides(ctx context.Context, rows []table.Row, id, out string) (string, error) {
	last := func(of verdict.Verdict) string {
		for _, row := range slices.Backward(rows) {
			if row.ID == id && row.Verdict == string(of) && row.Run != "" {
				return row.Run
			}
		}
		return ""
	}
	affected, fixed := last(verdict.Reproduced), last(verdict.Healthy)
	if affected == "" || fixed == "" {
		return "", nil
	}
	path := filepath.Join(out, id, "side-by-side.html")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, r.Page(ctx, path, affected, fixed)
}

// JUnit writes all runs into out as one JUnit XML, in which one that cannot be read is missing and
// named.
func (r *Reporter) JUnit(ctx context.Context, rows []table.Row, out string) error {
	return r.File(ctx, filepath.Join(out, run.JUnitFile), func(w io.Writer) error {
		return formats.JUnitOf(w, func(yield func(*story.Story) bool) {
			for _, row := range rows {
				if row.Run == "" {
					continue
				}
				s, err := summary.Run(ctx, row.Run, r.Catalogue, 0)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					r.Say("%s is not in %s: %v", row.Run, run.JUnitFile, err)
					continue
				}
				if !yield(s) {
					return
				}
			}
		})
	})
}
