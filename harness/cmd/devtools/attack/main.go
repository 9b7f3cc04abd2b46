// Command attack tries to have nodestorm say what is not so, and to have it leave things behind:
//
//	go run ./attack [-for DURATION] [-only KINDS] [-match EXPRESSION] [-at-once N] [-json FILE] [-page FILE] NODESTORM
//
// It takes the program NODESTORM as it is, and builds of the store. Each case is a command of it, in
// folders and with descendants of its own: a program that does nothing in place of a target, a program
// that is stopped at the deciding moment, a full disk, a part that was changed. What a case may end with
// is said before it begins. A verdict that is none of that is wrong, and so is a command that panics or
// does not end. What is left of it after that is counted: processes, ports, files, namespaces of
// networks. What cannot be tried here is named. Kinds that are not tried keep the results that the JSON
// file has of them.
//
// Exit status: 0 nothing was wrong or left, 1 something was, 2 usage, or nothing could be tried.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nodestorm/harness/builds/repository"
)

// kind is a way to attack, a row of the table.
type kind struct {
	name, title string
	share       int // of the time, in proportion to that of others
	// cases are those that can be tried here, and why not of those that cannot.
	cases func(ctx context.Context, l *lab) ([]attack, []string)
	// alone says that a case has the machine for itself, as it makes that slow.
	alone bool
}

// kinds are in the order in which they are tried. What one does not need of its time, the next ones get.
var kinds = []kind{
	{"parts", "parts that were killed or changed", 4, parts, false},
	{"strangers", "registries and repositories that lie", 4, strangers, true},
	{"places", "strange surroundings", 4, places, false},
	{"pressure", "little memory, full and slow disks, busy processors", 5, pressure, true},
	{"stops", "programs of a world that are stopped at the deciding moment", 20, stops, false},
	{"programs", "programs that do nothing of use in place of a target", 20, programs, false},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == keeping {
		os.Exit(keep(os.Args[2], os.Args[3:]))
	}
	within := flag.Duration("for", 55*time.Minute, "how long to begin new cases")
	only := flag.String("only", "", "the `kinds` to try, by commas; default: all")
	match := flag.String("match", "", "try only cases whose names this `expression` matches")
	atOnce := flag.Int("at-once", 2, "how many cases to try at a time, of kinds that do not make the machine slow")
	round := flag.Int("round", time.Now().YearDay(), "which program takes the place of which target first")
	file := flag.String("json", "", "the `file` for the results")
	page := flag.String("page", "", "the `file` for the table, in Markdown")
	flag.Parse()
	matching, err := regexp.Compile(*match)
	if err != nil || flag.NArg() != 1 || *atOnce < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wrong, err := attackAll(ctx, plan{flag.Arg(0), *only, matching, *within, *atOnce, *round, *file, *page}, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "attack:", err)
		stop()
		os.Exit(2)
	case wrong:
		stop()
		os.Exit(1)
	}
}

// plan is what is asked for.
type plan struct {
	nodestorm, only string
	match           *regexp.Regexp
	within          time.Duration
	atOnce, round   int
	file, page      string
}

func attackAll(ctx context.Context, p plan, out io.Writer) (wrong bool, err error) {
	chosen := slices.Clone(kinds)
	if p.only != "" {
		names := strings.Split(p.only, ",")
		chosen = slices.DeleteFunc(chosen, func(k kind) bool { return !slices.Contains(names, k.name) })
		if len(chosen) != len(names) {
			return false, fmt.Errorf("-only %s: want some of parts, strangers, places, pressure, stops, programs", p.only)
		}
	}
	l, err := newLab(ctx, p)
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(l.dir) }()
	began := time.Now()
	all, shares := earlier(p.file), 0
	for _, k := range chosen {
		shares += k.share
	}
	for _, k := range chosen {
		now := time.Now()
		r := l.try(ctx, k, now.Add(time.Until(began.Add(p.within))*time.Duration(k.share)/time.Duration(shares)), out)
		shares -= k.share
		r.Made, r.Commit, r.Minutes = now.UTC().Format(time.DateOnly), l.commit, int(time.Since(now).Minutes()+1)
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		all = all.with(r)
	}
	return all.wrong(), all.write(p.file, p.page, out)
}

// try has the cases of a kind tried, as long as there is time.
func (l *lab) try(ctx context.Context, k kind, until time.Time, out io.Writer) row {
	cases, without := k.cases(ctx, l)
	cases = slices.DeleteFunc(cases, func(c attack) bool { return !l.match.MatchString(c.name) })
	r := row{Kind: k.name, Title: k.title, Without: without}
	places := l.atOnce
	if k.alone {
		places = 1
	}
	var all sync.WaitGroup
	var one sync.Mutex
	free := make(chan bool, places)
	for n, c := range cases {
		free <- true
		if ctx.Err() != nil {
			break
		}
		if time.Now().After(until) {
			r.Untried = len(cases) - n
			break
		}
		all.Go(func() {
			defer func() { <-free }()
			began := time.Now()
			found := l.run(ctx, c)
			one.Lock()
			defer one.Unlock()
			for _, texts := range [][]string{found.Verdicts, found.Wrong, found.Left} {
				for n := range texts {
					texts[n] = folder.ReplaceAllString(texts[n], "")
				}
			}
			r.add(c, found)
			fmt.Fprintf(out, "%s %d/%d: %s: %s (%s)\n", k.name, n+1, len(cases), c.name, found, time.Since(began).Round(time.Second))
		})
	}
	all.Wait()
	return r
}

// folder is that of a case, in a text.
var folder = regexp.MustCompile(`/\S*/attack-\d+/(?:(?:case-|shards-|runs-)?\d+/)?`)

// lab is where attacks are made.
type lab struct {
	plan
	dir    string // of all cases
	root   string // the checkout
	commit string // its short name
	self   string // this program, which keeps the commands
	source string // the store from which the one of the cases is made
	// commands counts those that were run.
	commands atomic.Int64
}

func newLab(ctx context.Context, p plan) (*lab, error) {
	ours, err := repository.Open(ctx, ".", "")
	if err != nil {
		return nil, err
	}
	commit, err := ours.Commit(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	l := &lab{plan: p, root: ours.Top(), commit: fmt.Sprintf("%.10s", commit)}
	if ours.Dirty(ctx) {
		l.commit += " with changes"
	}
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if l.source, err = storeFolder(); err != nil {
		return nil, err
	}
	// Readable for all, as one of the users that commands run as may read nothing else.
	if l.dir, err = os.MkdirTemp("", "attack-"); err != nil {
		return nil, err
	}
	if err := os.Chmod(l.dir, 0o755); err != nil {
		return nil, err
	}
	// Built anew while this goes on, or in a home that the user without rights may not read, it is the same one.
	l.nodestorm = filepath.Join(l.dir, "nodestorm")
	if out, err := exec.Command("cp", p.nodestorm, l.nodestorm).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copying %s: %w: %s", p.nodestorm, err, last(string(out))), os.RemoveAll(l.dir))
	}
	if err := l.makeStore(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(l.dir))
	}
	return l, nil
}

// list are the records of the catalogue.
func (l *lab) list(ctx context.Context) (records []record, err error) {
	found := l.command(ctx, run{args: []string{"list", "-o", "json"}, within: time.Minute})
	if err := json.Unmarshal([]byte(found.stdout), &records); err != nil {
		return nil, fmt.Errorf("listing records: %w: %s", err, found.stderr)
	}
	return records, nil
}

// record is one of the catalogue.
type record struct {
	ID, System, Autoscaler string
	Targets                []struct{ Name, Expected string }
}
