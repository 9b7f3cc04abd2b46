package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"nodestorm/reports/redact"
	"nodestorm/sim/strict"
)

// Log is a component's log.
type Log struct {
	Name string // "karpenter"
	Text io.Reader
}

// Logs opens the logs in a folder, those of links left out, as the redactor lets them
// through, as long as ctx lasts. Words of says stay. Close them all with the function, which is never nil.
func Logs(ctx context.Context, folder string, says redact.HasWord) ([]Log, func()) {
	var logs []Log
	var files []*os.File
	root, err := os.OpenRoot(filepath.Dir(folder)) // no link leads out of it
	if err != nil {
		return nil, func() {}
	}
	defer root.Close()
	paths, _ := fs.Glob(root.FS(), filepath.Base(folder)+"/*.log") // the pattern is ours
	for _, path := range paths {
		if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		file, err := root.Open(path)
		if err != nil {
			continue
		}
		files = append(files, file)
		text := redact.ForHere(says).Reader(strict.WithContext(ctx, file))
		logs = append(logs, Log{Name: strings.TrimSuffix(filepath.Base(path), ".log"), Text: text})
	}
	return logs, func() {
		for _, file := range files {
			_ = file.Close() // it was only read
		}
	}
}

// logTable is what the page's head says of a log.
type logTable struct {
	Name  string `json:"name"`
	Lines int    `json:"lines"`
	// Timeless says that no line has a time: all of them are in every window.
	Timeless bool `json:"timeless,omitempty"`
	// Note says what of it is not here.
	Note string `json:"note,omitempty"`
}

const (
	// maxLogLine is how much of a line is kept, in bytes.
	maxLogLine = 8 << 10
	// maxLog is how much of a log is kept, in bytes: its beginning.
	maxLog = 48 << 20
)

// log writes a log as three columns: the lines' times, their lengths, and the
// text. A line without a time has that of the line before.
func (p *packer) log(l Log, epoch time.Time) logTable {
	table := logTable{Name: l.Name}
	var times []int64
	var lines []string
	reader := bufio.NewReaderSize(l.Text, maxLogLine)
	size, longer, last, timed := 0, 0, int64(0), -1
	for {
		line, err := reader.ReadSlice('\n')
		text := string(bytes.TrimRight(line, "\r\n"))
		if errors.Is(err, bufio.ErrBufferFull) {
			longer++
			text += "…"
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = reader.ReadSlice('\n')
			}
		}
		if text != "" {
			if at, ok := lineTime(text, epoch); ok {
				last = micros(at)
				if timed < 0 {
					timed = len(times)
				}
			}
			times, lines = append(times, last), append(lines, strings.ToValidUTF8(text, "\ufffd"))
			size += len(text)
		}
		if err != nil {
			if err != io.EOF {
				table.Note = fmt.Sprintf("not read to its end: %v", err)
			}
			break
		}
		if size > maxLog {
			table.Note = fmt.Sprintf("the rest after %d MiB is in the run's folder", maxLog>>20)
			break
		}
	}
	if longer > 0 {
		table.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d lines cut to %d KiB", table.Note, longer, maxLogLine>>10), "; ")
	}
	table.Lines, table.Timeless = len(lines), timed < 0
	for i := range max(timed, 0) { // those before the first time belong to it
		times[i] = times[timed]
	}
	before := int64(0)
	p.column(len(times), func(i int) uint64 {
		step := zigzag(times[i] - before)
		before = times[i]
		return step
	})
	p.texts(lines)
	return table
}

// klog begins a line with severity, month, day and time of day.
var klog = regexp.MustCompile(`^[IWEF](\d{4} \d{2}:\d{2}:\d{2}\.\d{6}) `)

// stamps are how JSON lines write their time: RFC 3339, and zap's "ISO 8601" of etcd
// and Karpenter, whose offset has no colon.
var stamps = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700"}

// lineTime is when a line was written, as an offset from epoch, if it says so:
// klog's head, which is in UTC as are all programs of a world, or zap's and slog's JSON.
func lineTime(line string, epoch time.Time) (time.Duration, bool) {
	if epoch.IsZero() {
		return 0, false
	}
	if m := klog.FindStringSubmatch(line); m != nil {
		at, err := time.ParseInLocation("20060102 15:04:05.000000", fmt.Sprintf("%04d%s", epoch.UTC().Year(), m[1]), time.UTC)
		if err != nil {
			return 0, false
		}
		if at.Before(epoch.Add(-180 * 24 * time.Hour)) { // over New Year
			at = at.AddDate(1, 0, 0)
		}
		return at.Sub(epoch), true
	}
	if !strings.HasPrefix(line, "{") {
		return 0, false
	}
	var fields struct {
		TS   json.RawMessage `json:"ts"`
		Time json.RawMessage `json:"time"`
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		return 0, false
	}
	for _, raw := range []json.RawMessage{fields.TS, fields.Time} {
		var text string
		var seconds float64
		if json.Unmarshal(raw, &text) == nil {
			for _, layout := range stamps {
				if at, err := time.Parse(layout, text); err == nil {
					return at.Sub(epoch), true
				}
			}
		} else if json.Unmarshal(raw, &seconds) == nil && seconds > 1e9 && seconds < 1e11 {
			return time.Unix(0, int64(seconds*1e9)).Sub(epoch), true
		}
	}
	return 0, false
}
