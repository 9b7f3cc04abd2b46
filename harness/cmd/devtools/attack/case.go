package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nodestorm/reports/table"
)

// attack is one case: something that is tried, and what may come of it.
type attack struct {
	name string
	// do returns what was found wrong; the lab adds what is left of the commands.
	do func(ctx context.Context, c *scratch) found
}

// found is what came of a case.
type found struct {
	Verdicts []string `json:"verdicts,omitempty"` // in words, one for each run
	Wrong    []string `json:"wrong,omitempty"`
	Left     []string `json:"left,omitempty"`
}

// and is what came of two parts of a case.
func (f found) and(more found) found {
	return found{append(f.Verdicts, more.Verdicts...), append(f.Wrong, more.Wrong...), append(f.Left, more.Left...)}
}

// String is what came of it, in a line.
func (f found) String() string {
	said := strings.Join(f.Verdicts, ", ")
	if said == "" {
		said = "no verdict"
	}
	for _, wrong := range f.Wrong {
		said += "; WRONG: " + wrong
	}
	for _, left := range f.Left {
		said += "; LEFT: " + left
	}
	return said
}

// scratch are the folders of a case.
type scratch struct {
	lab *lab
	dir string
}

// run tries a case, in folders that are gone after it.
func (l *lab) run(ctx context.Context, c attack) (f found) {
	dir, err := os.MkdirTemp(l.dir, "case-")
	if err == nil {
		err = os.Chmod(dir, 0o777) // for a user without rights too
	}
	if err != nil {
		return found{Wrong: []string{err.Error()}}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return c.do(ctx, &scratch{l, dir})
}

// run is a command of nodestorm.
type run struct {
	args []string
	env  []string // beside what all get
	// wrap is a line for sh before the command, which has the folder for temporary files in $TMPDIR.
	wrap string
	// prefix is a program with its arguments that starts the command.
	prefix []string
	tmp    string // the folder for temporary files; default: one of its own
	within time.Duration
	// said gets each line of what it says, and the process of its keeper, while it runs.
	said func(line string, keeper int)
}

// ran is what came of a command.
type ran struct {
	kept
	stdout, stderr string
	rows           []table.Row
	late           bool // it had to be interrupted
	hung           bool // it did not end for that
}

// around is what a shell does before and after a command. Guards of one that was killed clean up after it.
const around = `trap : INT TERM; left=$1; shift
%s
"$@"; status=$?
n=0; while [ -n "$(ls -A "$TMPDIR")" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
ls -A "$TMPDIR" > "$left" 2>/dev/null; exit $status`

// patience is how long a command may take to end once it was interrupted.
const patience = 45 * time.Second

// command runs nodestorm and waits for its end, and for that of all that it has started.
func (l *lab) command(ctx context.Context, r run) (result ran) {
	dir := filepath.Join(l.dir, strconv.Itoa(int(l.commands.Add(1)))) // short, as paths of sockets are
	if err := errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
		return ran{stderr: err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if r.tmp == "" {
		r.tmp = filepath.Join(dir, "t")
		if err := errors.Join(os.Mkdir(r.tmp, 0o777), os.Chmod(r.tmp, 0o777)); err != nil {
			return ran{stderr: err.Error()}
		}
	}
	file, left := filepath.Join(dir, "kept"), filepath.Join(dir, "left")
	args := append([]string{keeping, file}, r.prefix...)
	// What is mounted on the folder is seen from within only.
	args = append(args, "/bin/sh", "-c", fmt.Sprintf(around, r.wrap), "sh", left, l.nodestorm)
	cmd := exec.Command(l.self, append(args, r.args...)...)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+r.tmp, "NODESTORM_CACHE="+l.store(), "NODESTORM_MIRROR=off", "NODESTORM_FROM=",
		"NODESTORM_ROOT="+l.root, "NODESTORM_CATALOGUE=", "XDG_STATE_HOME="+filepath.Join(dir, "state")), r.env...)
	cmd.Dir = dir
	var err error
	result.late, result.hung, err = converse(ctx, cmd, r, &result)
	if text, read := os.ReadFile(file); err == nil && read == nil {
		err = json.Unmarshal(text, &result.kept)
	} else if err == nil {
		err = read
	}
	if err != nil {
		result.Left = append(result.Left, err.Error())
	}
	_ = json.Unmarshal([]byte(result.stdout), &result.rows) // no rows are in what is no JSON
	text, read := os.ReadFile(left)
	if read != nil { // the shell was killed too
		text = []byte(strings.Join(names(r.tmp), "\n"))
	}
	for name := range strings.FieldsSeq(string(text)) {
		result.Left = append(result.Left, "file "+name+" in TMPDIR")
	}
	return result
}

