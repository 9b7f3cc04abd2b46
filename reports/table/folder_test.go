package table_test

import (
	"testing"

	"nodestorm/reports/table"
)

// Folders are named that are not those in which people look for a run of this command.
func TestNumbered(t *testing.T) {
	run := func(id, target, folder string) table.Row {
		return table.Row{ID: id, Target: target, Run: "out/" + id + "/" + folder}
	}
	again := run("a", "k@v1", "k@v1.2")
	for want, rows := range map[string][]table.Row{
		"": {run("a", "k@v1", "k@v1"), again, run("b", "k@v1", "k@v1"), {ID: "c", Target: "k@v1"}},
		"\nEarlier runs have the folders without a number. These are new:\n  out/a/k@v1.2\n": {again, run("a", "k@v1", "k@v1.3"), run("b", "k@v1", "k@v1")},
		"\nEarlier runs have the folders without a number. These are new:\n  out/a/k@v1.2\n  out/b/k@v1.2\n  out/c/k@v1.2\n  and 1 more\n": {
			again, run("b", "k@v1", "k@v1.2"), run("c", "k@v1", "k@v1.2"), run("d", "k@v1", "k@v1.2"),
		},
	} {
		if got := table.Numbered(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
