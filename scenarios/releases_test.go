package scenarios_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"nodestorm/scenarios"
)

const releases = `
karpenter:
  releases: [v1.5.0, v1.6.4, v1.7.0, v1.7.5, v1.8.0]
  verified: {karpenter: [v1.5.0]}
`

// of is the good record with other lines about releases.
func of(releases, lines string) (*scenarios.Catalogue, error) {
	from, to := strings.Index(good, "affected:"), strings.Index(good, "feature:")
	return scenarios.LoadFrom(fstest.MapFS{
		scenarios.ReleasesFile: {Data: []byte(releases)},
		"karpenter/a.yaml":     {Data: []byte(good[:from] + lines + "\n" + good[to:])},
	})
}

func TestTargets(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"both sides of each change", "affected: '>=v1.0.0, <v1.7.0 || =v1.7.5'\nfixed: '>=v1.7.0, !=v1.7.5'",
			"v1.5.0 reproduced, v1.6.4 reproduced, v1.7.5 reproduced, v1.7.0 healthy, v1.8.0 healthy"},
		{"a release in neither range", "affected: <v1.6.0\nfixed: '>=v1.7.0'", "v1.5.0 reproduced"},
		{"never affected", "affected: none\nfixed: '>=v1.0.0'", "v1.5.0 healthy"},
		{"not fixed yet", "affected: '>=v1.0.0'\nfixed: '>=v1.9.0'", "v1.5.0 reproduced"},
		{"named", "affected: <v1.7.0\nfixed: '>=v1.7.0'\nreleases: [v1.8.0, v1.6.4]", "v1.6.4 reproduced, v1.8.0 healthy"},
		{"other than the ranges say", "affected: <v1.7.0\nfixed: none\ntargets: [{name: karpenter@v9.9.9, expected: healthy}]", "v9.9.9 healthy"},
	} {
		catalogue, err := of(releases, test.lines)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, target := range catalogue.Records()[0].Targets {
			got = append(got, fmt.Sprintf("%s %s", target.Version(), target.Expected))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestReleasesAreChecked(t *testing.T) {
	const there = "v1.5.0, v1.6.4, v1.7.0, v1.7.5, v1.8.0"
	for _, test := range []struct{ releases, lines, want string }{
		{releases, "affected: '>=v2.0.0'\nfixed: <v2.0.0", `scenarios/karpenter/a.yaml: affected: ">=v2.0.0" has none of the releases that there are of karpenter: ` + there},
		{releases, "affected: none\nfixed: none", `scenarios/karpenter/a.yaml: fixed: "none" has none of the releases`},
		{releases, "affected: new\nfixed: none", `scenarios/karpenter/a.yaml: affected: "new" is no range of releases`},
		{releases, "affected: none", `scenarios/karpenter/a.yaml: fixed is missing, and so are targets`},
		{releases, "affected: <v1.7.0\nfixed: '>=v1.6.0'", "scenarios/karpenter/a.yaml: affected and fixed both have v1.6.4"},
		{releases, "affected: <v1.7.0\nfixed: none\nreleases: [v1.6.4, v1.65]", `scenarios/karpenter/a.yaml: releases[1]: there is no release "v1.65" of karpenter (there are: ` + there + `), did you mean "v1.6.4"?`},
		{releases, "affected: <v1.7.0\nfixed: none\nreleases: [v1.8.0]", "scenarios/karpenter/a.yaml: releases[0]: neither affected nor fixed has v1.8.0"},
		{releases, "affected: <v1.7.0\nfixed: none\nreleases: [v1.6.4]\ntargets: [{name: karpenter@v1.6.4, expected: reproduced}]", "scenarios/karpenter/a.yaml: releases: targets names the builds already"},
		{"karpenter:\n  releases: [v1.6.4]", "affected: <v1.7.0\nfixed: none", "scenarios/karpenter/a.yaml: releases is missing: no release is verified by default for records of the system karpenter"},
		{"karpenter:\n  release: [v1.6.4]", "", `scenarios/releases.yaml:2: unknown field "karpenter.release" (allowed: releases, verified), did you mean "releases"?`},
		{"karpenter:\n  releases: [v1.7.0,\n    v1.6.4]", "", "scenarios/releases.yaml:3: karpenter.releases[1]: v1.6.4 is not newer than the one before"},
		{"karpenter:\n  releases: [newest]", "", `scenarios/releases.yaml:2: karpenter.releases[0]: "newest" is no version`},
		{"carpenter:\n  releases: [v1.6.4]", "", `scenarios/releases.yaml:1: carpenter: unknown autoscaler (allowed: cluster-autoscaler, karpenter, karpenter-aws, cluster-api, aws-ccm, vpa-recommender, kubespray), did you mean "karpenter"?`},
		{"karpenter:\n  releases: [v1.6.4]\n  verified:\n    hetsner: [v1.6.4]", "", `scenarios/releases.yaml:4: karpenter.verified.hetsner: unknown system`},
		{"karpenter:\n  releases: [v1.6.4]\n  verified:\n    karpenter: [v1.6.5]", "", `scenarios/releases.yaml:4: karpenter.verified.karpenter[0]: there is no release "v1.6.5" of karpenter (there are: v1.6.4), did you mean "v1.6.4"?`},
		{"[", "", "scenarios/releases.yaml: yaml:"},
		{"", "", "scenarios/releases.yaml: the document is empty"},
	} {
		if _, err := of(test.releases, test.lines); err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("releases %q, record %q:\n%v\nwant %s", test.releases, test.lines, err, test.want)
		}
	}
}

func TestReleaseBefore(t *testing.T) {
	for _, c := range []struct {
		version string
		n       int
		want    string
	}{
		{"v1.7.0", 1, "v1.6.4"}, {"v1.7.0", 2, "v1.5.0"}, {"v1.6.9", 1, "v1.6.4"}, {"v1.0.6", 1, ""}, {"v1.5.0", 2, ""},
		{"my-fix", 1, "v1.14.1"}, {"my-fix", 2, "v1.7.0"}, {"v99.0.0", 1, "v1.14.1"},
	} {
		got, err := scenarios.ReleaseBefore("karpenter", c.version, c.n)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("number %d before %s: %q, %v; want %q", c.n, c.version, got, err, c.want)
		}
	}
	if _, err := scenarios.ReleaseBefore("nothing", "v1.0.0", 1); err == nil {
		t.Error("a program without releases has one before")
	}
}

