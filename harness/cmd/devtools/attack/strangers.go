package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// lies are tests of registries and repositories that lie, by their packages: other bytes than the
// digest says, truncated layers, endless bodies, archives that unpack elsewhere, repositories whose
// configuration runs programs.
var lies = map[string]string{
	"./harness/builds/registry": "TestRefuses|TestBomb|TestInterrupted|TestResumes|TestGivesUp|TestOtherBytes|TestRefusedCredentials|" +
		"TestUnreachable",
	"./harness/builds/repository": "TestNothingOfItsOwnRuns|TestState|TestStateElsewhere|TestEnvironment",
	"./harness/builds/buildstore": "TestRegistryIsWrong|TestPullRefuses|TestMovedTag|TestWrongOffers|TestCorruptEntry|" +
		"TestBuildRunsNothingOfTheRepository",
	"./harness/replay/supply": "TestGivenUp",
	"./reports/bundle":        "TestHostileArchives",
	"./harness/run/summary":   "TestMisshapenRunsHaveNoCommand|TestNamesOfFilesAreWords",
}

func strangers(context.Context, *lab) (cases []attack, without []string) {
	for _, p := range slices.Sorted(maps.Keys(lies)) {
		tests := lies[p]
		cases = append(cases, attack{p, func(ctx context.Context, c *scratch) found { return c.lab.test(ctx, c, p, tests) }})
	}
	return cases, nil
}

// test runs tests of a package. One that fails is a wrong verdict.
func (l *lab) test(ctx context.Context, c *scratch, p, tests string) (f found) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	// Built before it is kept: compilers are not what leaves something behind.
	program := filepath.Join(c.dir, "tests")
	build := exec.CommandContext(ctx, "go", "test", "-trimpath", "-ldflags=-s -w", "-c", "-o", program, p)
	build.Dir = l.root
	if out, err := build.CombinedOutput(); err != nil {
		return found{Wrong: []string{fmt.Sprintf("the tests of %s cannot be built: %v: %s", p, err, last(string(out)))}}
	}
	tmp, file := filepath.Join(c.dir, "tmp"), filepath.Join(c.dir, "kept")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return found{Wrong: []string{err.Error()}}
	}
	cmd := exec.CommandContext(ctx, l.self, keeping, file, "go", "tool", "test2json", program, "-test.v=test2json",
		"-test.run", "^("+tests+")$")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = filepath.Join(l.root, p)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := cmd.Output()
	passed, failed, skipped := count(out)
	f.Verdicts = []string{fmt.Sprintf("%d passed, %d skipped", passed, skipped)}
	f.Wrong = append(f.Wrong, failed...)
	var what kept
	if text, read := os.ReadFile(file); err != nil || read != nil || json.Unmarshal(text, &what) != nil || passed == 0 {
		f.Wrong = append(f.Wrong, fmt.Sprintf("the tests of %s did not come to an end: %v", p, err))
	}
	f.Left = what.Left
	for _, name := range names(tmp) {
		f.Left = append(f.Left, "file "+name+" in TMPDIR")
	}
	return f
}

// count reads what tests did.
func count(events []byte) (passed int, failed []string, skipped int) {
	lines := bufio.NewScanner(bytes.NewReader(events))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		switch e.Action {
		case "pass":
			passed++
		case "skip":
			skipped++
		case "fail":
			failed = append(failed, e.Test+" fails")
		}
	}
	return passed, failed, skipped
}
