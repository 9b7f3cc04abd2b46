package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/night/archive"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world/process"
	"nodestorm/reports/redact"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

// ScratchPrefix begins the names of folders in which bundles are packed and unpacked.
const ScratchPrefix = "nodestorm-bundle-"

// Scratch is a folder for a bundle.
func Scratch() (dir string, remove func() error, err error) { return process.Scratch(ScratchPrefix) }

// Runs finds the runs that args name, see stored.Find.
func (e *Console) Runs(ctx context.Context, args []string) (found []stored.Run, done func(), err error) {
	return stored.Find(ctx, args, Scratch)
}

// Reporter writes what is known of runs, for this command.
func (e *Console) Reporter(catalogue *scenarios.Catalogue) *stored.Reporter {
	return &stored.Reporter{Catalogue: catalogue, Pace: e.Verbose, Stdout: e.Stdout, Say: e.Say}
}

// Conclude prints the rows and turns them into the exit status, of which skipped ones
// are no part if not strict.
func (e *Console) Conclude(rows []table.Row, asJSON, strict bool) error {
	redactor := redact.ForHere(e.catalogue.HasWord)
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Reason = redactor.Text(rows[i].Reason)
	}
	if err := e.printRows(rows, asJSON); err != nil {
		return err
	}
	var outcomes []verdict.Outcome
	for _, r := range rows {
		switch {
		case r.Verdict == table.Missing:
			outcomes = append(outcomes, verdict.NotConclusive)
		case r.Verdict != table.Skipped || strict:
			outcomes = append(outcomes, verdict.Outcome(r.Outcome))
		}
	}
	if code := verdict.ExitStatus(outcomes...); code != exit.AsExpected {
		return &exit.Error{Code: code}
	}
	return nil
}

// printRows prints the rows as the caller wants them; their names are those of the runs.
func (e *Console) printRows(rows []table.Row, asJSON bool) error {
	switch {
	case e.Form == AsNames:
		var names []string
		for _, r := range rows {
			if r.Run != "" {
				names = append(names, r.Run)
			}
		}
		return e.Names(names)
	case asJSON:
		return e.JSON(table.Finite(rows))
	}
	return table.Write(e.Stdout, e.Style(), rows)
}

// BreakOff prints the rows there are when err ends the command early.
func (e *Console) BreakOff(rows []table.Row, asJSON bool, err error) error {
	if len(rows) > 0 {
		_ = e.Conclude(rows, asJSON, false) // err decides the exit status
	}
	return err
}

// Finish prints the rows, writes their reports into out, and turns the rows into the exit
// status. A report that cannot be written takes nothing from what was seen.
func (e *Console) Finish(ctx context.Context, catalogue *scenarios.Catalogue, rows []table.Row, out string, asJSON, strict bool) error {
	concluded := e.Conclude(rows, asJSON, strict)
	if !asJSON && e.Form != AsNames {
		fmt.Fprint(e.Stdout, table.Numbered(rows))
	}
	index, err := e.Reporter(catalogue).Publish(ctx, rows, out)
	switch {
	case err != nil:
		e.Say("no report: %v", err)
	case index != "" && asJSON:
		e.Remark("report: %s", index)
	case index != "":
		fmt.Fprintf(e.Stdout, "\nWhat happened, for a browser: %s\n", index)
	}
	return concluded
}

// CheckOut makes sure that runs can be written to a folder, and returns it from the root on.
func CheckOut(out string) (from string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("--out: %w; name a folder that can be written", err)
		}
	}()
	if out == "" {
		return "", errors.New("no folder given")
	}
	if from, err = filepath.Abs(out); err != nil {
		return "", err
	}
	if err := os.MkdirAll(from, 0o755); err != nil {
		return "", err
	}
	probe, err := os.MkdirTemp(from, ".probe-")
	if err != nil {
		return "", err
	}
	return from, os.Remove(probe)
}

// UploadFlag is the one of commands that keep what they leave in a bucket, too.
func UploadFlag(c *cobra.Command, u *archive.Upload) {
	u.Scratch = Scratch
	c.Flags().StringVar(&u.Where, archive.Flag, "",
		"also keep --out as an archive in `BUCKET`, s3://NAME/PREFIX, with AWS credentials")
}
