package stored

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"nodestorm/harness/run"
	"nodestorm/reports/document"
	"nodestorm/reports/qualification"
)

// QualificationFile is the page of a qualification. Beside it are its JSON, its text for an issue, and a badge's JSON.
const QualificationFile = "qualification.html"

// Qualify judges a release by stored runs, which are added to what is given, and writes the answer's files into out, if that is
// not empty. unread is the exit status of runs that could not be read. Without an answer it is why there is none.
func (r *Reporter) Qualify(
	ctx context.Context, found []Run, of qualification.Runs, out string,
) (answer *qualification.Qualification, unread error) {
	of.Cells, unread = r.Cells(ctx, found, out)
	if ctx.Err() != nil {
		return nil, unread
	}
	answer = qualification.From(time.Now(), of)
	if out == "" {
		return answer, unread
	}
	for name, write := range map[string]func(io.Writer) error{
		QualificationFile:    answer.HTML,
		"qualification.json": func(w io.Writer) error { return answer.Write(w, "json") },
		"qualification.md":   func(w io.Writer) error { return answer.Write(w, "md") },
		"badge.json":         func(w io.Writer) error { return document.JSON(w, answer.Badge()) },
	} {
		if err := r.File(ctx, filepath.Join(out, name), write); err != nil {
			return nil, err
		}
	}
	return answer, unread
}

// Decided are the runs below a folder that could decide, by scenario and target. Those count that this very nodestorm has
// played as their names say; of one with uncommitted changes that is none.
func (r *Reporter) Decided(ctx context.Context, dir string, self run.Code) (map[[2]string]int, error) {
	there := map[[2]string]int{}
	found, err := FindRuns(dir)
	if err != nil || self.Commit == "" || self.Dirty {
		return there, nil // there is none yet
	}
	for _, dir := range found {
		c, err := r.cell(ctx, Run{Dir: dir, Name: dir}, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && c.Decided() && c.Commit == self.Commit && len(c.Departures) == 0 {
			there[[2]string{c.Scenario, c.Target}]++
		}
	}
	return there, nil
}
