// Package exit has the exit statuses of the command, on which scripts rely, and the error by
// which an engine asks for one.
package exit

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"nodestorm/harness/run/verdict"
)

// Exit statuses.
const (
	AsExpected    = verdict.ExitAsExpected
	NotAsExpected = verdict.ExitNotAsExpected
	Usage         = 2                        // no run was begun
	Inconclusive  = verdict.ExitInconclusive // nothing may be concluded
	// BySignal and the signal's number are the status after a signal that ended the command,
	// as shells have it: 129 for SIGHUP, 130 for SIGINT (Ctrl-C), 143 for SIGTERM.
	BySignal = 128
)

// Error is an error with a status of its own. A nil Err adds nothing to the status.
type Error struct {
	Code int
	Err  error
	// Awaited marks a command that goes on until a signal ends it, which is no interruption.
	Awaited bool
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// UsageError marks an error as the caller's. It returns nil for nil.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: Usage, Err: err}
}

// Internal is an error that only a mistake in nodestorm can lead to. Its format is that of fmt.Errorf.
func Internal(format string, args ...any) error {
	return fmt.Errorf("internal error (please report it): "+format, args...)
}

// CodeOf returns the status of an error, and Inconclusive for one without a status.
func CodeOf(err error) int {
	var status *Error
	switch {
	case err == nil:
		return AsExpected
	case errors.As(err, &status):
		return status.Code
	}
	return Inconclusive
}

// WithRoom names the way out of a full disk where the error does not.
func WithRoom(err error) error {
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "make room") {
		return err
	}
	return &Error{Code: CodeOf(err), Err: fmt.Errorf("%w; make room, or name a folder on another disk: TMPDIR for what is temporary", err)}
}
