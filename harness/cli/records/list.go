package records

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
)

var _ = Commands.Add(console.Start, newList)

func newList(e *console.Console) *cobra.Command {
	var asJSON, always bool
	var tags string
	var split console.Shard
	c := &cobra.Command{
		Use:   "list [WORD…]",
		Short: "List the documented failures",
		Long: `List the documented failures, or those that have all the words in the fields that
the list shows and in their summaries. A control is a record that no release shows: the same
story where all goes well, so that a check which always fails is noticed. Lines fit the
terminal, or 80 columns; -o wide has whole titles.

With --shard i/N the replays are listed that "nodestorm verify --shard i/N" has of what
is chosen, of --all without words and tags, and how long each is expected to take; with
--invariants what must hold in every run, whatever its scenario is about.`,
		Example: `  nodestorm list
  nodestorm list taint karpenter
  nodestorm list --tags '@karpenter && ~@issue-7515' -o name`,
		RunE: func(cmd *cobra.Command, words []string) error {
			if always && len(words) > 0 {
				return exit.UsageError(fmt.Errorf("--invariants lists all of them: leave out %s", strings.Join(words, " ")))
			}
			if always {
				return listInvariants(e, asJSON)
			}
			c, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			entries, err := entriesWith(c, c.Features(), words, tags)
			if err != nil {
				return exit.UsageError(err)
			}
			if split.Asked() {
				return listShard(cmd.Context(), e, split.Split, c, choice{entries, words, tags}, asJSON)
			}
			switch {
			case e.Form == console.AsNames:
				var names []string
				for _, entry := range entries {
					names = append(names, entry.ID)
				}
				return e.Names(names)
			case asJSON:
				return e.JSON(entries)
			case e.Form == console.AsWide:
				return e.Table(0, 1, wideRows(entries))
			}
			return e.Table(e.PageColumns(), 1, rowsOf(entries))
		},
	}
	e.OutputFlags(c, &asJSON, console.AsWide, console.AsNames)
	c.Flags().StringVar(&tags, "tags", "", console.TagsUsage)
	c.Flags().BoolVar(&always, "invariants", false, "list what must hold in every run")
	split.AddFlags(c)
	e.CatalogueFlags(c)
	return c
}

// entriesWith are those of the catalogue that have all the words, and the tags.
func entriesWith(c *scenarios.Catalogue, features fs.FS, words []string, tags string) ([]scenarios.Entry, error) {
	tagged := map[string]bool{}
	if tags != "" {
		for _, s := range c.Bare() {
			is, err := replay.HasTags(tags, s.Tags)
			if err != nil {
				return nil, err
			}
			tagged[s.Record.ID] = is
		}
		records, err := replay.Tagged(c, features, tags)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			tagged[r.ID] = true
		}
	}
	entries := []scenarios.Entry{}
	for _, entry := range c.Entries() {
		about := strings.Join([]string{entry.ID, entry.Title, entry.Issue, entry.Fix, entry.Autoscaler, shownOn(entry), entry.Summary}, " ")
		if hasAll(about, words) && (tags == "" || tagged[entry.ID]) {
			entries = append(entries, entry)
		}
	}
	if len(entries) == 0 && len(words) > 0 {
		return nil, fmt.Errorf("no failure has the words %s; nodestorm list shows all %d", strings.Join(words, " "), len(c.Entries()))
	}
	return entries, nil
}

// shownOn are the releases that show the failure, of those it is verified on.
func shownOn(entry scenarios.Entry) string {
	switch {
	case entry.Control:
		return "none: a control"
	case len(entry.Targets) == 0:
		return "no record"
	}
	if shown := releases(entry, scenarios.Reproduced); shown != "-" || entry.Affected == "" {
		return shown
	}
	return string(entry.Affected) // none of which is verified
}

func releases(entry scenarios.Entry, expected scenarios.Expectation) string {
	var versions []string
	for _, t := range entry.Targets {
		if t.Expected == expected {
			versions = append(versions, t.Version())
		}
	}
	if len(versions) == 0 {
		return "-"
	}
	return strings.Join(versions, " ")
}

func rowsOf(entries []scenarios.Entry) [][]string {
	rows := [][]string{{"ID", "TARGET", "SHOWN BY", "TITLE"}}
	for _, entry := range entries {
		rows = append(rows, []string{entry.ID, entry.Autoscaler, shownOn(entry), entry.Title})
	}
	return rows
}

func wideRows(entries []scenarios.Entry) [][]string {
	rows := [][]string{{"ID", "ISSUE", "FIX", "TARGET", "SHOWN BY", "HEALTHY ON", "FEATURE", "TITLE"}}
	for _, entry := range entries {
		fix := entry.Fix
		if fix == "" {
			fix = "-"
		}
		rows = append(rows, []string{entry.ID, entry.Issue, fix, entry.Autoscaler, shownOn(entry), releases(entry, scenarios.Healthy),
			entry.Feature, entry.Title})
	}
	return rows
}

// choice is what is listed, and by which words and tags it was chosen.
type choice struct {
	entries []scenarios.Entry
	words   []string
	tags    string
}

// records are those that verify plays for what is chosen, in its order.
func (o choice) records(e *console.Console, c *scenarios.Catalogue) ([]scenarios.Record, error) {
	if len(o.words) == 0 && o.tags == "" {
		records, err := replay.Choose(c, c.Features(), nil, "", true)
		return e.WithoutApart(c, records), err
	}
	if len(o.words) == 0 {
		return replay.Choose(c, c.Features(), nil, o.tags, false)
	}
	var ids []string
	for _, entry := range o.entries {
		ids = append(ids, entry.ID)
	}
	return replay.Choose(c, c.Features(), ids, "", false)
}

// listShard prints which replays the shard has.
func listShard(
	ctx context.Context, e *console.Console, split shard.Split, c *scenarios.Catalogue, chosen choice, asJSON bool,
) error {
	records, err := chosen.records(e, c)
	if err != nil {
		return err
	}
	part, jobs, err := split.Plan(ctx, records, console.Scratch)
	if err != nil {
		return exit.UsageError(err)
	}
	if asJSON {
		return e.JSON(append([]shard.Job{}, shard.JobsOf(part, jobs)...))
	}
	return shard.Show(e.Stdout, part, jobs)
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return false
		}
	}
	return true
}
