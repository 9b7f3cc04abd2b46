package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const printed = `goos: linux
BenchmarkGrowth/nodes=300-2    1   5 ns/op   3.0 cpu-s   7 MiB
BenchmarkGrowth/nodes=100-2    1   5 ns/op   1.0 cpu-s   5 MiB
BenchmarkGrowth/nodes=100-2    1   5 ns/op   1.2 cpu-s   5 MiB
BenchmarkGrowth/nodes=100-2    1   5 ns/op   0.8 cpu-s   5 MiB
BenchmarkGrowth/nodes=1000     1   5 ns/op   17 cpu-s   14 MiB
BenchmarkWrite/10000-2         1   5 ns/op   2 MB
BenchmarkWrite/1000000-2       1   5 ns/op   200 MB
BenchmarkGrowth/pods=7-2       1   5 ns/op   1 cpu-s
BenchmarkWorldReady-2          1   5 ns/op   1.5 s-ready/op
PASS
`

func TestGrowth(t *testing.T) {
	page := filepath.Join(t.TempDir(), "out", "growth.html")
	var table strings.Builder
	if err := run(strings.NewReader(printed), &table, page); err != nil {
		t.Fatal(err)
	}
	want := `| over | figure | from | to | slope | slope at the end |
|---|---|---|---|---|---|
| nodes | cpu-s | 1 at 100 | 17 at 1000 | 0.0178 | 0.02 |
| nodes | MiB | 5 at 100 | 14 at 1000 | 0.01 | 0.01 |
| size | B | 2e+06 at 10000 | 2e+08 at 1e+06 | 200 | 200 |

` + page + "\n"
	if table.String() != want {
		t.Errorf("the table is\n%swant\n%s", &table, want)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`<figcaption>cpu-s over nodes</figcaption>`, `<polyline points="88.0,180.0 144.0,160.0 340.0,20.0"/>`,
		`<polyline class="even" points="88.0,180.0 340.0,20.0"/>`, `<title>3 cpu-s at 300 nodes</title>`, `>1000 nodes</text>`,
	} {
		if !strings.Contains(string(html), part) {
			t.Errorf("the page has no %s:\n%s", part, html)
		}
	}
}

func TestGrowthOfNothing(t *testing.T) {
	err := run(strings.NewReader("BenchmarkGrowth/nodes=3-2 1 5 ns/op 2 cpu-s\nPASS\n"), &strings.Builder{}, filepath.Join(t.TempDir(), "p"))
	if err == nil || !strings.Contains(err.Error(), "no benchmark") {
		t.Errorf("%v, want that nothing was read", err)
	}
}
