package comparison_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"nodestorm/reports/comparison"
	"nodestorm/reports/reporttest"
	"nodestorm/sim/history/measure"
)

// sweep are the variants of two releases with two settings of two and three values; costs is what each costs.
func sweep(costs func(nth int) measure.Value) (all []comparison.Variant) {
	for _, of := range []string{"karpenter@v1.6.4", "karpenter@v1.7.0"} {
		for _, idle := range []string{"1s", "10s"} {
			for _, scan := range []string{"a", "b", "c<b>"} {
				v := runs(fmt.Sprintf("%s --scan=%s X=y IDLE=%s", of, scan, idle), costs(len(all)), 30)
				v.Swept = []comparison.Setting{{Name: "IDLE", Value: idle}, {Name: "--scan", Value: scan}}
				all = append(all, v)
			}
		}
	}
	return all
}

// Each release has a map of cost and one of waiting, whose shades go from the least to the most. A cell without a cost says why.
func TestMaps(t *testing.T) {
	all := sweep(func(nth int) measure.Value {
		if nth == 4 {
			return measure.Value{Absent: "the history has no price of big"}
		}
		return euros(10 + float64(nth))
	})
	c := comparison.Compare(all, nil)
	maps := c.Maps()
	if len(maps) != 4 || maps[0].Of != "karpenter@v1.6.4 X=y" || maps[3].Of != "karpenter@v1.7.0 X=y" || maps[0].Words != "cost of the cluster" {
		t.Fatalf("%+v", maps)
	}
	want := `{Of:karpenter@v1.6.4 X=y Words:cost of the cluster Down:IDLE Across:--scan Columns:[a b c<b>] Rows:[` +
		`{Value:1s Cells:[{Number:1 Text:10.00 EUR Shade:0} {Number:2 Text:11.00 EUR Shade:1} {Number:3 Text:12.00 EUR Shade:2}]} ` +
		`{Value:10s Cells:[{Number:4 Text:13.00 EUR Shade:3} {Number:5 Text:the history has no price of big Shade:-1} {Number:6 Text:15.00 EUR Shade:4}]}]}`
	if got := fmt.Sprintf("%+v", maps[0]); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, row := range maps[1].Rows { // all wait alike
		for _, cell := range row.Cells {
			if cell.Shade != 0 || cell.Text != "30s" {
				t.Errorf("%+v", cell)
			}
		}
	}
	var page bytes.Buffer
	if err := c.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if seen, err := reporttest.HTML(page.Bytes()); err != nil || seen.Elements["b"] > 0 || !strings.Contains(seen.Text, "cost of the cluster of karpenter@v1.6.4 X=y") {
		t.Errorf("%v, %v", err, seen.Elements)
	}
	if maps := comparison.Compare(all[:3], nil).Maps(); maps != nil { // there is no map of a setting with one value
		t.Errorf("of one value: %+v", maps)
	}
	all[0].Swept = nil
	if maps := comparison.Compare(all, nil).Maps(); maps != nil {
		t.Errorf("of a variant that was not swept: %+v", maps)
	}
}
