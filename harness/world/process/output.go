package process

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Tail is the last lines of a log, at most 12 and 2 KiB.
func Tail(path string) string {
	lines, err := lastLines(path, 2<<10)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	if len(lines) > 12 {
		lines = lines[len(lines)-12:]
	}
	return strings.Join(lines, "\n")
}

var (
	// fatal is how Go, klog and zap begin what a program says as it ends; a dump of its
	// stacks, of hundreds of lines, may follow.
	fatal = regexp.MustCompile(`^(panic: |fatal error: |F[0-9]{4} |runtime: out of memory)|"level":"(FATAL|PANIC|DPANIC|fatal|panic)"`)
	// stack is a line of such a dump.
	stack = regexp.MustCompile(`^(\s|goroutine [0-9]|created by |[a-z][0-9a-z]+ +0x|[\w./*()-]+\(.*\)$|exit status )|^$`)
)

// lastWords is the line of a log's end in which the program says why it ended: the
// last fatal one, or else the last that is none of a stack. Empty means that there
// is none.
func lastWords(path string) string {
	lines, err := lastLines(path, 1<<20)
	if err != nil {
		return ""
	}
	for _, says := range []func(string) bool{fatal.MatchString, func(line string) bool { return !stack.MatchString(line) }} {
		for _, line := range slices.Backward(lines) {
			if says(line) {
				const most = 500
				return strings.ToValidUTF8(line[:min(most, len(line))], "")
			}
		}
	}
	return ""
}

// lastLines are the last lines of a file, of at most so many bytes.
func lastLines(path string, most int64) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cut := false
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, err = f.Seek(-most, io.SeekEnd)
		cut = err == nil
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // the first is only its end
	}
	return lines, nil
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
