// Package issue makes a feature and a record to start from out of the text of an issue, as people paste it: Markdown with
// logs, objects, values of charts and what kubectl printed between its fences. What looks like something that package draft
// reads becomes a source of a draft; the words around it say which program and which release it is.
//
// Nothing of a text is trusted: its size is bounded, no link is followed, and what is written has passed reports/redact.
package issue

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nodestorm/harness/draft"
	"nodestorm/harness/draft/lines"
	"nodestorm/sim/oneline"
)

// What is read of a text at most: GitHub takes 64 KiB for each, and a page has several.
const (
	mostText   = 4 << 20
	mostPieces = 500
	mostKept   = 20 // complaints, health checks, pods of a workload
)

// ClusterAPI is a program that records are about, and drafts are not.
const ClusterAPI = "cluster-api"

// Programs are those that the text of an issue can be about.
func Programs() []string { return []string{draft.Karpenter, draft.ClusterAutoscaler, ClusterAPI} }

// text is what the text of an issue says.
type text struct {
	title    string
	linked   string            // OWNER/REPOSITORY#NUMBER, of the first link to an issue
	mentions map[string]int    // of each program
	releases map[string]string // of each program
	flags    []string          // of Cluster Autoscaler, as arguments
	settings map[string]string // of Karpenter's chart
	errors   []complaint
	checks   []map[string]any // MachineHealthChecks
	objects  []map[string]any // that were printed, or made of what was
	sources  []draft.Source
	notes    []string
	groups   []group // MachineDeployments
}

// complaint is a line of a log or an event about something that went wrong.
type complaint struct {
	event bool
	text  string // a log's message, or an event's reason
}

// group is a MachineDeployment and how many machines it has.
type group struct {
	name     string
	replicas int
}

// piece is what is between two fences, or between two such pieces.
type piece struct {
	line   int // of the text, where it begins
	fenced bool
	lines  []string
}

// pieces splits a text at its fences. One that is not closed goes on to the end.
func pieces(all []string) (list []piece) {
	now, fence := piece{line: 1}, ""
	end := func(next int) {
		if len(now.lines) > 0 {
			list = append(list, now)
		}
		now = piece{line: next + 1, fenced: fence != ""}
	}
	for i, line := range all {
		trimmed := strings.TrimSpace(line)
		mark := trimmed[:min(3, len(trimmed))]
		switch {
		case fence == "" && (mark == "```" || mark == "~~~"):
			fence = mark
			end(i + 1)
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			fence = ""
			end(i + 1)
		default:
			now.lines = append(now.lines, line)
		}
	}
	end(len(all))
	return list
}

// read reads the text at a path.
func read(ctx context.Context, path string) (*text, error) {
	in, err := lines.Open(ctx, path, func(string) {})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	all, cut, err := in.Fenced(mostText)
	if err != nil {
		return nil, err
	}
	t := &text{mentions: map[string]int{}, releases: map[string]string{}, settings: map[string]string{}}
	t.notes = in.Missing()
	if cut {
		t.addNote("the text is larger than %d MiB, and what is after that was not read", mostText>>20)
	}
	list := pieces(all)
	if len(list) > mostPieces {
		t.addNote("the text has %d pieces between fences; the first %d were read", len(list), mostPieces)
		list = list[:mostPieces]
	}
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.readWords(p)
		if p.fenced || slices.ContainsFunc(p.lines, printed) {
			t.addPiece(p)
		}
	}
	return t, nil
}

func (t *text) addNote(format string, args ...any) {
	if note := oneline.Cut(fmt.Sprintf(format, args...), 250); !slices.Contains(t.notes, note) && len(t.notes) < 50 {
		t.notes = append(t.notes, note)
	}
}

var (
	// klogLine and jsonLine are lines of programs' logs, eventRow is one of kubectl get events.
	klogLine   = regexp.MustCompile(`(?:^|[\s\]|])([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6}\s+\d+ [^:\s]+:\d+\] (.*)$`)
	jsonLine   = regexp.MustCompile(`\{.*"(?:message|msg)":"((?:[^"\\]|\\.)*)"`)
	errorLevel = regexp.MustCompile(`(?i)"level": *"error"`)
	eventRow   = regexp.MustCompile(`^\s*(?:[a-z0-9][a-z0-9-]*\s+)?(?:<unknown>|[0-9][0-9dhms]*)(?:\s+\(x\d+ over [^)]*\))?\s+` +
		`(Normal|Warning)\s+(\S+)\s+[A-Za-z.]+/\S+`)
)

// printed reports whether a line is what a program printed: people forget the fences.
func printed(line string) bool {
	return klogLine.MatchString(line) || eventRow.MatchString(line) || jsonLine.MatchString(line) || isTable(line) ||
		strings.HasPrefix(line, "apiVersion:")
}

// addPiece takes what a piece looks like: lines of logs, events and tables one by one, and the rest as a document.
func (t *text) addPiece(p piece) {
	var document, log, events []string
	var columns []column
	for _, line := range p.lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "$ ") || strings.HasPrefix(trimmed, "kubectl "):
			columns = nil
		case klogLine.MatchString(line) || jsonLine.MatchString(line):
			log = append(log, line)
			t.complains(line)
		case eventRow.MatchString(line):
			events = append(events, line)
			t.warns(line)
		case isTable(line):
			columns = columnsOf(line)
		case columns != nil && trimmed != "":
			t.row(columns, line)
		default:
			columns = nil
			document = append(document, line)
		}
	}
	t.source(draft.Log, p, log)
	t.source(draft.Events, p, events)
	t.document(p, document)
}

func (t *text) source(kind draft.Kind, p piece, all []string) {
	if len(all) > 0 {
		name := fmt.Sprintf("the text from line %d on", p.line)
		t.sources = append(t.sources, draft.Source{Kind: kind, Path: name, Text: strings.Join(all, "\n") + "\n"})
	}
}

// complains keeps what a line of a log has as an error.
func (t *text) complains(line string) {
	if m := klogLine.FindStringSubmatch(line); m != nil {
		if m[1] == "E" || m[1] == "F" {
			t.complaint(complaint{text: m[2]})
		}
	} else if m := jsonLine.FindStringSubmatch(line); m != nil && errorLevel.MatchString(line) {
		t.complaint(complaint{text: m[1]})
	}
}

// warns keeps the reason of an event that warns. That a pod finds no node is what an autoscaler is for.
func (t *text) warns(line string) {
	if m := eventRow.FindStringSubmatch(line); m != nil && m[1] == "Warning" && m[2] != "FailedScheduling" {
		t.complaint(complaint{event: true, text: m[2]})
	}
}

func (t *text) complaint(of complaint) {
	if of.text != "" && !slices.Contains(t.errors, of) && len(t.errors) < mostKept {
		t.errors = append(t.errors, of)
	}
}
