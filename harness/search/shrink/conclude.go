package shrink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/search/explore"
	"nodestorm/reports/formats"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
)

// write writes what there is of a failure: its schedule, feature and the draft of its record.
func write(folder string, d explore.Draft) error {
	text, err := d.Schedule.Feature(d.ID)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "schedule.yaml"), d.Schedule.YAML(), 0o644),
		os.WriteFile(filepath.Join(folder, d.ID+".feature"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(folder, d.ID+".yaml"), []byte(d.Record()), 0o644),
	)
}

// conclude keeps the run that shows it, and writes all again with what is known now, and the
// text for upstream. Which documented failure it is, if it is one, it returns.
func (x *shrinking) conclude(ctx context.Context, d explore.Draft, played table.Row, folder string) (known string, err error) {
	if played.Run == "" {
		return "", write(folder, d)
	}
	dir := filepath.Join(folder, "run")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(played.Run, dir)); err != nil {
		return "", err
	}
	checked, err := run.Recheck(ctx, dir, kept.Records(x.Catalogue))
	if err != nil {
		return "", err
	}
	events := slices.Collect(checked.Events.Timed())
	d.Evidence = evidenceOf(checked, x.Key)
	d.Faults = slices.ContainsFunc(events, func(r history.Entry) bool { return r.Source == history.Fault && r.Verb == "effective" })
	if err := write(folder, d); err != nil {
		return "", err
	}
	if err := symptomShows(filepath.Join(folder, d.ID+".feature"), d.ID, events); err != nil {
		x.message("the draft of the record is to be mended by hand: %v", err)
	}
	seen, err := summary.Run(ctx, dir, x.Catalogue, 0)
	if err != nil {
		return "", err
	}
	seen.Run.Title, seen.Run.Repeat = d.Title(), playedFeature.ReplaceAllString(seen.Run.Repeat, d.ID+".feature")
	var text strings.Builder
	if err := formats.Issue(&text, []*story.Story{seen}); err != nil {
		return "", err
	}
	feature, err := d.Schedule.Feature(d.ID)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&text, "\n**Versions that show it**\n\n%s\n**The feature**\n\n```gherkin\n%s```\n", d.Versions(), feature)
	known = explore.Known(x.Catalogue, events, d.Schedule.Site, x.Build.Ref.String(), d.Key)
	return known, os.WriteFile(filepath.Join(folder, "issue.md"), []byte(text.String()), 0o644)
}

// playedFeature is the name of one play's feature in a command that repeats it.
var playedFeature = regexp.MustCompile(`schedule-\d+\.feature`)

// evidenceOf are the events of a run that show that it broke the invariant.
func evidenceOf(checked run.Rechecked, key string) (shown []history.Entry) {
	var evidence []uint64
	for _, b := range invariants.Judge(checked.Events.Timed(), checked.Run.Subject()) {
		if b.Name == key {
			evidence = b.Evidence
		}
	}
	for r := range checked.Events.Timed() {
		if slices.Contains(evidence, r.Seq) {
			shown = append(shown, r)
		}
	}
	return shown
}

// symptomShows reads the draft as a catalogue, and finds its symptom in the run.
func symptomShows(feature, id string, events []history.Entry) error {
	own := new(scenarios.Catalogue)
	if err := own.Add(replay.ReadFolder(filepath.Dir(feature)).Own); err != nil {
		return err
	}
	record, err := own.Lookup(id)
	if err != nil {
		return err
	}
	if found := checker.Find(events, record.Symptom); found.Result != checker.Valid {
		return fmt.Errorf("its symptom is not in the run: %s", cmp.Or(found.Reason, string(found.Result)))
	}
	return nil
}
