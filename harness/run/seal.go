package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// Seal distinguishes a run that is as it was when it ended from one that was changed since, by
// a full disk, a bad copy or a hand. It is no signature: who changes everything can
// seal it anew.
type Seal struct {
	// History is that of the history's file, Record that of the catalogue's record
	// by which the run was judged. That of the target is in its manifest.
	History history.Digest `json:"history"`
	Record  string         `json:"record"`
	// Redacted says that this is a copy from which credentials were removed.
	Redacted bool `json:"redacted,omitempty"`
	// Run is that of run.json itself, with zeros in its place.
	Run string `json:"run"`
}

// RecordDigest is the SHA-256 of a record of the catalogue. Which releases it is verified
// on is no part of it: more of them make no other record.
func RecordDigest(record scenarios.Record) string {
	record.Targets, record.Releases = nil, nil
	text, err := json.Marshal(record)
	if err != nil {
		panic(fmt.Sprintf("record %s cannot be written as JSON: %v", record.ID, err)) // it is data
	}
	return digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// unsealed stands in run.json for its own digest while that is computed.
var unsealed = strings.Repeat("0", 2*sha256.Size)

// ownDigest is how a digest stands in run.json. In no text of the file its quotes
// are without backslashes.
func ownDigest(sum string) []byte { return fmt.Appendf(nil, `"run": %q`, sum) }

func (r Run) encode() ([]byte, error) {
	if r.Seal != nil {
		seal := *r.Seal
		seal.Run = unsealed
		r.Seal = &seal
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return bytes.Replace(text, ownDigest(unsealed), ownDigest(digest(text)), 1), nil
}

// integrityProblems says why nothing may be concluded from what run.json says, a sentence each;
// text is all of it.
func (r Run) integrityProblems(text []byte) (doubts []string) {
	// mutant: a run may be called anything
	if wrong := r.Misshapen(); len(wrong) > 0 {
		return wrong
	}
	if r.Format < Format {
		return []string{fmt.Sprintf("%s has format %d, in which runs had no digests: the run can be shown, "+
			"and has to be made again to conclude something", File, r.Format)}
	}
	if r.Seal == nil {
		return []string{File + " has no digests: the run did not come to its end, or they were removed"}
	}
	own := ownDigest(r.Seal.Run)
	if bytes.Count(text, own) != 1 || digest(bytes.Replace(text, own, ownDigest(unsealed), 1)) != r.Seal.Run {
		doubts = append(doubts, File+" was changed since the run: its digest is another")
	}
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"verdict", r.Verdict == ""},
		{"target", r.Target.Name == "" || r.Target.Version == ""},
		{"target's digest", r.Target.Name != "" && r.Target.SHA256 == ""},
		{"record's digest", r.Seal.Record == ""},
		{"clock", r.Clock.Mode == "" && r.Unplayed == ""}, // without a world there was none
	} {
		if part.missing {
			doubts = append(doubts, fmt.Sprintf("%s does not have the %s", File, part.name))
		}
	}
	return doubts
}

// maxNamed bounds how many problems of a history are named one by one.
const maxNamed = 10

// Read reads the run's history in dir, and gives each event to each, as through, if it
// is not nil, lets the text through. It returns why nothing may be concluded from the
// run, a sentence each; none if it is as it was when it ended. The error is that of
// opening the history, or the cause of ctx, which ends the reading.
func (r Run) Read(
	ctx context.Context, dir string, through func(io.Reader) io.Reader, each func(history.Entry),
) (doubts []string, err error) {
	file, err := strict.Open(ctx, filepath.Join(dir, HistoryFile))
	if err != nil {
		return r.doubts, err
	}
	defer file.Close()
	sum, last := sha256.New(), uint64(0)
	var found []string
	text := io.TeeReader(file, sum)
	if through != nil {
		text = through(text)
	}
	problems := history.Scan(text, func(event history.Entry) {
		switch {
		case event.Seq > last+1:
			found = append(found, fmt.Sprintf("%s: seq %d to %d are missing", HistoryFile, last+1, event.Seq-1))
		case event.Seq <= last:
			found = append(found, fmt.Sprintf("%s: seq %d is out of its place, behind %d", HistoryFile, event.Seq, last))
		}
		last = max(last, event.Seq)
		if what := unknown(event); what != "" {
			found = append(found, fmt.Sprintf("%s: seq %d has an unknown %s", HistoryFile, event.Seq, what))
		}
		each(event)
	})
	if err := context.Cause(ctx); err != nil { // what has been read says nothing of the rest
		return nil, err
	}
	for _, p := range problems {
		doubts = append(doubts, fmt.Sprintf("%s, %v", HistoryFile, p))
	}
	if doubts = append(doubts, found...); len(doubts) > maxNamed {
		doubts = append(doubts[:maxNamed:maxNamed], fmt.Sprintf("%s: %d problems more", HistoryFile, len(doubts)-maxNamed))
	}
	if r.Seal != nil {
		// What is behind a place where reading ended counts as well.
		if _, err := io.Copy(sum, file); err != nil {
			return nil, err
		}
		if r.Seal.History.Events != last {
			doubts = append(doubts,
				fmt.Sprintf("%s had %d events when the run ended, and its last is %d", HistoryFile, r.Seal.History.Events, last))
		}
		if hex.EncodeToString(sum.Sum(nil)) != r.Seal.History.SHA256 {
			doubts = append(doubts, HistoryFile+" was changed since the run, or is another run's: its digest is another")
		}
	}
	return slices.Concat(r.doubts, doubts), nil
}

