package records

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/events"
	"nodestorm/harness/run/exit"
)

var _ = Commands.Add(console.Write, newEvents)

func newEvents(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "events [WORD…]",
		Short: "List the events that a history can have, as patterns",
		Long: `Print the events that have all the words in their source, verb, resource, details, actors
or worlds: what details they have and of what form, in which worlds and by whom stored
runs have them, and a pattern in YAML that one of them matches. Patterns of records and
steps are checked against what is listed here.`,
		Example: `  nodestorm events interrupted
  nodestorm events cloud created
  nodestorm events NodeClaim delete karpenter`,
		RunE: func(_ *cobra.Command, words []string) error {
			found, err := events.Search(words)
			if err != nil {
				return exit.UsageError(err)
			}
			if asJSON {
				return e.JSON(found)
			}
			events.Print(e.Stdout, found)
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			words := slices.DeleteFunc(events.Words(), func(word string) bool {
				return !strings.HasPrefix(word, begun) || strings.Contains(word, " ")
			})
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	e.OutputFlags(c, &asJSON)
	return c
}