// A failure came with a release between two, or with the later one, or was there before.
func TestBegan(t *testing.T) {
	for _, c := range []struct {
		of             scenarios.Range
		after, version string
		want           string
	}{
		{">=v1.9.0", "v1.7.0", "v1.14.1", "v1.9.0"},
		{">=v1.14.0", "v1.7.0", "v1.14.1", "v1.14.0"},
		{">=v1.14.1", "v1.7.0", "v1.14.1", ""},
		{">=1.9.0", "1.7.0", "1.9.0", ""},
		{">=v1.5.0", "v1.7.0", "v1.14.1", ""},
		{">= v1.5.0, <v1.6.4 || >=v1.7.0, <v1.12.1", "v1.0.6", "v1.7.0", ""}, // it was gone, and is back
		{">=v1.5.0, <v1.6.4 || >=v1.7.0, <v1.12.1", "v1.6.4", "v1.8.0", "v1.7.0"},
		{">=v1.5.0, <v1.6.4 || >=v1.7.0, <v1.12.1", "v1.0.6", "v1.14.1", ""},
		{"<v1.9.0", "v1.5.0", "v1.6.0", ""},
		{scenarios.None, "v1.5.0", "v1.6.0", ""},
		{">=v1.0.0", "v1.5.0", "my-fix", ""},
		{">=v1.0.0", "mine", "v1.5.0", ""},
	} {
		if got := c.of.Began(c.after, c.version); got != c.want {
			t.Errorf("%q, between %s and %s: %q, want %q", c.of, c.after, c.version, got, c.want)
		}
	}
}
