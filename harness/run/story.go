package run

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nodestorm/harness/verdict"
	"nodestorm/reports"
	"nodestorm/reports/page"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/clock"
	"nodestorm/sim/history"
)

// Tell reads the run in dir for people, here and elsewhere: all reports of stored runs
// are made of what it returns and of [Logs], and both have passed the redactor. What can be read is told and the rest is
// named in the story's Problems: a run.json or a history that is cut off,
// damaged, of another program or of a later format. An error means that dir has
// neither. hourlyEUR is what a machine costs that does not tell itself, 0 for
// unknown.
func Tell(dir string, catalogue *scenarios.Catalogue, hourlyEUR float64) (*story.Story, error) {
	r, err := Load(dir)
	if catalogue != nil {
		if record, err := r.record(dir, catalogue); err == nil {
			catalogue = scenarios.Of(record)
		}
	}
	about := Describe(r, catalogue)
	about.HourlyEUR = hourlyEUR
	if err != nil {
		about.ID = filepath.Base(dir)
		if path, err := filepath.Abs(dir); err == nil { // "." is no name
			about.ID = filepath.Base(path)
		}
		about.Problems = append(about.Problems, err.Error())
	}
	redactor := redact.ForHere()
	if err := redactor.JSON(&about); err != nil {
		return nil, fmt.Errorf("removing credentials: %w", err)
	}
	var doubts []string
	var openErr error
	told := TellFrom(about, func(each func(history.Record)) []string {
		doubts, openErr = r.read(dir, redactor, each)
		return doubts
	})
	switch {
	case openErr != nil && err != nil:
		return nil, fmt.Errorf("%s holds no run: neither %s nor %s can be read", dir, File, HistoryFile)
	case errors.Is(openErr, fs.ErrNotExist):
		doubts = append(doubts, fmt.Sprintf("%s is missing: what happened is not known", HistoryFile))
		told = story.NewBuilder(about).Story()
		told.Run.Problems = append(told.Run.Problems, doubts...)
	case openErr != nil:
		return nil, fmt.Errorf("reading a run: %w", openErr)
	}
	if len(doubts) > 0 && r.Verdict != "" {
		now := doubtful(doubts)
		told.Run.Verdict, told.Run.Reason, told.Run.Evidence = string(now.Verdict), now.Reason, nil
		told.Run.Outcome = string(verdict.Compare(r.Expected, now.Verdict))
	}
	for i, problem := range told.Run.Problems { // of paths, and of what a stranger wrote
		told.Run.Problems[i] = redactor.Text(problem)
	}
	told.Run.Reason = redactor.Text(told.Run.Reason)
	return told, nil
}

// TellFrom makes the story of a run from its records, which scan gives away; what it
// returns are problems.
func TellFrom(about story.Run, scan func(func(history.Record)) []string) *story.Story {
	b := story.NewBuilder(about)
	ended := false
	problems := scan(func(r history.Record) {
		ended = ended || r.Source == history.Harness && r.Verb == history.Ended
		b.Add(r)
	})
	s := b.Story()
	s.Run.Problems = append(s.Run.Problems, problems...)
	if !ended && !about.Live {
		s.Run.Problems = append(s.Run.Problems, fmt.Sprintf("%s has no end: the run was cut off, and what is not in it may have happened", HistoryFile))
	}
	return s
}

// Describe is what reports say of a run besides its history. A scenario that the
// catalogue does not have any more is described as far as the run itself does.
func Describe(r Run, catalogue *scenarios.Catalogue) story.Run {
	about := story.Run{
		ID: r.ID, Autoscaler: r.Target.Name, Verdict: string(r.Verdict), Expected: string(r.Expected), Reason: r.Reason, Evidence: r.Evidence,
		Seed: r.Seed, Commit: r.Commit, Started: r.Started, Epoch: r.Epoch, Settings: r.Settings,
		Clock: story.Clock{
			Mode: r.Clock.Mode, Virtual: millis(r.Clock.Virtual), Wall: millis(r.Clock.Wall), Factor: finite(r.Clock.Mean),
			LagP50: millis(r.Clock.Lag.P50), LagP99: millis(r.Clock.Lag.P99), LagMax: millis(r.Clock.Lag.Max),
			Programs: Lateness(r.Clock),
		},
	}
	if about.Epoch.IsZero() { // runs of before had none; their virtual time began with them
		about.Epoch = r.Started
	}
	if r.Target.Name != "" {
		about.Target = r.Target.Ref.String()
		about.Source = strings.Trim(sourceOf(r.Target)+", "+r.Target.GoVersion, ", ")
	}
	about.Kubernetes = r.KubernetesVersion()
	if r.ID != "" {
		about.Departures, about.Builds = r.Departures(), r.builds()
	}
	if r.Provenance != nil && r.Provenance.Nodestorm.Commit != "" {
		about.Nodestorm = r.Provenance.Nodestorm.String()
	} else {
		about.Nodestorm = short(r.Commit)
	}
	if r.Verdict != "" {
		about.Outcome = string(verdict.Compare(r.Expected, r.Verdict))
	}
	if r.ID != "" && about.Target != "" {
		about.Repeat = r.repeat(about.Departures)
	}
	if catalogue == nil {
		return about
	}
	if record, err := catalogue.Lookup(r.ID); err == nil {
		about.Title, about.Summary, about.Mechanism = record.Title, record.Summary, record.Mechanism
		about.Issue, about.Fix, about.Symptom = record.Issue, record.Fix, record.Symptom.Statement
	}
	return about
}

// Logs opens the logs in the run's folder, those of links left out; see [Tell]. Close them
// all with the function, which is never nil.
func Logs(dir string) ([]page.Log, func()) {
	paths, _ := filepath.Glob(filepath.Join(dir, LogFolder, "*.log")) // the pattern is ours
	var logs []page.Log
	var files []*os.File
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		files = append(files, file)
		logs = append(logs, page.Log{Name: strings.TrimSuffix(filepath.Base(path), ".log"), Text: redact.ForHere().Reader(file)})
	}
	return logs, func() {
		for _, file := range files {
			_ = file.Close() // it was only read
		}
	}
}

// Lateness is how late each program of the run was, for reports.
func Lateness(f clock.Figures) []reports.Program {
	var programs []reports.Program
	for _, p := range f.Programs {
		programs = append(programs, reports.Program{
			Name: p.Name, Vital: p.Vital, Timers: p.Lag.Timers, P99: millis(p.Lag.P99), Max: millis(p.Lag.Max),
			Stopped: millis(p.Stopped), Disk: millis(p.Disk), Distorted: p.Distorted(),
		})
	}
	return programs
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
