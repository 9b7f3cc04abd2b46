package records

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences"
)

func newSentences(e *console.Console) *cobra.Command {
	var asJSON, asPage bool
	c := &cobra.Command{
		Use:   "sentences [WORD…]",
		Short: "Print what the steps of a feature can say",
		Long: `Print the sentences that have all the words: with an example, their arguments, the worlds
that have them, and what they leave in the history.

` + strings.TrimSpace(sentences.Grammar),
		Example: "  nodestorm sentences pod deleted",
		RunE: func(_ *cobra.Command, words []string) error {
			found := sentencesWith(words)
			if len(found) == 0 && len(words) == 1 {
				for _, other := range sentences.Related(words[0]) {
					found = append(found, sentencesWith([]string{other})...)
				}
			}
			if len(found) == 0 {
				return exit.UsageError(fmt.Errorf("no sentence has the words %s; nodestorm sentences prints all", strings.Join(words, " ")))
			}
			switch {
			case asJSON:
				return e.JSON(found)
			case asPage:
				fmt.Fprint(e.Stdout, sentences.Page())
				return nil
			}
			for _, s := range found {
				fmt.Fprintf(e.Stdout, "%s %s\n  example  %s %s\n", s.Role, s.Words, s.Role, s.Example)
				for _, a := range s.Arguments {
					fmt.Fprintf(e.Stdout, "  %s: %s\n", a.Name, a.Means)
				}
				fmt.Fprintf(e.Stdout, "  worlds   %s\n  records  %s\n", s.Worlds, s.Records)
				if s.Stands != "" {
					fmt.Fprintf(e.Stdout, "  the example stands for\n    %s\n", strings.ReplaceAll(strings.TrimSpace(s.Stands), "\n", "\n    "))
				}
				fmt.Fprintln(e.Stdout)
			}
			for _, word := range words {
				for _, other := range sentences.Related(word) {
					fmt.Fprintf(e.Stdout, "see also: nodestorm sentences %s\n", other)
				}
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			seen, offer := map[string]bool{}, []string{}
			for _, s := range sentences.Sentences() {
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
	c.Flags().BoolVar(&asPage, "page", false, "print all as a page in Markdown, which features/SENTENCES.md is")
	return c
}

func sentencesWith(words []string) []sentences.Sentence {
	return slices.DeleteFunc(sentences.Sentences(), func(s sentences.Sentence) bool {
		about := s.Role + " " + s.Words + " " + s.Worlds
		for _, a := range s.Arguments {
			about += " " + a.Name
		}
		if strings.HasPrefix(s.Records, "faults") {
			about += " faults"
		}
		return slices.ContainsFunc(words, func(word string) bool { return !hasWord(about, word) })
	})
}

// placeholder is what stands for an argument in a sentence.
var placeholder = regexp.MustCompile(`[A-Z][A-Z-]+`)

// hasWord tells whether a word of the text begins so. Placeholders are found by names that are
// written as they are.
func hasWord(text, begun string) bool {
	words, ignoring := text, ""
	if !placeholder.MatchString(begun) {
		words, ignoring = placeholder.ReplaceAllString(text, ""), "(?i)"
	}
	return regexp.MustCompile(ignoring + `(?:^|[^A-Za-z0-9])` + regexp.QuoteMeta(begun)).MatchString(words)
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return false
		}
	}
	return true
}
