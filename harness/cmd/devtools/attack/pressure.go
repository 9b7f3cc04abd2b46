package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The replays that are played where something else is made difficult, one with the failure and one
// without it.
const (
	plain         = "karpenter-7515-not-ready-noexecute"
	plainAffected = "karpenter@v1.6.4"
	plainFixed    = "karpenter@v1.7.0"
)

// surrounded is a case that is played in surroundings: what is done before the command, and when that
// cannot be done here.
type surrounded struct {
	name, wrap string
	env        []string
	prefix     []string
	needs      func() error // nil for nothing
}

// around plays the plain replays in each of the surroundings.
func (l *lab) around(all []surrounded) (cases []attack, without []string) {
	for _, target := range []string{plainAffected, plainFixed} {
		if !l.has(target) {
			return nil, []string{target + " is not in the store"}
		}
	}
	for _, s := range all {
		if s.needs != nil {
			if err := s.needs(); err != nil {
				without = append(without, fmt.Sprintf("%s: %v", s.name, err))
				continue
			}
		}
		cases = append(cases, attack{s.name, func(ctx context.Context, c *scratch) found {
			return l.command(ctx, run{
				args: []string{"verify", plain, "-o", "json", "--parallel", "1", "--out", filepath.Join(c.dir, "out")},
				wrap: s.wrap, env: append(s.env, "CASE="+c.dir), prefix: s.prefix, within: 3 * time.Minute,
			}).judge(disturbed)
		}})
	}
	return cases, without
}

// cgroup makes a group of processes with so many megabytes, in either version of cgroups.
const cgroup = `group=/sys/fs/cgroup/memory; limit=memory.limit_in_bytes
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || { group=/sys/fs/cgroup; limit=memory.max; }
group=$group/nodestorm-attack-$$; mkdir "$group" && echo %dM > "$group/$limit" && echo 0 > "$group/cgroup.procs" || exit 97
trap 'echo 0 > "${group%%/*}/cgroup.procs"; rmdir "$group"' EXIT`

// Eight at a time, as long as the command goes on.
const beside = `for n in 1 2 3 4 5 6 7 8; do { %s; } & others="$others $!"; done; trap 'kill -9 $others 2>/dev/null' EXIT`

// A disk with room enough when a world begins, and without any when it is there.
const filling = `mkdir "$CASE/disk" && mount -t tmpfs -o size=1g none "$CASE/disk" && mkdir "$CASE/disk/tmp" || exit 97
export TMPDIR="$CASE/disk/tmp"
{ until ls "$TMPDIR"/nodestorm-world-* >/dev/null; do sleep 0.1; done; sleep 3; cat /dev/zero > "$CASE/disk/full"; } 2>/dev/null & others=$!
trap 'kill -9 $others 2>/dev/null' EXIT`

func pressure(_ context.Context, l *lab) ([]attack, []string) {
	mounts := []string{"unshare", "--mount"}
	return l.around([]surrounded{
		{name: "700 MB of memory", wrap: fmt.Sprintf(cgroup, 700), needs: ofRoot},
		{name: "250 MB of memory", wrap: fmt.Sprintf(cgroup, 250), needs: ofRoot},
		{name: "a heap of 100 MB in each program", env: []string{"GOMEMLIMIT=100MiB"}},
		{name: "a disk of 4 MB for temporary files", wrap: `mount -t tmpfs -o size=4m none "$TMPDIR" || exit 97`, prefix: mounts, needs: ofRoot},
		{name: "a disk for temporary files that another one fills", wrap: filling, prefix: mounts, needs: ofRoot},
		{name: "a disk of 160 MB for temporary files", wrap: `mount -t tmpfs -o size=160m none "$TMPDIR" || exit 97`, prefix: mounts,
			needs: ofRoot},
		{name: "a disk of 1 MB for runs", wrap: `mkdir "$CASE/out" && mount -t tmpfs -o size=1m none "$CASE/out" || exit 97`, prefix: mounts,
			needs: ofRoot},
		{name: "a disk that eight others write to, each block for itself",
			wrap: fmt.Sprintf(beside, `while :; do dd if=/dev/zero of="$CASE/fill$n" bs=64k count=200 oflag=dsync conv=notrunc 2>/dev/null; done`)},
		{name: "eight busy loops", wrap: fmt.Sprintf(beside, `while :; do :; done`)},
	})
}

// ofRoot says what cannot be done without root's rights.
func ofRoot() error {
	if os.Getuid() != 0 {
		return fmt.Errorf("only root can make it")
	}
	return nil
}
