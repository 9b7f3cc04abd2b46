// Package gotool runs the go command: with the toolchain that a folder's go.mod asks for, ended with its caller, and with
// errors that say what it lacks.
package gotool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/modfile"

	"nodestorm/sim/strict"
)

// Tool runs the go command in one folder. Which toolchain that is, is up to
// the folder's go.mod.
type Tool struct {
	dir string
	env []string
	log io.Writer // gets all that it writes to its standard error
	// Yields runs it with the lowest priority.
	Yields bool
}

// New is the go command for programs of this machine. It puts its
// temporary files into tmp, which is the caller's to remove.
func New(dir, tmp string, log io.Writer, extra ...string) Tool {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOTMPDIR="+tmp)
	return Tool{dir: dir, env: append(env, extra...), log: log}
}

// Run returns what the go command writes to its standard output. Each line of
// its standard error goes to line; those that line does not want (false) are
// what an error ends with. When ctx ends, so do all processes it has started.
func (g Tool) Run(ctx context.Context, line func(string) bool, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	cmd.SysProcAttr = childAttr()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second // for the go command to remove its temporary files; then it is killed
	var stdout bytes.Buffer
	stderr := &lines{want: line}
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(stderr, g.log)

	err := onThread(g.Yields, cmd.Run)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("there is no go in PATH; install Go from your distribution or from go.dev")
	}
	if err != nil {
		if len(stderr.missing) > 0 {
			return stdout.Bytes(), &ModulesError{Modules: stderr.missing}
		}
		return stdout.Bytes(), &CommandError{Args: cmd.Args, Err: err, Tail: stderr.tail}
	}
	return stdout.Bytes(), nil
}

// onThread runs a command on a thread of its own: childAttr may tie the child's life to the
// thread that starts it, which gives it its priority too.
func onThread(yields bool, run func() error) error {
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		if yields {
			yield() // and the thread ends with us, as it is locked: no other goroutine may get it
		} else {
			defer runtime.UnlockOSThread()
		}
		ended <- run()
	}()
	return <-ended
}

// ModulesError says that modules a source needs can't be had.
type ModulesError struct{ Modules []string }

func (e *ModulesError) Error() string {
	return fmt.Sprintf("the module proxy does not serve %s, which it needs: put them into its vendor folder, or others in their place with "+
		"a go.work above it",
		strings.Join(e.Modules, ", "))
}

// CommandError says that a command failed, and with which last words.
type CommandError struct {
	Args []string
	Err  error    // its exit status
	Tail []string // the last lines of its standard error
	Log  string   // the file with all of it, if there is one
}

func (e *CommandError) Error() string {
	words := slices.DeleteFunc(slices.Clone(e.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	text := fmt.Sprintf("%s: %v", strings.Join(words, " "), e.Err)
	if len(e.Tail) == 1 {
		return text + ": " + e.Tail[0]
	}
	if e.Log != "" {
		text += "; all it said is in " + e.Log + ", and last:"
	}
	return strings.Join(append([]string{text}, e.Tail...), "\n\t")
}

func (e *CommandError) Unwrap() error { return e.Err }

// Is reports whether the command met a full disk. Its words are all that a
// command has to say so.
func (e *CommandError) Is(target error) bool {
	return target == syscall.ENOSPC && strings.Contains(strings.Join(e.Tail, "\n"), syscall.ENOSPC.Error())
}

// lines is a writer that hands on whole lines, and keeps the last of those that were not wanted.
type lines struct {
	want    func(string) bool
	part    []byte
	tail    []string
	missing []string // modules that a proxy refuses
}

// refused is what the go command says of those, with the status they got.
var refused = regexp.MustCompile(`([^\s:]+@v[^\s:]+): reading http.*: (403|404|410) `)

func (l *lines) Write(p []byte) (int, error) {
	const most = 10
	l.part = append(l.part, p...)
	for {
		line, rest, found := bytes.Cut(l.part, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.part = rest
		s := string(line)
		if m := refused.FindStringSubmatch(s); m != nil && !slices.Contains(l.missing, m[1]) {
			l.missing = append(l.missing, m[1])
		}
		if l.want == nil || !l.want(s) {
			l.tail = append(l.tail, s)
			l.tail = l.tail[max(0, len(l.tail)-most):]
		}
	}
}

// Toolchain is what `go env` says of the Go that builds in a folder; all of it
// shapes the program.
type Toolchain struct {
	GOROOT, GOVERSION, GOFLAGS, GOEXPERIMENT, GOAMD64, GOARM64 string

	// Workspace is the go.work in use; what is built says what it did.
	Workspace string `json:"-"`
}

// Toolchain asks for it, and makes sure that it is new enough for the folder. If the folder's go.mod wants a later
// patch release of the Go of this machine, that is fetched and used from then on, whatever GOTOOLCHAIN says.
func (g *Tool) Toolchain(ctx context.Context) (Toolchain, error) {
	env, wants, err := g.toolchain(ctx)
	if err != nil || wants == "" {
		return env, err
	}
	// mutant: another minor release of Go is fetched, too
	if version.Lang(wants) == version.Lang(env.GOVERSION) {
		have := env.GOVERSION
		g.env = append(g.env, "GOTOOLCHAIN="+wants)
		if env, wants, err = g.toolchain(ctx); err == nil && wants == "" {
			return env, nil
		}
		return Toolchain{}, fmt.Errorf("its go.mod asks for a later patch release than %s of this machine, and that could not be fetched "+
			"(%w): install it, or another --source", have, cmp.Or(err, fmt.Errorf("it is %s", env.GOVERSION)))
	}
	return Toolchain{}, fmt.Errorf("its go.mod asks for Go %s, and this machine has %s: install Go %[1]s, or set GOTOOLCHAIN=auto so that "+
		"go fetches it",
		strings.TrimPrefix(wants, "go"), env.GOVERSION)
}

// toolchain is what go env says, and which Go the folder wants ("go1.26.10") if it is later than that.
func (g *Tool) toolchain(ctx context.Context) (_ Toolchain, wants string, err error) {
	out, err := g.Run(ctx, nil, "env", "-json", "GOROOT", "GOVERSION", "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOMOD", "GOWORK")
	if err != nil {
		return Toolchain{}, "", err
	}
	var env struct {
		Toolchain
		GOMOD, GOWORK string
	}
	if err := json.Unmarshal(out, &env); err != nil {
		return Toolchain{}, "", fmt.Errorf("reading what go env says: %w", err)
	}
	if env.GOWORK != "off" {
		env.Workspace = env.GOWORK
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return Toolchain{}, "", errors.New("the source is in no Go module: there is no go.mod in it or above it")
	}
	mod, err := strict.ReadFile(env.GOMOD, 16<<20)
	if err != nil {
		return Toolchain{}, "", err
	}
	file, err := modfile.ParseLax(filepath.Base(env.GOMOD), mod, nil)
	if err != nil {
		return Toolchain{}, "", err
	}
	if file.Go != nil && version.Compare("go"+file.Go.Version, env.GOVERSION) > 0 {
		wants = "go" + file.Go.Version
	}
	return env.Toolchain, wants, nil
}
