package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/night/store"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/matrix"
	"nodestorm/reports/nightly"
	"nodestorm/reports/redact"
	"nodestorm/scenarios"
)

func (e *env) nightly() *cobra.Command {
	c := group(&cobra.Command{Use: "nightly", Short: "A night's runs beside those of the nights before, and nights on Kubernetes"})
	c.AddCommand(e.nightlyReport(), e.nightlyManifest())
	return c
}

func (e *env) nightlyReport() *cobra.Command {
	var where, out string
	var last int
	var keep, asJSON bool
	c := &cobra.Command{
		Use:   "report NIGHT… --nights PLACE",
		Short: "Tell what is other than in the nights before",
		Long: `Hold the runs of a night against those of the nights before: newly failing, newly
healthy, flaky with how often, slower than noise can make it, and no longer run. NIGHT
is what verify, its shards or merge left: folders with runs, or with a matrix.json.

PLACE is a folder, or s3://BUCKET/PREFIX of any store that speaks S3, with a file for each
night; --keep adds this one to it, with all of its runs. The store is https://s3.amazonaws.com
or that of ` + bucket.EnvEndpoint + `; credentials are AWS's, from the environment or their file.

A text for a chat goes to standard output, and nightly.html, nightly.md and
nightly.json into --out.

Where a bucket's store refuses or cannot be reached, the report is of this night alone and
says so.

Exit status: 0 nothing new fails, 1 something does, 2 usage, 3 nothing new fails, and
something that was decided is inconclusive or not run any more, or could not be read or
kept.`,
		Example: `  nodestorm nightly report reports/out/merged shards --nights ~/nights --keep
  nodestorm nightly report reports/out/verify --nights s3://ci/nodestorm --last 30`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("no NIGHT is named: %s", c.UseLine()))
			}
			if last < 1 {
				return usage(fmt.Errorf("--last %d: want 1 or more", last))
			}
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			place, err := store.Open(where)
			if err != nil {
				return usage(fmt.Errorf("--nights: %w", err))
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return usage(fmt.Errorf("--out: %w; name a folder that can be written", err))
			}
			night, unread, err := e.night(c.Context(), args, catalogue, out)
			if err != nil {
				return usage(err)
			}
			before, err := e.nightsBefore(c.Context(), place, night, last, keep)
			missing := ""
			switch {
			case c.Context().Err() == nil && errors.As(err, new(*bucket.StoreError)):
				// The night took hours, and what is wrong is elsewhere.
				missing = redact.ForHere().Text(err.Error())
				e.say("--nights: the nights before are missing: %s", missing)
			case err != nil:
				return usage(fmt.Errorf("--nights: %w", err))
			}
			leaveEarlier(night, before.nights)
			if before.unread || missing != "" {
				unread = &exit.Error{Code: Inconclusive}
			}
			report := nightly.Compare(named(append(before.nights, nightly.Night{Matrix: night})))
			report.Missing = missing
			files := &reporter{env: e}
			for _, format := range []string{"html", "md", "json"} {
				path := filepath.Join(out, "nightly."+format)
				if err := files.file(path, func(w io.Writer) error { return report.Write(w, format) }); err != nil {
					return err
				}
			}
			if asJSON {
				err = e.program(func(w io.Writer) error { return report.Write(w, "json") })
			} else {
				err = report.Write(e.stdout, "md")
			}
			if err != nil {
				return err
			}
			e.remark("for a browser: %s", filepath.Join(out, "nightly.html"))
			if keep {
				if err := e.keepNight(c.Context(), place, night); err != nil {
					unread = fmt.Errorf("this night is not kept, and the report is there; the same command keeps it later: %w", withRoom(err))
					if report.Counts[string(nightly.NewlyFailing)] > 0 {
						e.say("%v", unread)
					}
				}
			}
			switch {
			case report.Counts[string(nightly.NewlyFailing)] > 0:
				return &exit.Error{Code: NotAsExpected}
			case unread == nil && report.Counts[string(nightly.Inconclusive)]+report.Counts[string(nightly.Gone)] > 0:
				return &exit.Error{Code: Inconclusive}
			}
			return unread
		},
	}
	c.Flags().StringVar(&where, "nights", "", "`folder` of the nights before, or s3://BUCKET/PREFIX")
	c.Flags().StringVar(&out, "out", filepath.Join("reports", "out", "nightly"), "`folder` for the page, the text and the JSON")
	c.Flags().IntVar(&last, "last", 30, "how many nights before to look at")
	c.Flags().BoolVar(&keep, "keep", false, "add this night to the place")
	e.outputFlags(c, &asJSON)
	e.catalogueFlags(c)
	return c
}

