package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

// hollow are patterns that no event can match, and what lint says of each: "never", "at most" and "absent" would hold of
// nothing.
var hollow = []struct{ pattern, want string }{
	{`{source: api, verb: delete, resource: pods, code: 2xx}`, `code: "2xx" is none`},
	{`{source: api, verb: delete, resource: pods, code: 2O1}`, `code: "2O1" is none`},
	{`{source: cloud, verb: created, code: [200, 999]}`, `code: "999" is none`},
	{`{source: api, verb: delete, code: {above: 599}}`, `code: no status is like that`},
	{`{source: api, verb: delete, code: {matches: "2xx"}}`, `code: "2xx" is none`},
	{`{source: log, verb: error, code: 500}`, `code: events of source log have none`},

	{`{source: api, resource: nodeclaims, detail: {deleting: "yes"}}`, `detail "deleting": "yes"`},
	{`{source: api, resource: nodeclaims, detail: {deleting: false}}`, `say {exists: false}`},
	{`{source: node, resource: nodes, verb: register, detail: {again: 1}}`, `detail "again": "1"`},
	{`{source: api, resource: nodes, detail: {ready: true}}`, `did you mean "True"?`},
	{`{source: api, resource: nodes, detail: {ready: {contains: "true"}}}`, `did you mean "True"?`},
	{`{source: api, resource: nodes, detail: {ready: {matches: Ready}}}`, `detail "ready": "Ready"`},
	{`{source: api, resource: deployments, detail: {replicas: two}}`, `detail "replicas": "two" is no number`},
	{`{source: api, resource: deployments, detail: {replicas: 2.5}}`, `detail "replicas": "2.5"`},
	{`{source: api, resource: deployments, detail: {replicas: "02"}}`, `did you mean "2"?`},
	{`{source: api, resource: deployments, detail: {replicas: {above: nan}}}`, `above: want a number`},
	{`{source: api, resource: pods, detail: {cpu: {above: inf}}}`, `above: want a number`},
	{`{source: api, resource: deployments, detail: {replicas: {below: 0}}}`, `detail "replicas": none is below 0`},
	{`{source: api, resource: nodeclaims, detail: {conditions.Launchd: "True"}}`, `did you mean "conditions.Launched"?`},
	{`{source: api, resource: nodeclaims, detail: {conditions.Launched: true}}`, `did you mean "True"?`},
	{`{source: api, resource: nodeclaims, detail: {conditions: Launched}}`, `detail "conditions" is a mapping`},
	{`{source: api, resource: nodes, detail: {ready.status: "True"}}`, `detail "ready" has no parts`},
	{`{source: api, resource: events, detail: {type: warning}}`, `did you mean "Warning"?`},
	{`{source: api, resource: pods, detail: {owner: web}}`, `detail "owner": "web"`},
	{`{source: api, resource: nodeclaims, detail: {taints: {exists: true}}}`, `only events about nodes have it`},
	{`{source: log, verb: log, detail: {messge: x}}`, `did you mean "message"?`},

	{`{source: cloud, verb: create_sevrer}`, `unknown verb "create_sevrer" of source cloud`},
	{`{source: cloud, verb: create_server}`, `unknown verb "create_server" of source cloud`}, // what faults call an action
	{`{source: cloud, verb: GET /sevrers}`, `did you mean "GET /servers"?`},
	{`{source: harness, verb: dieed}`, `did you mean "died"?`},
	{`{source: node, verb: runnin}`, `did you mean "running"?`},
	{`{source: log, verb: {contains: warn}}`, `no verb of source log is like that`},

	{`{source: api, verb: delete, resource: pods, namespace: dfeault}`, `did you mean "default"?`},
	{`{source: api, verb: delete, resource: pods, namespace: "kube-*"}`, `namespace: "kube-*" is none`},
	{`{source: cloud, verb: created, namespace: default}`, `namespace: events of source cloud have none`},
	{`{source: cloud, verb: created, detail: {message: {contains: "Pod/$pod is"}}}`, `a capture inside a longer value has braces: Pod/${pod} is`},
	{`{source: api, verb: delete, resource: pods, name: "web-*"}`, `say {matches: "web-.*"}`},
	{`{source: api, verb: delete, resource: pods, name: Web}`, `did you mean "web"?`},
	{`{source: api, verb: delete, resource: pods, name: wbe}`, `did you mean "web"?`},
	{`{source: log, verb: error, name: web}`, `events of verb error of source log are about nothing`},

	{`{source: api, verb: create, resource: pods/eviction}`, `say subresource: eviction in detail`},
	{`{source: api, verb: delete, resource: nodeclaims.karpenter.sh}`, `did you mean "nodeclaims"?`},
	{`{source: api, verb: delete, resource: nodeclaims.karpentre.sh}`, `did you mean "nodeclaims"?`},
	{`{source: api, verb: delete, resource: nodecliams}`, `did you mean "nodeclaims"?`},
	{`{source: api, verb: update, resource: leases}`, `no call on "leases" is in a history`},
	{`{source: cloud, verb: POST /servers, resource: sevrers}`, `did you mean "servers"?`},
	{`{source: cloud, verb: deleted, resource: servers}`, `are about instances or nodegroups`},
}

