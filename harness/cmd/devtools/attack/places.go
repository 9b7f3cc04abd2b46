package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// difficult is a name of folders that is hard for shells, URLs and command lines.
const difficult = `a b'ü 名 "$x";#&%41`

func places(_ context.Context, l *lab) ([]attack, []string) {
	mounts := []string{"unshare", "--mount"}
	cases, without := l.around([]surrounded{
		{name: "no /dev/shm", wrap: `umount /dev/shm || exit 97`, prefix: mounts, needs: ofRoot},
		{name: "a /dev/shm that is read-only", wrap: `mount -o remount,bind,ro /dev/shm || exit 97`, prefix: mounts, needs: ofRoot},
		{name: "256 open files", wrap: `ulimit -n 256`},
		{name: "64 open files", wrap: `ulimit -n 64`},
		{name: "a home that is read-only", wrap: `mkdir "$CASE/home" && mount -t tmpfs -o ro none "$CASE/home" || exit 97; ` +
			`export HOME="$CASE/home"; unset XDG_STATE_HOME`, prefix: mounts, needs: ofRoot},
		{name: "no home at all", wrap: `unset HOME XDG_STATE_HOME`},
		{name: "the time zone of Apia, and Turkish", env: []string{"TZ=Pacific/Apia", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8"}},
		{name: "a time zone and a language that are none", env: []string{"TZ=:/dev/full", "LANG=\xff\xfe", "LC_ALL=nothing"}},
		{name: "a user without rights", prefix: []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"},
			wrap: `export HOME="$CASE/nowhere/home"; mkdir -m 500 "$CASE/nowhere"`, needs: ofRoot},
		{name: "no namespaces of networks", prefix: []string{"unshare", "--user", "--map-root-user"},
			wrap: `echo 0 > /proc/sys/user/max_net_namespaces || exit 97`, needs: ofUser},
		{name: "no ptrace and no new rights", needs: ofRoot,
			prefix: []string{"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"}},
		{name: "a mask that hides all files from others", wrap: `umask 077`},
		{name: "HTTP proxies that lead nowhere", env: []string{"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY="}},
		{name: "a Go that is not there, and odd settings of it", env: []string{"GOFLAGS=-mod=nothing", "GODEBUG=madvdontneed=1", "GOMAXPROCS=1"}},
	})
	if len(cases) > 0 {
		cases = append(cases, attack{"spaces, quotes and other letters in every path", l.named})
	}
	return cases, without
}

// named plays where all folders have a difficult name.
func (l *lab) named(ctx context.Context, c *scratch) found {
	dir := filepath.Join(c.dir, difficult)
	tmp, store := filepath.Join(dir, "tmp"), filepath.Join(dir, "store")
	if err := errors.Join(os.MkdirAll(tmp, 0o755), os.Symlink(l.store(), store)); err != nil {
		return found{Wrong: []string{err.Error()}}
	}
	return l.command(ctx, run{
		args: []string{"verify", plain, "-o", "json", "--parallel", "1", "--out", filepath.Join(dir, "out")},
		env:  []string{"HOME=" + dir, "NODESTORM_CACHE=" + store, "XDG_STATE_HOME=" + filepath.Join(dir, "state")},
		wrap: `cd "$HOME"`, tmp: tmp, within: 3 * time.Minute,
	}).judge(disturbed)
}

// ofUser says why a user may have no namespace of their own.
func ofUser() error {
	out, err := exec.Command("unshare", "--user", "--map-root-user", "true").CombinedOutput()
	if err != nil {
		return errors.New("it takes a namespace of users: " + strings.TrimSpace(string(out)))
	}
	return nil
}
