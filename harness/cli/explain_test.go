package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

func TestExplain(t *testing.T) {
	newBench(t)
	for args, want := range map[string]string{
		"":                                   "statement   Statement is something that a history shows",
		"record.symptom":                     "record.symptom <statement>, required",
		"record|--recursive":                 "    sequence <list of element>\n      as <string>\n",
		"record.symptom.sequence.match.verb": "{matches: …}",
		"record.symptom.sequence.within":     "FORM:\n  a number with a unit: 90s, 15m, 1h30m\n",
		"within":                             "statement.sequence.within <duration>\n",
		"sequence.within":                    "statement.sequence.within <duration>\n",
		"affected":                           "record.affected <range>",
		"duration":                           "FIELDS THAT HAVE IT:\n  statement.",
		"durations":                          "The units are ns, us, ms, s, m and h",
		"range":                              "record.affected",
		"quantity":                           "as in Kubernetes: 500m, 2, 1.5, 512Mi, 4Gi",
		"time":                               "No file has a date",
		"values":                             "pattern.",
		"amount":                             "workload.loads.pods",
	} {
		words := append([]string{"explain"}, strings.FieldsFunc(args, func(r rune) bool { return r == '|' })...)
		if code, stdout, stderr := nodestorm(t, words...); code != cli.AsExpected || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: status %d, %q, %q; want %q", args, code, stdout, stderr, want)
		}
	}
	for kind, want := range map[string]string{"": "#/$defs/Record", "rules": "#/$defs/Rules"} {
		_, stdout, _ := nodestorm(t, append([]string{"explain", "--schema"}, strings.Fields(kind)...)...)
		var schema struct {
			Ref     string `json:"$ref"`
			Dialect string `json:"$schema"`
		}
		if err := json.Unmarshal([]byte(stdout), &schema); err != nil || schema.Ref != want || !strings.HasSuffix(schema.Dialect, "2020-12/schema") {
			t.Errorf("%s: %+v, %v", kind, schema, err)
		}
	}
	for args, want := range map[string]string{
		"explain|record.symtom":           `did you mean "symptom"?`,
		"explain|recrd":                   `did you mean "record"?`,
		"explain|witin":                   `did you mean "within"?`,
		"explain|duratoin":                `did you mean "duration"?`,
		"explain|record.within":           `record has no field "within" (allowed: id, `,
		"explain|record.sequence":         `: it is statement.sequence`,
		"explain|record.symptom.witin":    `did you mean "within"?`,
		"explain|record|statement":        "one path is explained at a time",
		"explain|record.id|--schema":      "--schema is of a whole file",
		"explain|--schema|--recursive":    "exclude each other",
		"__complete|explain|record.sympt": "",
	} {
		code, stdout, stderr := nodestorm(t, strings.Split(args, "|")...)
		if want == "" {
			if !strings.Contains(stdout, "record.symptom\n") {
				t.Errorf("%s: %q", args, stdout)
			}
			continue
		}
		if code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
