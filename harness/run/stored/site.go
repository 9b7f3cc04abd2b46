package stored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/site"
	"nodestorm/scenarios"
)

// Site writes the catalogue as a static site into the empty folder out: with the newest runs of each failure that show what
// its record expects, without credentials and names of the machine, and with the page of nights if there is one. It
// returns how many failures have runs.
func (r *Reporter) Site(ctx context.Context, found []Run, nights func(io.Writer) error, out string, scratch Scratch) (with int, err error) {
	var verified []matrix.Cell
	if err := json.Unmarshal(reports.Verified, &verified); err != nil {
		return 0, err
	}
	newest, cells, err := r.newest(ctx, found)
	if err != nil {
		return 0, err
	}
	m := matrix.New(time.Now(), Documented(r.Catalogue), matrix.Newest(verified, cells))
	s := &site.Site{Made: m.Made, Nights: nights != nil}
	for _, folder := range []string{"failures", site.RunsFolder} {
		if err := os.MkdirAll(filepath.Join(out, folder), 0o755); err != nil {
			return 0, err
		}
	}
	for _, record := range r.Catalogue.Records() {
		f, err := r.failure(record, m)
		if err != nil {
			return 0, err
		}
		f.Runs, f.Sides, err = r.runsOf(ctx, newest[record.ID], record.ID, out, scratch)
		if err != nil {
			return 0, err
		}
		if f.Runs != "" {
			with++
		}
		s.Failures = append(s.Failures, f)
	}
	if nights != nil {
		if err := r.File(ctx, filepath.Join(out, site.NightsFile), nights); err != nil {
			return 0, err
		}
	}
	for name, write := range s.Pages() {
		if err := r.File(ctx, filepath.Join(out, filepath.FromSlash(name)), write); err != nil {
			return 0, err
		}
	}
	return with, nil
}

// failure is a record as a page shows it.
func (r *Reporter) failure(record scenarios.Record, m *matrix.Matrix) (f site.Failure, err error) {
	f = site.Failure{
		ID: record.ID, Title: record.Title, System: record.System, Component: record.Autoscaler, Cloud: record.Provider(),
		Issue: record.Issue, Fix: record.Fix, Affected: string(record.Affected), Fixed: string(record.Fixed), Control: record.Control(),
		Summary: record.Summary, Mechanism: record.Mechanism, Notes: record.Notes, Related: record.Kin,
	}
	text, err := fs.ReadFile(r.Catalogue.Features(), record.Feature)
	if err != nil {
		return f, err
	}
	f.Feature = string(text)
	versions, err := scenarios.ReleasesOf(record.Autoscaler)
	if err != nil {
		return f, err
	}
	for _, target := range record.Targets {
		if version := target.Version(); !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	for _, version := range versions {
		target := record.Autoscaler + "@" + version
		release := site.Release{Version: version, Expected: string(record.Expected(target))}
		if c := m.At(record.ID, target); c != nil {
			release.Verdict, release.Verified = c.Verdict, c.Started
		}
		f.Releases = append(f.Releases, release)
	}
	return f, nil
}

// shown are the newest runs of a failure that show what is expected, by their verdicts.
type shown map[string]struct {
	Run
	matrix.Cell
}

// newest are those runs by the IDs of their scenarios, and all runs as cells. A run that something else was played in than
// its names say is left out.
func (r *Reporter) newest(ctx context.Context, found []Run) (by map[string]shown, cells []matrix.Cell, err error) {
	by = map[string]shown{}
	for _, f := range found {
		c, err := r.cell(ctx, f, "")
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err == nil && len(c.Departures) > 0 {
			err = errors.New(strings.Join(c.Departures, "; "))
		}
		if err != nil {
			r.Say("left out: %s: %v", f.Name, err)
			continue
		}
		cells = append(cells, c)
		if c.Verdict == "" || c.Verdict != c.Expected {
			continue
		}
		if by[c.Scenario] == nil {
			by[c.Scenario] = shown{}
		}
		if was, is := by[c.Scenario][c.Verdict]; !is || c.Started.After(was.Started) {
			by[c.Scenario][c.Verdict] = struct {
				Run
				matrix.Cell
			}{f, c}
		}
	}
	return by, cells, nil
}

// runsOf writes the page of the runs of a failure, and returns where it is and what it shows; empty without runs.
func (r *Reporter) runsOf(ctx context.Context, of shown, id, out string, scratch Scratch) (page, sides string, err error) {
	if len(of) == 0 {
		return "", "", nil
	}
	staging, remove, err := scratch()
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	var dirs []string
	for _, shows := range []verdict.Verdict{verdict.Reproduced, verdict.Healthy} {
		side, is := of[string(shows)]
		if !is {
			continue
		}
		dir := filepath.Join(staging, filepath.Base(side.Dir))
		if _, err := r.stage(ctx, side.Run, dir); err != nil {
			return "", "", err
		}
		dirs = append(dirs, dir)
		if sides != "" {
			sides += ", and "
		}
		sides += fmt.Sprintf("%s on %s", side.Verdict, side.Target)
	}
	page = path.Join(site.RunsFolder, id+".html")
	return page, sides, r.Page(ctx, filepath.Join(out, filepath.FromSlash(page)), dirs...)
}
