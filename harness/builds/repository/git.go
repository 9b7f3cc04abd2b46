package repository

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// lacking adds to an error what a partial clone is without.
func (r *Repository) lacking(ctx context.Context, err error) error {
	if _, none := r.git(ctx, "config", "--get-regexp", `^(remote\..*\.promisor|extensions\.partialclone)$`); none != nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; it is a partial clone, of which nothing is fetched here: get what is missing with git -C %s fetch --refetch "+
		"--no-filter, or name its URL", err, r.dir)
}

func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, r.dir, args...)
}

// run runs git in a folder. What it says on failure is the error, without secrets.
func (r *Repository) run(ctx context.Context, dir string, args ...string) (string, error) {
	// mutant: a repository's hooks run
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "submodule.recurse=false", "-c", "core.askPass=", "-c", "credential.interactive=false",
		"-c", "advice.detachedHead=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir, cmd.Env = dir, environment(os.Environ())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no git in PATH")
	case err != nil:
		return "", errors.New(r.said(stderr.String(), err))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// said is git's own reason.
func (r *Repository) said(stderr string, err error) string {
	text := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		why, is := strings.CutPrefix(line, "fatal: ")
		if why, denied := strings.CutPrefix(line, "error: "); denied && text == "" {
			text = why
		}
		if is {
			text = why
			break
		}
		text = cmp.Or(text, line)
	}
	if r.secret != "" {
		text = strings.ReplaceAll(text, r.secret, r.Name)
		if u, err := url.Parse(r.secret); err == nil && u.User != nil {
			text = strings.ReplaceAll(text, u.User.String()+"@", "")
			if password, has := u.User.Password(); has {
				text = strings.ReplaceAll(text, password, "…")
			}
		}
	}
	return cmp.Or(text, err.Error())
}

// environment is the user's, in which git finds no other repository and asks nobody.
func environment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_ASKPASS", "SSH_ASKPASS"}, name)
	})
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_NO_LAZY_FETCH=1",
		"GCM_INTERACTIVE=never", "LC_ALL=C")
	if !slices.ContainsFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "GIT_SSH_COMMAND=") || strings.HasPrefix(v, "GIT_SSH=")
	}) {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}
