package replays

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/document"
	"nodestorm/reports/qualification"
)

// write writes the answer's files into a folder, if one is given, and prints it.
func (q *qualifying) write(ctx context.Context, r *stored.Reporter, answer *qualification.Qualification, out string) error {
	if out != "" {
		for name, write := range map[string]func(io.Writer) error{
			"qualification.html": answer.HTML,
			"qualification.json": func(w io.Writer) error { return answer.Write(w, "json") },
			"qualification.md":   func(w io.Writer) error { return answer.Write(w, "md") },
			"badge.json":         func(w io.Writer) error { return document.JSON(w, answer.Badge()) },
		} {
			if err := r.File(ctx, filepath.Join(out, name), write); err != nil {
				return err
			}
		}
	}
	if q.form != "" {
		return q.InYAML(func(w io.Writer) error { return answer.Write(w, q.form) })(q.Stdout)
	}
	err := answer.Text(q.Stdout, func(rows [][]string) error { return q.Table(console.Columns(q.Stdout), 4, rows) })
	if out != "" {
		fmt.Fprintf(q.Stdout, "\nThe page: %s\n", filepath.Join(out, "qualification.html"))
	}
	return err
}
