package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world/process/processtest"
)

// Two worlds at a time, of which one loses its process in the midst: the other does not
// notice, the one is played again alone, and both end as they would have one by one.
func TestTwoWorlds(t *testing.T) {
	buildstest.Get(t, builds.Kubernetes)
	versions := []string{"v1.6.4", "v1.7.0"}
	for _, version := range versions {
		buildstest.Get(t, builds.Ref{Name: "karpenter", Version: version})
	}
	tmp, out := t.TempDir(), t.TempDir()
	cmd, stdout, stderr := command(t, tmp, "verify", scenario, "-v", "--parallel", "2", "--json", "--out", out)
	var said bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(stderr, &said))
	last := "" // who comes to a step of the story when the other has: it has not ended yet
	for begun := map[string]bool{}; len(begun) < 2; {
		line, err := lines.ReadString('\n')
		for _, version := range versions {
			if strings.Contains(line, "karpenter@"+version) && strings.Contains(line, "Karpenter with a NodePool") && !begun[version] {
				begun[version], last = true, version
			}
		}
		if err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
	}
	players := playersIn(tmp)
	if len(players) != 2 || players[last] == 0 {
		t.Fatalf("the players are %v", players)
	}
	worlds, _ := filepath.Glob(filepath.Join(tmp, "nodestorm-world-*"))
	for _, world := range worlds {
		pages := map[string]bool{}
		for _, p := range processtest.ProcessesUnder(world) {
			for _, pair := range processtest.Env(p.PID) {
				if page, is := strings.CutPrefix(pair, "NODESTORM_CLOCK="); is {
					pages[page] = true
				}
			}
		}
		if len(pages) != 1 || !pages[filepath.Join(world, "clock")] {
			t.Errorf("the programs of %s have the clocks %v", world, pages)
		}
	}
	if err := syscall.Kill(players[last], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(stdout)
	_, _ = io.Copy(io.Discard, lines)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
	rows := rowsOf(t, string(text))
	for i, want := range []string{"reproduced", "healthy"} {
		if len(rows) != 2 || rows[i].Target != "karpenter@"+versions[i] || rows[i].Verdict != want {
			t.Fatalf("rows %+v: %s", rows, said.String())
		}
		if folder := filepath.Join(out, scenario, rows[i].Target); rows[i].Run != folder {
			t.Errorf("the run that counts is in %s, want %s", rows[i].Run, folder)
		}
	}
	want := fmt.Sprintf("%s on karpenter@%s does not count beside others, and is played again alone: the process that played it has ended: signal: killed", scenario, last)
	if !strings.Contains(said.String(), want) {
		t.Errorf("it does not say %q: %s", want, said.String())
	}
	goneWithin(t, 0, tmp)
}

// playersIn are the processes with tmp as their temporary folder that play for another, by
// the version of Karpenter that each plays.
func playersIn(tmp string) map[string]int {
	players := map[string]int{}
	for _, p := range processtest.ProcessesUnder(tmp) {
		if !slices.ContainsFunc(processtest.Env(p.PID), func(pair string) bool { return strings.HasPrefix(pair, "NODESTORM_PLAYER=") }) {
			continue
		}
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.PID))
		for _, file := range files {
			path, _ := os.Readlink(file)
			if _, version, is := strings.Cut(filepath.Dir(path), "karpenter@"); is && filepath.Base(path) == "history.ndjson" {
				players[version] = p.PID
			}
		}
	}
	return players
}
