package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// Guard ends what a folder's owner leaves behind, also when the owner dies by
// SIGKILL: the processes whose IDs are in the folder's pids/, and the folder.
//
// It is a shell that waits for its standard input to end. Where there is none, in a
// container whose first process we are, the kernel ends all that is in it with us.
type Guard struct {
	dir   string
	noted string    // where, "" if it is not
	cmd   *exec.Cmd // nil without a shell
	stdin io.WriteCloser
}

// first reports whether we, or who has started us, are the first process of a container.
func first() bool {
	ours, err := os.Readlink("/proc/self/exe")
	its, other := os.Readlink("/proc/1/exe")
	return err == nil && other == nil && ours == its
}

// The shell ignores what a terminal sends to the whole foreground. "kept" is
// what an owner says that cleans up by itself. Once pids/ has another name, a
// program that was just starting cannot leave its ID there, and so must end.
const guardScript = `
trap '' INT TERM HUP QUIT
read -r word && [ "$word" = kept ] && exit 0
# The ID may be another process's by now, see belongs in Go.
belongs() { grep -qaF -- "$dir/" "/proc/$1/environ" "/proc/$1/cmdline" 2>/dev/null; }
dir=$1
mv -- "$1/pids" "$1/ending"
for f in "$1"/ending/*; do
	n=0
	[ -e "$f" ] || continue # there is none
	until [ -s "$f" ] || [ $n -ge 50 ]; do n=$((n+1)); sleep 0.1; done # it may just be writing it
	pid=
	read -r pid < "$f"
	case $pid in '' | 0* | 1 | *[!0-9]*) continue ;; esac # -1 would be everybody
	if [ ! -d /proc/1 ] || belongs "$pid"; then
		kill -KILL "-$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null # dash takes no -- here
		continue
	fi
	for f in /proc/[0-9]*/stat; do # what it started may still be there
		read -r stat 2>/dev/null < "$f" || continue
		set -- "$1" "$2" ${stat##*) }
		member=${f%/stat} member=${member#/proc/}
		[ "$5" = "$pid" ] && belongs "$member" && kill -KILL "$member" 2>/dev/null
	done
done
containers=$(ls "$1/containers" 2>/dev/null)
n=0
until rm -rf -- "$1" 2>/dev/null || [ $n -ge 50 ]; do n=$((n+1)); sleep 0.1; done
[ -z "$2" ] || rm -f -- "$2"
# mutant: a container outlives who started it
[ -z "$containers" ] || docker rm --force --volumes $containers >/dev/null 2>&1
`

// NewGuard makes the folder dir/pids and watches over dir, which must be a
// folder of the caller's own.
func NewGuard(dir string) (*Guard, error) { return newGuard(dir, "/bin/sh", first) }

func newGuard(dir, shell string, first func() bool) (*Guard, error) {
	dir, err := filepath.Abs(dir) // the guard runs elsewhere
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "pids"), 0o700); err != nil {
		return nil, err
	}
	noted, err := notedDir(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(shell); errors.Is(err, fs.ErrNotExist) {
		// mutant: without a shell anybody does without a guard
		if !first() {
			return nil, fmt.Errorf("there is no %s, which would end all when nodestorm is killed: in a container without a shell let nodestorm "+
				"be the first process", shell)
		}
		return &Guard{dir: dir, noted: noted}, nil
	}
	cmd := exec.Command(shell, "-c", guardScript, "nodestorm-guard", dir, noted)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard of %s: %w", dir, err)
	}
	g := &Guard{dir: dir, noted: noted, cmd: cmd, stdin: stdin}
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

// WatchContainer makes the guard remove a container if we can't, where there is a docker. Its
// start may still be asked for then.
func (g *Guard) WatchContainer(id string) error {
	dir := filepath.Join(g.dir, "containers")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, id), nil, 0o600))
}

// Forget is for a program that has ended.
func (g *Guard) Forget(name string) { _ = os.Remove(g.PIDFile(name)) }

// Close ends the guard and removes the folder. All programs must have ended.
func (g *Guard) Close() error {
	var err error
	if g.cmd != nil {
		_, err = io.WriteString(g.stdin, "kept\n")
		err = errors.Join(err, g.stdin.Close(), g.cmd.Wait())
	}
	err = errors.Join(err, os.RemoveAll(g.dir))
	if g.noted != "" {
		_ = os.Remove(g.noted) // the next Sweep does
	}
	return err
}
