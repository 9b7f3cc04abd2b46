package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// Guard ends what a folder's owner leaves behind, also when the owner dies by
// SIGKILL: the processes whose IDs are in the folder's pids/, and the folder.
//
// It is a shell that waits for its standard input to end.
type Guard struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// The shell ignores what a terminal sends to the whole foreground. "kept" is
// what an owner says that cleans up by itself. Once pids/ has another name, a
// program that was just starting cannot leave its ID there, and so must end.
const guardScript = `
trap '' INT TERM HUP QUIT
read -r word && [ "$word" = kept ] && exit 0
mv -- "$1/pids" "$1/ending"
for f in "$1"/ending/*; do
	pid=
	read -r pid < "$f" || [ -n "$pid" ] || { sleep 0.1; read -r pid < "$f"; }
	case $pid in '' | 0* | 1 | *[!0-9]*) continue ;; esac # -1 would be everybody
	kill -KILL "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null # dash takes no -- here
done
n=0
until rm -rf -- "$1" 2>/dev/null || [ $n -ge 50 ]; do n=$((n+1)); sleep 0.1; done
`

// NewGuard makes the folder dir/pids and watches over dir, which must be a
// folder of the caller's own.
func NewGuard(dir string) (*Guard, error) {
	dir, err := filepath.Abs(dir) // the guard runs elsewhere
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "pids"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", guardScript, "nodestorm-guard", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard of %s: %w", dir, err)
	}
	g := &Guard{dir: dir, cmd: cmd, stdin: stdin}
	if err := os.WriteFile(filepath.Join(dir, guardFile), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// PIDFile is where a program named name that we do not start ourselves writes
// its process ID before anything else; it must end if it can't.
func (g *Guard) PIDFile(name string) string { return filepath.Join(g.dir, "pids", name) }

// Watch makes the guard end p if we can't.
func (g *Guard) Watch(p *Process) error {
	return os.WriteFile(g.PIDFile(p.Name()), []byte(strconv.Itoa(p.PID())+"\n"), 0o600)
}

// Forget is for a program that has ended.
func (g *Guard) Forget(name string) { _ = os.Remove(g.PIDFile(name)) }

// Close ends the guard and removes the folder. All programs must have ended.
func (g *Guard) Close() error {
	_, err := io.WriteString(g.stdin, "kept\n")
	return errors.Join(err, g.stdin.Close(), g.cmd.Wait(), os.RemoveAll(g.dir))
}
