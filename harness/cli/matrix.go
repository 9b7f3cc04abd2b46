package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/redact"
	"nodestorm/scenarios"
)

// verifiedFile, below the checkout's root, holds what was last verified of each
// failure: runs themselves are too large to keep in git.
const verifiedFile = "reports/verified.json"

func (e *env) matrix() *cobra.Command {
	var format, to, since string
	var keep matrix.Filter
	var track bool
	c := &cobra.Command{
		Use:   "matrix RUN…",
		Short: "Show scenarios × targets, of stored runs",
		Long: `Show the newest run of each scenario and target: verdict, expectation, wall time
and a link. With --track-record the runs are noted in ` + verifiedFile + `, and the
table of documented failures in scenarios/README.md and its summary in README.md are
written anew from it; runs of uncommitted changes, or with a manifest, an order or
programs of your own, are left out. --since tells what has changed since the matrix
in a file.

Exit status: 0 written, 2 usage, 3 something could not be read or noted, or nothing is
what is asked for.`,
		Example: `  nodestorm matrix reports/out
  nodestorm matrix reports/out --out matrix.html
  nodestorm matrix reports/out -o md --since last.json
  nodestorm matrix reports/out --provider hetzner --status regression -o json
  nodestorm matrix reports/out --track-record`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && !track {
				return usage(fmt.Errorf("no RUN is named: %s", c.UseLine()))
			}
			if track && keep != (matrix.Filter{}) {
				return usage(errors.New("--track-record notes all runs: leave out what filters them"))
			}
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			if err := checkFilter(keep, catalogue); err != nil {
				return usage(err)
			}
			found, done, err := e.runs(c.Context(), args)
			defer done()
			if err != nil {
				return usage(err)
			}
			cells, unread := e.cells(found, catalogue, filepath.Dir(to))
			if track {
				return cmp.Or(e.trackRecord(catalogue, cells), unread)
			}
			m := matrix.New(time.Now(), documented(catalogue), cells)
			if keep.Target != "" && !slices.ContainsFunc(m.Targets, func(t string) bool { return strings.Contains(t, keep.Target) }) {
				return usage(fmt.Errorf("--target %q: no run's target has this text; there are %s", keep.Target, strings.Join(m.Targets, ", ")))
			}
			anyStatus := keep
			anyStatus.Status = "" // what has changed was another last time
			m.Filter(anyStatus)
			if since != "" {
				old, err := readMatrix(since)
				if err != nil {
					return usage(fmt.Errorf("--since %s: %w", since, err))
				}
				old.Filter(anyStatus)
				m.Since(old)
			}
			m.Filter(keep)
			if len(m.Cells) == 0 && unread == nil {
				e.say("none of the %s is what is asked for", counted(len(cells), "run"))
				unread = &exit.Error{Code: Inconclusive}
			}
			switch {
			case format == "" && to == "":
				return cmp.Or(e.tellMatrix(m), unread)
			case format == "":
				format = "html"
			}
			return cmp.Or((&reporter{env: e}).file(cmp.Or(to, "-"), e.inYAML(func(w io.Writer) error { return m.Write(w, format) })), unread)
		},
	}
	e.formatFlags(c, &format, "", []string{"html", "md", "json", "yaml"})
	c.Flags().StringVar(&to, "out", "", "`file` to write, as HTML unless -o says otherwise; without it a table is printed")
	c.Flags().StringVar(&since, "since", "", "last matrix, a JSON `file`, to tell what has changed")
	c.Flags().StringVar(&keep.System, "system", "", "only failures of a `system`: "+strings.Join(scenarios.Systems, ", "))
	c.Flags().StringVar(&keep.Provider, "provider", "", "only failures of an autoscaler linked with this `cloud`: hetzner, clusterapi…")
	c.Flags().StringVar(&keep.Target, "target", "", "only targets whose name has this `text`")
	c.Flags().StringVar(&keep.Status, "status", "", "only this `verdict` or outcome: reproduced, healthy, failed, inconclusive, expected, regression…")
	e.catalogueFlags(c)
	c.Flags().BoolVar(&track, "track-record", false, "note the runs as verified, and write the table of scenarios/README.md")
	return c
}

// tellMatrix prints a line for each run.
func (e *env) tellMatrix(m *matrix.Matrix) error {
	rows := [][]string{{"SCENARIO", "TARGET", "VERDICT", "EXPECTED", "WALL", "REASON"}}
	for _, c := range m.Cells {
		rows = append(rows, []string{
			reports.Clean(c.Scenario), reports.Clean(c.Target), reports.Clean(cmp.Or(c.Verdict, "-")), reports.Clean(cmp.Or(c.Expected, "-")),
			fmt.Sprintf("%.1fs", c.WallSeconds), reports.Clean(c.Reason),
		})
	}
	if len(m.Cells) > 0 {
		if err := e.table(columns(e.stdout), 3, rows); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout)
	}
	fmt.Fprintln(e.stdout, m.Sum())
	for _, skip := range m.Skipped {
		fmt.Fprintf(e.stdout, "skipped: %s on %s: %s\n", reports.Clean(skip.Scenario), reports.Clean(skip.Target), reports.Clean(skip.Reason))
	}
	for _, change := range m.Changes {
		fmt.Fprintf(e.stdout, "since the last matrix: %s\n", reports.Clean(change))
	}
	return nil
}

