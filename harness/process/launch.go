package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Launcher stands in for a program that somebody else starts, who would give it our
// environment and tell nobody its process ID. Asked for help it says nothing: envtest looks
// there for flags of Kubernetes before 1.24, and there are none.
type Launcher struct {
	Program string   `json:"program"`
	Env     []string `json:"env"`     // all that it gets
	PIDFile string   `json:"pidFile"` // [Guard.PIDFile]'s
}

const launchScript = `#!/bin/sh
[ "$1" = --help ] && exit
echo $$ > %s || exit
exec env -i %s %s "$@"
`

// launchSuffix is of the file that a launcher without a shell reads.
const launchSuffix = ".launch"

// Write makes the launcher at path: a shell script, or nodestorm itself, see Launch, where
// there is no shell.
func (l Launcher) Write(path string) error { return l.write(path, "/bin/sh") }

func (l Launcher) write(path, shell string) error {
	if _, err := os.Stat(shell); errors.Is(err, fs.ErrNotExist) {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(path+launchSuffix, text, 0o600), os.Symlink(self, path))
	}
	var env []string
	for _, pair := range l.Env {
		env = append(env, quote(pair))
	}
	return os.WriteFile(path, fmt.Appendf(nil, launchScript, quote(l.PIDFile), strings.Join(env, " "), quote(l.Program)), 0o700)
}

// quote makes s one word of a shell script.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Launch is called before anything else, with our arguments. Called by a launcher's name we
// are one: it does not return then, but for an error.
func Launch(args []string) error {
	if !filepath.IsAbs(args[0]) {
		return nil
	}
	text, err := os.ReadFile(args[0] + launchSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var l Launcher
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return fmt.Errorf("starting what %s stands for: %w", args[0], err)
	}
	if len(args) > 1 && args[1] == "--help" {
		os.Exit(0)
	}
	if err := os.WriteFile(l.PIDFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: l.Program, Err: syscall.Exec(l.Program, append([]string{l.Program}, args[1:]...), l.Env)}
}