func names(dir string) (all []string) {
	entries, _ := os.ReadDir(dir) // nothing is in what cannot be read
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// converse starts the keeper, hands on what the command says, and interrupts it when its time is over.
func converse(ctx context.Context, cmd *exec.Cmd, r run, result *ran) (late, hung bool, err error) {
	var stdout, stderr strings.Builder
	cmd.Stdout = &stdout
	says, err := cmd.StderrPipe()
	if err != nil {
		return false, false, err
	}
	if err := cmd.Start(); err != nil {
		return false, false, err
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		lines := bufio.NewReader(says)
		for {
			line, err := lines.ReadString('\n')
			stderr.WriteString(line)
			if r.said != nil && line != "" {
				r.said(line, cmd.Process.Pid)
			}
			if err != nil {
				_, _ = io.Copy(io.Discard, says)
				return
			}
		}
	}()
	timer := time.NewTimer(r.within)
	defer timer.Stop()
	select {
	case <-done:
	case <-ctx.Done():
		late = true
	case <-timer.C:
		late = true
	}
	if late {
		_ = cmd.Process.Signal(os.Interrupt) // the keeper sends it on
		select {
		case <-done:
		case <-time.After(patience):
			hung = true
			for _, p := range descendants(cmd.Process.Pid) {
				_ = killed(p.pid)
			}
			<-done
		}
	}
	err = cmd.Wait()
	result.stdout, result.stderr = stdout.String(), stderr.String()
	return late, hung, err
}

// judge is what is wrong with a command that was attacked: it panicked, did not end, or says what may
// not be said of a run.
func (r ran) judge(may func(table.Row) bool) (f found) {
	f.Left = r.Left
	for _, row := range r.rows {
		f.Verdicts = append(f.Verdicts, row.Verdict)
		// mutant: a wrong verdict is none for an attack
		if !may(row) {
			f.Wrong = append(f.Wrong, fmt.Sprintf("%s on %s is %s: %s", row.ID, row.Target, row.Verdict, row.Reason))
		}
	}
	switch {
	case r.hung:
		f.Wrong = append(f.Wrong, fmt.Sprintf("it did not end %s after it was interrupted", patience))
	case len(r.rows) == 0 && strings.Contains(r.stderr, "\ngoroutine "): // with rows it may be the crash of a program that is quoted
		f.Wrong = append(f.Wrong, "it crashed: "+last(r.stderr))
	case r.late:
		f.Verdicts = append(f.Verdicts, "interrupted")
	case len(r.rows) == 0 && r.Status == 0:
		f.Wrong = append(f.Wrong, "it ended well without a verdict: "+last(r.stderr))
	case len(r.rows) == 0:
		f.Verdicts = append(f.Verdicts, fmt.Sprintf("none (status %d: %s)", r.Status, last(r.stderr)))
	}
	return f
}

// last is the last line that a command has said.
func last(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	line := []rune(lines[len(lines)-1])
	return string(line[:min(len(line), 300)])
}

// disturbed are the verdicts that a run may have which was disturbed: the one that is expected, or none.
func disturbed(row table.Row) bool {
	return row.Verdict == row.Expected || row.Verdict == "inconclusive" || row.Verdict == table.Skipped
}