// checkFilter makes sure that runs can have what the filter asks for. What targets there
// are only the runs know.
func checkFilter(keep matrix.Filter, catalogue *scenarios.Catalogue) error {
	providers := map[string]bool{}
	for _, r := range catalogue.Records() {
		if p := r.Provider(); p != "" {
			providers[p] = true
		}
	}
	for _, of := range []struct {
		flag, value string
		allowed     []string
	}{
		{"system", keep.System, scenarios.Systems}, {"provider", keep.Provider, slices.Sorted(maps.Keys(providers))}, {"status", keep.Status, verdict.Statuses()},
	} {
		if of.value != "" && !slices.Contains(of.allowed, of.value) {
			return fmt.Errorf("--%s %q: want one of %s", of.flag, of.value, strings.Join(of.allowed, ", "))
		}
	}
	return nil
}

// cells are runs as cells, with links relative to a folder. Runs that cannot be read
// are named and left out; unread is the exit status then.
func (e *env) cells(found []stored, catalogue *scenarios.Catalogue, base string) (cells []matrix.Cell, unread error) {
	redactor := redact.ForHere()
	for _, f := range found {
		r, err := run.Checked(f.dir)
		if err != nil {
			e.say("left out: %v", err)
			unread = &exit.Error{Code: Inconclusive}
			continue
		}
		expected := r.Expected
		if record, err := catalogue.Lookup(r.ID); err == nil {
			expected = record.Expected(r.Target.Ref.String())
		}
		c := matrix.Cell{
			Scenario: r.ID, Target: r.Target.Ref.String(), Expected: string(expected), Verdict: string(r.Verdict), Reason: redactor.Text(r.Reason),
			WallSeconds: r.Took().Seconds(), Started: r.Started, Kubernetes: summary.KubernetesVersion(r), Commit: r.Commit,
		}
		if r.Provenance != nil && r.Provenance.ControlPlane != nil {
			c.Target = matrix.OnKubernetes(c.Target, c.Kubernetes)
		}
		for _, departure := range summary.Departures(r) {
			c.Departures = append(c.Departures, redactor.Text(departure))
		}
		if r.Provenance == nil {
			c.Departures = append(c.Departures, "the run is of before nodestorm noted all that was run")
		}
		if r.Seal != nil {
			c.Digest = r.Seal.Run
		}
		if r.Verdict != "" {
			c.Outcome = string(verdict.Compare(expected, r.Verdict))
		}
		if _, err := os.Stat(f.page); err == nil {
			// A link that needs the user's name is none to give away.
			if link := relative(base, f.page); redactor.Text(link) == link {
				c.Run = link
			}
		}
		cells = append(cells, c)
	}
	return cells, unread
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

// documented is the catalogue, as the matrix shows it.
func documented(c *scenarios.Catalogue) []matrix.Scenario {
	var list []matrix.Scenario
	for _, r := range c.Records() {
		s := matrix.Scenario{ID: r.ID, Title: r.Title, System: r.System, Provider: r.Provider(), Issue: r.Issue, Fix: r.Fix, Affected: string(r.Affected), Fixed: string(r.Fixed), Control: r.Control()}
		for _, t := range r.Targets {
			s.Targets = append(s.Targets, matrix.Promise{Target: t.Name, Expected: string(t.Expected)})
		}
		list = append(list, s)
	}
	return list
}

func readMatrix(path string) (*matrix.Matrix, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return matrix.Read(file)
}

// trackRecord notes runs as verified, and writes the tables of them.
func (e *env) trackRecord(catalogue *scenarios.Catalogue, cells []matrix.Cell) error {
	root, err := buildstore.Root()
	if err != nil {
		return usage(err)
	}
	path := filepath.Join(root, verifiedFile)
	verified, err := readVerified(path)
	if err != nil {
		return err
	}
	var left error
	for _, c := range cells {
		if len(c.Departures) > 0 {
			e.say("%s on %s is not noted as verified: %s", c.Scenario, c.Target, strings.Join(c.Departures, "; "))
			left = &exit.Error{Code: Inconclusive}
		}
	}
	verified = matrix.Newest(verified, cells)
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(verified); err != nil {
		return err
	}
	record := documented(catalogue)
	write := map[string][]byte{path: encoded.Bytes()}
	for name, table := range map[string]string{"README.md": matrix.Summary(record, verified), "scenarios/README.md": matrix.TrackRecord(record, verified)} {
		file := filepath.Join(root, name)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		anew, err := matrix.Insert(string(text), table)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		write[file] = []byte(anew)
	}
	for _, file := range slices.Sorted(maps.Keys(write)) {
		if err := run.WriteFile(filepath.Dir(file), filepath.Base(file), write[file]); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, file)
	}
	return left
}

func readVerified(path string) ([]matrix.Cell, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var cells []matrix.Cell
	if err := json.Unmarshal(text, &cells); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return cells, nil
}
