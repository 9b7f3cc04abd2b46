package records

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences/reference"
)

var _ = Commands.Add(console.Write, newSentences)

func newSentences(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "sentences [WORD…]",
		Short: "List what the steps of a feature can say",
		Long: `Print the sentences that have all the words: with an example, their arguments, the worlds
that have them, and what they leave in the history.

` + strings.TrimSpace(reference.Grammar),
		Example: "  nodestorm sentences pod deleted",
		RunE: func(_ *cobra.Command, words []string) error {
			found := reference.Search(words)
			if len(found) == 0 {
				return exit.UsageError(fmt.Errorf("no sentence has the words %s; nodestorm sentences prints all. What no step says can be"+
					" YAML below a step: nodestorm sentences these objects, nodestorm sentences this holds", strings.Join(words, " ")))
			}
			if asJSON {
				return e.JSON(found)
			}
			printSentences(e.Stdout, found, words)
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			seen, offer := map[string]bool{}, []string{}
			for _, s := range reference.Sentences() {
				for word := range strings.FieldsSeq(s.Words) {
					if word = strings.Trim(word, `",:`); len(word) > 3 && strings.HasPrefix(word, begun) && !seen[word] {
						seen[word] = true
						offer = append(offer, word)
					}
				}
			}
			return offer, cobra.ShellCompDirectiveNoFileComp
		},
	}
	e.OutputFlags(c, &asJSON)
	return c
}

// printSentences writes what each has, and what they are related to.
func printSentences(w io.Writer, found []reference.Sentence, words []string) {
	for _, s := range found {
		fmt.Fprintf(w, "%s %s\n  example  %s %s\n", s.Role, s.Words, s.Role, s.Example)
		for _, a := range s.Arguments {
			fmt.Fprintf(w, "  %s: %s\n", a.Name, a.Means)
		}
		played := "no feature of the catalogue"
		if len(s.Played) > 0 {
			played = strings.Join(s.Played, ", ")
		}
		fmt.Fprintf(w, "  worlds   %s\n  played   %s\n  records  %s\n", s.Worlds, played, s.Records)
		if s.Stands != "" {
			fmt.Fprintf(w, "  the example stands for\n    %s\n", strings.ReplaceAll(strings.TrimSpace(s.Stands), "\n", "\n    "))
		}
		fmt.Fprintln(w)
	}
	for _, word := range words {
		for _, other := range reference.Related(word) {
			fmt.Fprintf(w, "see also: nodestorm sentences %s\n", other)
		}
	}
}