// night gathers what was run in a night: all runs below the paths, or what matrices say
// where there are none.
func (e *env) night(ctx context.Context, paths []string, catalogue *scenarios.Catalogue, out string) (_ *matrix.Matrix, unread, err error) {
	night := &matrix.Matrix{}
	var told []matrix.Cell
	for _, path := range paths {
		found, done, err := e.runs(ctx, []string{path})
		defer done()
		matrices, none := matricesBelow(path)
		if err != nil && (none != nil || len(matrices) == 0) {
			return nil, nil, cmp.Or(none, err)
		}
		cells, cannot := e.cells(found, catalogue, out)
		unread = cmp.Or(unread, cannot)
		night.Cells = append(night.Cells, cells...)
		for _, m := range matrices {
			night.Skipped = append(night.Skipped, m.Skipped...)
			told = append(told, m.Cells...)
		}
	}
	runs := night.Cells
	for _, c := range told { // of runs that are elsewhere, and so is where the links lead
		if !slices.ContainsFunc(runs, func(r matrix.Cell) bool {
			return r.Scenario == c.Scenario && r.Target == c.Target && (c.Digest != "" && r.Digest == c.Digest || c.Digest == "" && r.Started.Equal(c.Started))
		}) {
			c.Run = ""
			night.Cells = append(night.Cells, c)
		}
	}
	for _, c := range night.Cells {
		if c.Started.After(night.Made) {
			night.Made = c.Started
		}
	}
	if len(night.Cells) == 0 && len(night.Skipped) == 0 {
		return nil, nil, fmt.Errorf("%s: there are no runs, and no matrix.json", strings.Join(paths, ", "))
	}
	if night.Made.IsZero() {
		night.Made = time.Now()
	}
	type key struct{ scenario, target, digest string }
	seen := map[key]bool{}
	once := func(k key) bool { was := seen[k]; seen[k] = true; return was }
	night.Cells = slices.DeleteFunc(night.Cells, func(c matrix.Cell) bool { return c.Digest != "" && once(key{c.Scenario, c.Target, c.Digest}) })
	night.Skipped = slices.DeleteFunc(night.Skipped, func(s matrix.Skip) bool {
		ran := slices.ContainsFunc(night.Cells, func(c matrix.Cell) bool { return c.Scenario == s.Scenario && c.Target == s.Target })
		return ran || once(key{s.Scenario, s.Target, "skipped"})
	})
	return night, unread, nil
}

// leaveEarlier takes out of a night the runs that nights before have counted, of what was run in it
// as well: their folder was not emptied.
func leaveEarlier(night *matrix.Matrix, before []nightly.Night) {
	type pair struct{ scenario, target string }
	counted, newer := map[string]bool{}, map[pair]bool{}
	for _, earlier := range before {
		for _, c := range earlier.Cells {
			counted[c.Digest] = c.Digest != ""
		}
	}
	for _, c := range night.Cells {
		if !counted[c.Digest] {
			newer[pair{c.Scenario, c.Target}] = true
		}
	}
	night.Cells = slices.DeleteFunc(night.Cells, func(c matrix.Cell) bool { return counted[c.Digest] && newer[pair{c.Scenario, c.Target}] })
}

// matricesBelow reads the matrices that verify and merge have left.
func matricesBelow(path string) (found []*matrix.Matrix, err error) {
	err = filepath.WalkDir(path, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "matrix.json" {
			return err
		}
		m, err := readMatrix(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		found = append(found, m)
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s is not there; name a folder with runs, or with a matrix.json", path)
	}
	return found, err
}

// earlier are the nights before one.
type earlier struct {
	nights []nightly.Night
	unread bool // not all of them could be read
}

// nightsBefore reads the last nights before this one. A damaged one is named and left out.
func (e *env) nightsBefore(ctx context.Context, place store.Place, night *matrix.Matrix, last int, keep bool) (before earlier, err error) {
	names, err := place.Names(ctx)
	if err != nil && keep && len(names) == 0 && errors.Is(err, os.ErrNotExist) {
		return before, nil // the first that is kept makes the folder
	}
	if err != nil {
		return before, err
	}
	slices.Sort(names) // by their day, as keepNight calls them
	slices.Reverse(names)
	for _, name := range names {
		if len(before.nights) == last {
			break
		}
		text, err := place.Read(ctx, name)
		var m *matrix.Matrix
		if err == nil {
			m, err = matrix.Read(bytes.NewReader(text))
		}
		if err != nil {
			if ctx.Err() != nil {
				return before, ctx.Err()
			}
			e.say("left out: %s: %v", name, err)
			before.unread = true
			continue
		}
		if m.Made.Before(night.Made) {
			before.nights = append(before.nights, nightly.Night{Matrix: m})
		}
	}
	return before, nil
}

// named gives the nights names: their days, with the time where a day has two.
func named(list []nightly.Night) []nightly.Night {
	days := map[string]int{}
	for _, n := range list {
		days[n.Made.UTC().Format(time.DateOnly)]++
	}
	for i, n := range list {
		list[i].Name = n.Made.UTC().Format(time.DateOnly)
		if days[list[i].Name] > 1 {
			list[i].Name = n.Made.UTC().Format("2006-01-02 15:04")
		}
	}
	return list
}

// keepNight adds the night to the place. Links to its runs would lead nowhere from there.
func (e *env) keepNight(ctx context.Context, place store.Place, night *matrix.Matrix) error {
	kept := *night
	kept.Cells = slices.Clone(night.Cells)
	for i := range kept.Cells {
		kept.Cells[i].Run = ""
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return place.Write(ctx, night.Made.UTC().Format("2006-01-02T150405Z")+".json", text)
}