// What can match nothing is found by lint, wherever it is said, with its file and line and what is allowed.
func TestLintFindsWhatMatchesNothing(t *testing.T) {
	for _, test := range hollow {
		dir := t.TempDir()
		feature := "Feature: f\n  Scenario: s\n    Given a cluster\n    When a pod \"web\" that requests 1 CPU is created\n" +
			"    Then this holds within 1m:\n      \"\"\"\n      never: " + test.pattern + "\n      \"\"\"\n"
		file := filepath.Join(dir, "mine.feature")
		if err := os.WriteFile(file, []byte(feature), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := nodestorm(t, "lint", dir)
		if code != cli.NotAsExpected || !strings.HasPrefix(stdout, file+":5: the statement: never: ") || !strings.Contains(stdout, test.want) {
			t.Errorf("%s: status %d, %q, %q; want %q", test.pattern, code, stdout, stderr, test.want)
		}
	}
}

// So it is in a record's symptom and invariants, of which the line is said.
func TestLintFindsWhatMatchesNothingInRecords(t *testing.T) {
	const record = `id: mine-matches-nothing
title: A title
system: karpenter
autoscaler: karpenter
feature: mine.feature
targets: [{name: karpenter@v1.7.0, expected: healthy}]
trigger: {statement: t, sequence: [{match: {source: api}}]}
work: {source: api, actor: karpenter, count: 1}
symptom:
  statement: s
  sequence:
    - match: {source: api, verb: create, resource: nodeclaims}
      absent:
        - %s
invariants:
  - statement: i
    never: %s
`
	const right = `{source: api, verb: delete, resource: pods, name: web}`
	for _, test := range hollow {
		for i, list := range [][]any{{test.pattern, right}, {right, test.pattern}} {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"mine.feature": "@mine-matches-nothing\nFeature: f\n  Scenario: s\n    Given a cluster\n    When a pod \"web\" that requests 1 CPU is created\n" +
					"    Then 1m from now, exactly 1 NodeClaim has been created since the start\n",
				"mine.yaml": fmt.Sprintf(record, list...),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			at := fmt.Sprintf("%s:%d: ", filepath.Join(dir, "mine.yaml"), []int{14, 17}[i])
			code, stdout, stderr := nodestorm(t, "lint", dir)
			if code != cli.NotAsExpected || !strings.HasPrefix(stdout, at) || !strings.Contains(stdout, test.want) {
				t.Errorf("%s: status %d, %q, %q; want %q and %q", test.pattern, code, stdout, stderr, at, test.want)
			}
		}
	}
}
