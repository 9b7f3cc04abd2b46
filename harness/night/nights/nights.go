// Package nights gathers what was run in a night, and holds it beside the nights before.
package nights

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"nodestorm/harness/night/store"
	"nodestorm/reports/matrix"
	"nodestorm/reports/nightly"
)

// Earlier are the nights before one.
type Earlier struct {
	Nights []nightly.Night
	Unread bool // not all of them could be read
}

// LoadPrevious reads the last nights before this one. A damaged one is said and left out. A place that is
// not there yet has none if one is to be kept in it.
func LoadPrevious(
	ctx context.Context, place store.Place, night *matrix.Matrix, last int, keep bool, say func(format string, args ...any),
) (before Earlier, err error) {
	names, err := place.Names(ctx)
	if err != nil && keep && len(names) == 0 && errors.Is(err, os.ErrNotExist) {
		return before, nil // the first that is kept makes the folder
	}
	if err != nil {
		return before, err
	}
	slices.Sort(names) // by their day, as Add calls them
	slices.Reverse(names)
	for _, name := range names {
		if len(before.Nights) == last {
			break
		}
		text, err := place.Read(ctx, name)
		var m *matrix.Matrix
		if err == nil {
			m, err = matrix.Read(bytes.NewReader(text))
		}
		if err != nil {
			if ctx.Err() != nil {
				return before, ctx.Err()
			}
			say("left out: %s: %v", name, err)
			before.Unread = true
			continue
		}
		if m.Made.Before(night.Made) {
			before.Nights = append(before.Nights, nightly.Night{Matrix: m})
		}
	}
	return before, nil
}

// Newest holds the newest night of a place against at most last before it. A damaged one is said and left out. A place without
// nights is an error.
func Newest(ctx context.Context, place store.Place, last int, say func(format string, args ...any)) (*nightly.Report, error) {
	all, err := LoadPrevious(ctx, place, &matrix.Matrix{Made: time.Now()}, last+1, false, say)
	if err != nil {
		return nil, err
	}
	if len(all.Nights) == 0 {
		return nil, errors.New("no night is kept there; nodestorm nightly report --keep adds one")
	}
	return Compare(all.Nights[0].Matrix, Earlier{Nights: all.Nights[1:]}), nil
}

// LeaveEarlier takes out of a night the runs that nights before have counted, of what was run in it
// as well: their folder was not emptied.
func LeaveEarlier(night *matrix.Matrix, before []nightly.Night) {
	type pair struct{ scenario, target string }
	counted, newer := map[string]bool{}, map[pair]bool{}
	for _, earlier := range before {
		for _, c := range earlier.Cells {
			counted[c.Digest] = c.Digest != ""
		}
	}
	for _, c := range night.Cells {
		if !counted[c.Digest] {
			newer[pair{c.Scenario, c.Target}] = true
		}
	}
	night.Cells = slices.DeleteFunc(night.Cells, func(c matrix.Cell) bool { return counted[c.Digest] && newer[pair{c.Scenario, c.Target}] })
}

// Compare holds a night against those before, which it leaves out of it.
func Compare(night *matrix.Matrix, before Earlier) *nightly.Report {
	LeaveEarlier(night, before.Nights)
	return nightly.Compare(named(append(before.Nights, nightly.Night{Matrix: night})))
}

// named gives the nights names: their days, with the time where a day has two.
func named(list []nightly.Night) []nightly.Night {
	days := map[string]int{}
	for _, n := range list {
		days[n.Made.UTC().Format(time.DateOnly)]++
	}
	for i, n := range list {
		list[i].Name = n.Made.UTC().Format(time.DateOnly)
		if days[list[i].Name] > 1 {
			list[i].Name = n.Made.UTC().Format("2006-01-02 15:04")
		}
	}
	return list
}

// Add adds the night to the place. Links to its runs would lead nowhere from there.
func Add(ctx context.Context, place store.Place, night *matrix.Matrix) error {
	kept := *night
	kept.Cells = slices.Clone(night.Cells)
	for i := range kept.Cells {
		kept.Cells[i].Run = ""
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return place.Write(ctx, night.Made.UTC().Format("2006-01-02T150405Z")+".json", text)
}
