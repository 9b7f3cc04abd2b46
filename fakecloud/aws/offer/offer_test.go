package offer

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, is := range Types() {
		if seen[is.Name] {
			t.Errorf("%s is there twice", is.Name)
		}
		seen[is.Name] = true
	}
	// Issue 42 wants 600.
	if len(seen) < 600 {
		t.Errorf("there are %d types, want 600 at least", len(seen))
	}
	for _, want := range []Type{
		{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, ENIs: 3, IPv4: 10, NetworkMbps: 750, EBSMbps: 4750, Hourly: 0.096},
		{Name: "c7g.medium", VCPUs: 1, MemoryMiB: 2048, ENIs: 2, IPv4: 4, NetworkMbps: 520, EBSMbps: 10000, Hourly: 0.0363},
		{Name: "r6i.metal", VCPUs: 128, MemoryMiB: 1 << 20, ENIs: 15, IPv4: 50, NetworkMbps: 50000, EBSMbps: 40000, Hourly: 8.064},
		{Name: "t3.nano", VCPUs: 2, MemoryMiB: 512, ENIs: 2, IPv4: 2, NetworkMbps: 32, EBSMbps: 2085, Hourly: 0.0052},
		{Name: "g4dn.12xlarge", VCPUs: 48, MemoryMiB: 192 << 10, ENIs: 8, IPv4: 30, NetworkMbps: 50000, EBSMbps: 9500, DisksGB: 900, Hourly: 3.912},
	} {
		is := Named(want.Name)
		if is == nil {
			t.Errorf("there is no %s", want.Name)
			continue
		}
		got := Type{
			Name: is.Name, VCPUs: is.VCPUs, MemoryMiB: is.MemoryMiB, ENIs: is.ENIs, IPv4: is.IPv4, NetworkMbps: is.NetworkMbps, EBSMbps: is.EBSMbps,
			DisksGB: is.DisksGB, Hourly: math.Round(is.Hourly*1e6) / 1e6,
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if g := Named("g4dn.12xlarge").GPU; g != (GPU{"NVIDIA", "T4", 4, 16384}) {
		t.Errorf("GPUs of g4dn.12xlarge: %+v", g)
	}
}

func TestWrongTables(t *testing.T) {
	for text, want := range map[string]string{
		"m5.large":                               "neither a ladder nor a family",
		"family m5 Intel 3 4 0.1 a - - -":        `no ladder "a"`,
		"family m5 Intel x 4 0.1 - - - -":        `"x" is no number`,
		"family m5 Intel 3 4 0.1 - - - - fast":   "neither xen nor a GPU",
		"family m5 Intel 3 4 0.1 - - - -\nlarge": "size large lacks something",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestZoneID(t *testing.T) {
	for region, want := range map[string]string{"us-west-2": "usw2-az1", "eu-central-1": "euc1-az1"} {
		if is := ZoneID(region, 0); is != want {
			t.Errorf("%s: got %s, want %s", region, is, want)
		}
	}
}

// TestRelease holds the table against those that a release of Karpenter for AWS carries, where its module is at hand.
func TestRelease(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "github.com/aws/karpenter-provider-aws@v1.14.0/pkg/providers")
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if os.IsNotExist(err) {
			t.Skipf("github.com/aws/karpenter-provider-aws@v1.14.0 is not in the module cache: go mod download has it there")
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	limits, prices, bandwidths := read("instancetype/zz_generated.vpclimits.go"), read("pricing/zz_generated.pricing_aws.go"),
		read("instancetype/zz_generated.bandwidth.go")
	_, prices, _ = strings.Cut(prices, `"us-east-1": {`)
	find := func(pattern, text string) map[string][]string {
		all := map[string][]string{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all[m[1]] = m[2:]
		}
		return all
	}
	enis := find(`(?s)\n\t"([^"]+)": \{\n\t\tInterface: +(\d+),\n\t\tIPv4PerInterface: +(\d+),`, limits)
	costs := find(`"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)`, prices)
	megabits := find(`"([a-z0-9-]+\.[a-z0-9-]+)": +(\d+),`, bandwidths)
	if len(enis) < 1000 || len(costs) < 1000 || len(megabits) < 1000 {
		t.Fatalf("the release has %d limits, %d prices and %d bandwidths", len(enis), len(costs), len(megabits))
	}
	for _, is := range Types() {
		cost, _ := strconv.ParseFloat(costs[is.Name][0], 64)
		if is.ENIs != number(enis[is.Name][0]) || is.IPv4 != number(enis[is.Name][1]) || math.Abs(is.Hourly-cost) > 1e-6 {
			t.Errorf("%s: got %d x %d addresses and $%g, the release has %v and $%g", is.Name, is.ENIs, is.IPv4, is.Hourly, enis[is.Name], cost)
		}
		if m, known := megabits[is.Name]; known && is.NetworkMbps != number(m[0]) {
			t.Errorf("%s: got %d Mbit/s, the release has %s", is.Name, is.NetworkMbps, m[0])
		}
	}
}
