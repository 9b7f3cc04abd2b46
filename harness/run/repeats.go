package run

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"

	"nodestorm/harness/run/verdict"
	"nodestorm/sim/history"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// Repeats is the error that a target has logged most often, in a run that could not be set up.
type Repeats struct {
	Times int    `json:"times"`
	Text  string `json:"text"` // of the last time, in one line
}

// leastRepeats is how often an error is there at least that comes in every round.
const leastRepeats = 3

// longestLine is what a line of a log may have, in bytes: longer ones are no error that a person reads.
const longestLine = 64 << 10

// readRepeats looks for the error in the logs of a program in a folder, nil if there is none.
func readRepeats(ctx context.Context, dir, program string) (*Repeats, error) {
	files, _ := filepath.Glob(filepath.Join(dir, LogFolder, program+"*.log")) // no name of a program has a *
	all := map[string]*Repeats{}
	var most *Repeats
	for _, name := range files {
		file, err := strict.Open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("reading the target's log: %w", err)
		}
		lines := bufio.NewReaderSize(file, longestLine)
		for err == nil {
			var line []byte
			var cut bool
			line, cut, err = lines.ReadLine()
			text := errorIn(line)
			if cut || text == "" {
				continue
			}
			like := varies.ReplaceAllString(text, "#")
			if all[like] == nil {
				all[like] = &Repeats{}
			}
			found := all[like]
			found.Times, found.Text = found.Times+1, text
			if found.Times >= leastRepeats && (most == nil || found.Times > most.Times) {
				most = found
			}
		}
		if err := errors.Join(notEnd(err), file.Close()); err != nil {
			return nil, fmt.Errorf("reading the target's log: %w", err)
		}
	}
	return most, nil
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var (
	klogError = regexp.MustCompile(`^E\d{4} [\d:.]+ +\d+ [^ \]]+\] (.*)$`)
	// varies are the parts of an error that differ from round to round: numbers, and names with one at their end.
	varies = regexp.MustCompile(`[\w.-]*\d[\w.-]*`)
)

// errorIn is the error that a line of a log is, as klog and zap write it, or "".
func errorIn(line []byte) string {
	if m := klogError.FindSubmatch(line); m != nil {
		return oneline.Of(string(m[1]))
	}
	var entry struct{ Level, Message, Msg, Error string }
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &entry) != nil || entry.Level != "ERROR" && entry.Level != "error" {
		return ""
	}
	text := cmp.Or(entry.Message, entry.Msg)
	if entry.Error != "" {
		text += ": " + entry.Error
	}
	return oneline.Of(text)
}

// notSetUp reports whether a Given or a When has failed.
func notSetUp(events history.Entries) bool {
	for r := range events.Timed() {
		if step, is := history.OutcomeOf(r); is && step.Role != history.Then && step.Status == "failed" {
			return true
		}
	}
	return false
}

// applyTo is a judgement of a program's run with the error that it repeats.
func (r *Repeats) applyTo(j verdict.Judgement, program string) verdict.Judgement {
	// mutant: a run that was not set up hides what its target says
	if r != nil && j.Verdict == verdict.Inconclusive {
		j.Reason += fmt.Sprintf("; %s has logged this error %d times: %s", program, r.Times, r.Text)
	}
	return j
}
