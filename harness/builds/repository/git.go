package repository

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are ours, whatever a repository's or the user's are: nothing is run but git, and nothing else is done on the way.
var settings = []string{
	// mutant: a repository's hooks run
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "submodule.recurse=false",
	"core.askPass=", "credential.interactive=false", "advice.detachedHead=false", "gc.auto=0", "maintenance.auto=false",
}

// protocols are those by which a URL's repository is asked; of one in a folder nothing is fetched.
const protocols = "file:git:http:https:ssh"

// run runs git in a folder, with more settings of the kind name=value, and variables in addition to the user's. What it says on
// failure is the error. No other function of nodestorm's runs git.
func run(ctx context.Context, dir string, more, env []string, args ...string) (string, error) {
	words := []string{"--no-pager"}
	for _, setting := range slices.Concat(settings, more) {
		words = append(words, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(words, args...)...)
	cmd.Dir, cmd.Env = dir, append(environment(os.Environ()), env...)
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
		return "", errors.New(gitReason(stderr.String(), err))
	}
	return strings.TrimRight(stdout.String(), "\n"), nil
}

// gitReason is git's own reason.
func gitReason(stderr string, err error) string {
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
	return cmp.Or(text, err.Error())
}

// withoutSecrets is an error of git's about a URL, as users may read it.
func (r *Repository) withoutSecrets(err error) error {
	if err == nil || r.secret == "" {
		return err
	}
	text := strings.ReplaceAll(err.Error(), r.secret, r.Name)
	if u, failed := url.Parse(r.secret); failed == nil && u.User != nil {
		text = strings.ReplaceAll(text, u.User.String()+"@", "")
		if password, has := u.User.Password(); has {
			text = strings.ReplaceAll(text, password, "…")
		}
	}
	return errors.New(text)
}

// theirs are those of git's variables that are the user's word on how it gets at things. All others (GIT_DIR, GIT_INDEX_FILE,
// GIT_LITERAL_PATHSPECS and the like) are of a git that nodestorm was started by, and of its repository.
var theirs = regexp.MustCompile(`^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*|CURL_.*|TRACE.*|EXEC_PATH|CEILING_DIRECTORIES|` +
	`DISCOVERY_ACROSS_FILESYSTEM|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_.*|VALUE_.*))$`)

// environment is the user's, in which git finds no other repository, fetches nothing and asks for nothing.
func environment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "SSH_ASKPASS" || strings.HasPrefix(name, "GIT_") && !theirs.MatchString(name)
	})
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GCM_INTERACTIVE=never", "LC_ALL=C")
	if !slices.ContainsFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "GIT_SSH_COMMAND=") || strings.HasPrefix(v, "GIT_SSH=")
	}) {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}
