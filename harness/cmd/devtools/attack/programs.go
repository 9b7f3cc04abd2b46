package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/table"
)

// doing is what programs do in place of a target: nothing, nothing and no answer, answers with what is
// asked, an end after a while, and all of it late.
var doing = []string{"inert", "deaf", "echoing", "crashing", "slow"}

const (
	mostRecords = 36 // of all systems
	// mostWait is how long a world may wait for a program that does nothing. What has no verdict until
	// then is interrupted, and must end.
	mostWait = 75 * time.Second
)

// programs has each record replayed with one of the programs in place of its target, then with the next.
func programs(ctx context.Context, l *lab) (cases []attack, without []string) {
	records, err := l.list(ctx)
	if err != nil {
		return nil, []string{err.Error()}
	}
	built := map[string]string{}
	for _, does := range doing {
		if built[does], err = l.compile(ctx, does); err != nil {
			return nil, []string{err.Error()}
		}
	}
	chosen, missing := l.choose(records)
	for turn := range doing {
		for n, r := range chosen {
			does := doing[(n+turn+l.round)%len(doing)]
			target := r.Targets[0].Name
			name := fmt.Sprintf("%s program in place of %s, %s", does, target, r.ID)
			cases = append(cases, attack{name, func(ctx context.Context, c *scratch) found {
				as, err := l.add(ctx, target, does, built[does])
				if err != nil {
					return found{Wrong: []string{err.Error()}}
				}
				return l.command(ctx, run{args: []string{"run", r.ID, "--target", as, "-o", "json", "--parallel", "1", "--out", c.dir},
					within: mostWait}).judge(nothing)
			}})
		}
	}
	return cases, missing
}

// nothing are the verdicts that a program may have which does nothing of use.
func nothing(row table.Row) bool { return row.Verdict != "healthy" && row.Verdict != "reproduced" }

// choose takes records of all systems and kinds of targets in turn, and names those kinds of which it
// cannot take any.
func (l *lab) choose(records []record) (chosen []record, without []string) {
	groups, order := map[string][]record{}, []string{}
	for _, r := range records {
		of := r.System + " on " + r.Autoscaler
		at := slices.IndexFunc(r.Targets, func(t struct{ Name, Expected string }) bool {
			name, _, _ := strings.Cut(t.Name, "@")
			return modules[name] == "" || l.has(t.Name)
		})
		if len(r.Targets) > 0 && at >= 0 {
			r.Targets = r.Targets[at:]
		}
		if groups[of] == nil {
			order = append(order, of)
			groups[of] = []record{}
		}
		switch {
		case r.Autoscaler == "kubespray": // an installer is an order of steps, and no program
		case at >= 0:
			groups[of] = append(groups[of], r)
		}
	}
	for _, of := range order {
		if len(groups[of]) == 0 {
			without = append(without, of+": no program can take its place, or none of its releases is in the store")
		}
	}
	for n := 0; len(chosen) < mostRecords; n++ {
		before := len(chosen)
		for _, of := range order {
			if n < len(groups[of]) && len(chosen) < mostRecords {
				chosen = append(chosen, groups[of][n])
			}
		}
		if len(chosen) == before {
			break
		}
	}
	return chosen, without
}
