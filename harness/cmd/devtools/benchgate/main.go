// Command benchgate holds the figures that matter against another commit's:
//
//	go run ./benchgate [-base COMMIT] [-count N]
//	go run ./benchgate -verdicts [-base COMMIT] [-count N] [ID...]
//
// It builds the benchmarks of a checkout of that commit and of the working tree, runs them in
// turn, and compares. With -verdicts it has both replay these records, or all, and prints how long
// each verdict takes, as a table in Markdown. The other commit is the last one where something is
// not committed, and the one before it else. Run it on a machine that does nothing else. Exit
// status: 0 nothing is worse beyond noise, 1 something is, or a verdict is not as expected, 2 it
// could not be measured.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"nodestorm/harness/builds/repository"
)

// suite are benchmarks of one package.
type suite struct {
	folder  string // from the checkout's root
	pattern string // of go test -bench
}

// suites have the figures that a change must not spoil unnoticed: how soon a world is ready,
// what a quiet minute costs, how soon there is a verdict, how large a record is, and what a
// page of a million of them costs.
var suites = []suite{
	{"harness/cmd/devtools/bench", "^BenchmarkWorldReady$"},
	{"harness/cmd/devtools/bench", "^BenchmarkQuiet$/^15m0s$"},
	{"harness/cmd/devtools/bench", "^BenchmarkVerdict$"},
	{"reports/page", "^BenchmarkWrite$/^1000000$"},
}

func main() {
	base := flag.String("base", "", "the `commit` to compare with; default: the last one, or the one before it if nothing is uncommitted")
	count := flag.Int("count", 5, "how often each benchmark or record runs on each side; below 4 nothing can be distinguished from noise")
	asVerdicts := flag.Bool("verdicts", false, "replay records in place of benchmarks")
	flag.Parse()
	if !*asVerdicts && (flag.NArg() > 0 || *count < 4) || *count < 1 {
		fmt.Fprintln(os.Stderr, "benchgate: it takes no arguments without -verdicts, and -count of 4 at least; with it one replay is enough")
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measure := func(sides []*side, tmp string) (int, error) {
		return gate(ctx, sides, tmp, *count, os.Stdout, os.Stderr)
	}
	if *asVerdicts {
		measure = func(sides []*side, tmp string) (int, error) {
			return replayAll(ctx, sides, tmp, *count, flag.Args(), os.Stdout, os.Stderr)
		}
	}
	worse, err := withSides(ctx, *base, measure)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "benchgate:", err)
		os.Exit(2)
	case worse > 0:
		os.Exit(1)
	}
}

// withSides has something measured of the base, in a checkout of its own, and of the working
// tree. What is in tmp is gone when it returns.
func withSides(ctx context.Context, base string, measure func(sides []*side, tmp string) (worse int, err error)) (worse int, err error) {
	ours, err := repository.Open(ctx, ".", "")
	if err != nil {
		return 0, err
	}
	root := ours.Top()
	if base == "" {
		base = "HEAD~1"
		if ours.Dirty(ctx) {
			base = "HEAD"
		}
	}
	commit, err := ours.Commit(ctx, base)
	if err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "benchgate-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	before := filepath.Join(tmp, "base")
	if err := ours.Checkout(ctx, commit, before); err != nil {
		return 0, err
	}
	return measure([]*side{{name: fmt.Sprintf("%.12s", commit), root: before}, {name: "here", root: root}}, tmp)
}

// gate prints the comparison to out and progress to log, and counts the figures that are worse.
func gate(ctx context.Context, sides []*side, tmp string, count int, out, log io.Writer) (worse int, err error) {
	for _, s := range sides {
		for n, suite := range suites {
			fmt.Fprintf(log, "building %s of %s\n", suite.folder, s.name)
			program := filepath.Join(tmp, fmt.Sprintf("%s-%d.test", s.name, n))
			if _, err := output(ctx, filepath.Join(s.root, suite.folder), "go", "test", "-c", "-o", program, "."); err != nil {
				return 0, err
			}
			s.programs = append(s.programs, program)
		}
	}
	for round := range count {
		for n, suite := range suites {
			for i := range sides {
				s := sides[(i+round)%len(sides)] // neither is always the first
				fmt.Fprintf(log, "round %d of %d: %s of %s\n", round+1, count, suite.folder, s.name)
				text, err := output(ctx, filepath.Join(s.root, suite.folder), s.programs[n],
					"-test.run", "^$", "-test.bench", suite.pattern, "-test.benchtime", "1x", "-test.timeout", "20m")
				if err == nil {
					err = s.add(text)
				}
				if err != nil {
					return 0, fmt.Errorf("%s of %s: %w", suite.folder, s.name, err)
				}
			}
		}
	}
	return compare(sides[0], sides[1], out)
}

// output is what a program prints, also if it fails. It is interrupted first, so that its worlds end.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := cmp.Or(stderr.String(), stdout.String())
		return strings.TrimSpace(stdout.String()), fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err,
			strings.TrimSpace(said))
	}
	return strings.TrimSpace(stdout.String()), nil
}
