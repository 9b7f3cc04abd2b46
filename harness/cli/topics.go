package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/features"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// topics are the formats of files that commands take: each has examples that are read as the
// commands read them, in a test.
var topics = []struct {
	name, short, use string
	examples         []string // below features/examples
	faults           *fault.List
}{
	{"faults", "Format: faults of a cloud that is served alone",
		"nodestorm cloud hcloud --faults FILE --check lists what is wrong with one, and what is allowed. In features\n" +
			"faults are sentences instead: nodestorm sentences fault.",
		[]string{"faults-hcloud.yaml", "faults-externalgrpc.yaml", "faults-aws.yaml"}, cloudfault.Faults},
	{"accounts", "Format: an account of AWS that is served alone",
		"nodestorm cloud aws --state FILE --check says what is wrong with one. Of the names that resources have it draws the IDs,\n" +
			"where it does not say them.", []string{"account.yaml"}, nil},
	{"rules", "Format: faults on the way to an API server (proxy)",
		"nodestorm proxy --rules FILE --check lists what is wrong with one.", []string{"rules.yaml"}, apifault.Rules},
	{"orders", "Format: the order of an installer (run --order)",
		"nodestorm run --tags @kubespray --target kubespray@mine --order FILE checks it before anything starts. The orders that\n" +
			"are built in are in harness/program/installer.", []string{"order.yaml", "order-add-on.yaml"}, nil},
	{"schedules", "Format: what is done to a world (explore, compare)",
		"nodestorm explore print FILE says what is wrong with a schedule, and prints it as the feature that is played.\n" +
			"nodestorm compare FILE --dry-run does so of a workload. In features that is played by\n" +
			"\"When the workload from the file \"FILE\" runs\".",
		[]string{"schedule.yaml", "workload.yaml"}, nil},
	{"invariants", "Format: invariants of a folder's scenarios",
		"nodestorm lint DIR says what is wrong with one.", []string{"invariants.yaml"}, nil},
}

// helpTopics are commands that only have help.
func helpTopics() (list []*cobra.Command) {
	for _, t := range topics {
		var long strings.Builder
		fmt.Fprintf(&long, "%s.\n\n%s\n", strings.TrimPrefix(t.short, "Format: "), t.use)
		var examples strings.Builder
		for _, name := range t.examples {
			text, err := features.Example(name)
			if err != nil {
				panic(err) // it is part of the program
			}
			fmt.Fprintf(&examples, "\n# --- %s\n%s", name, text)
		}
		if t.faults != nil {
			long.WriteString(effectsOf(t.faults))
			examples.WriteString(further(t.faults, examples.String()))
		}
		long.WriteString(examples.String())
		list = append(list, &cobra.Command{Use: t.name, Short: t.short, Long: strings.TrimRight(long.String(), "\n"),
			Hidden: t.name == "accounts"}) // nodestorm cloud aws --help names it, and no other command needs it
	}
	return list
}

// further are examples of effects that no file has one of, as their sentences say them.
func further(l *fault.List, files string) string {
	var text strings.Builder
	for _, k := range l.Kinds() {
		if strings.Contains(files, k.Key+": {") {
			continue
		}
		example, err := breaks.ExampleOf(l, k.Key)
		if err != nil {
			panic(err) // each has a sentence, and its example is checked
		}
		fmt.Fprintf(&text, "\n# --- %s\n%s", k.Key, example)
	}
	return text.String()
}

// effectsOf are the effects that faults of a list can have, and how sentences say them.
func effectsOf(l *fault.List) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\nWhat one strikes is %s, and it has one of the effects, which sentences say so:\n", l.MatchFields())
	for _, k := range l.Kinds() {
		fmt.Fprintf(&text, "\n  %s\n", l.Written(k.Key, k.Fields()...))
		for _, w := range k.Says {
			fmt.Fprintf(&text, "      … %s\n", w.Text)
		}
	}
	return text.String()
}