// verbs are what sources say in a run's history. Sources that are not here say anything.
var verbs = map[history.Source][]string{
	history.API:   {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	history.Fault: history.FaultVerbs(),
	history.Step:  vocabulary.Verbs(history.Step),
}

// unknown names what of an event no nodestorm writes, or is "".
func unknown(r history.Entry) string {
	if !slices.Contains(history.Sources(), r.Source) {
		return fmt.Sprintf("source %q", r.Source)
	}
	if known := verbs[r.Source]; known != nil && !slices.Contains(known, r.Verb) {
		return fmt.Sprintf("verb %q of source %s", r.Verb, r.Source)
	}
	roles := []history.Role{history.Given, history.When, history.Then}
	if kind := r.Detail.Text("kind"); r.Source == history.Step && !slices.Contains(roles, history.Role(kind)) {
		return fmt.Sprintf("kind of step %q", kind)
	}
	return ""
}

// Doubtful is the judgement of a run that is not as it was when it ended.
func Doubtful(doubts []string) verdict.Judgement {
	reason := "the stored run proves nothing: " + doubts[0]
	if more := len(doubts) - 1; more > 0 {
		reason += fmt.Sprintf("; and %d more", more)
	}
	return verdict.Judgement{Verdict: verdict.Inconclusive, Reason: reason}
}

// Checked is Load for those who count with the verdict: it is inconclusive where the
// run is not as it was when it ended. A run that has no verdict has none.
func Checked(ctx context.Context, dir string) (Run, error) {
	r, err := Load(dir)
	if err != nil || r.Verdict == "" {
		return r, err
	}
	doubts, err := r.Read(ctx, dir, nil, func(history.Entry) {})
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		doubts = append(doubts, fmt.Sprintf("%s cannot be read: %v", HistoryFile, strict.WithoutPath(err)))
	}
	if len(doubts) > 0 {
		r.Judgement = Doubtful(doubts)
	}
	return r, nil
}

// Reseal seals the copy of a run from which credentials were removed. What was wrong
// with the run before stays wrong: call it only for one without doubts, see Sound.
func Reseal(ctx context.Context, dir string) error {
	r, err := Load(dir)
	if err != nil {
		return err
	}
	if r.Seal == nil {
		return fmt.Errorf("%s has no digests", filepath.Join(dir, File))
	}
	text, err := strict.Open(ctx, filepath.Join(dir, HistoryFile))
	if err != nil {
		return err
	}
	defer text.Close()
	sum, last := sha256.New(), uint64(0)
	history.Scan(io.TeeReader(text, sum), func(event history.Entry) { last = max(last, event.Seq) })
	if _, err := io.Copy(sum, text); err != nil {
		return err
	}
	r.Seal.History = history.Digest{Events: last, SHA256: hex.EncodeToString(sum.Sum(nil))}
	r.Seal.Redacted = true
	return r.Save(dir)
}

// Sound reports whether the run in dir is as it was when it ended.
func Sound(ctx context.Context, dir string) bool {
	r, err := Load(dir)
	if err != nil {
		return false
	}
	doubts, err := r.Read(ctx, dir, nil, func(history.Entry) {})
	return err == nil && len(doubts) == 0
}
