package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
)

// completeIDs offers the scenarios that are not on the command line yet.
func (e *env) completeIDs(_ *cobra.Command, ids []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := e.unchecked()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offer []string
	for _, r := range c.Records() {
		if !slices.Contains(ids, r.ID) {
			offer = append(offer, cobra.CompletionWithDesc(r.ID, r.Title))
		}
	}
	return offer, cobra.ShellCompDirectiveNoFileComp
}

// completePull offers records and targets.
func (e *env) completePull(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	ids, _ := e.completeIDs(c, args, word)
	targets, how := completeTargets(c, args, word)
	return append(targets, ids...), how
}

// completeTargets offers what is in the store and what the catalogue names.
func completeTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	refs, err := needed()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if store, err := buildstore.Open(""); err == nil {
		refs = append(refs, store.Refs()...)
	}
	var offer []string
	for _, ref := range refs {
		if ref.Name != builds.Kubernetes.Name {
			offer = append(offer, ref.String())
		}
	}
	slices.Sort(offer)
	return slices.Compact(offer), cobra.ShellCompDirectiveNoFileComp
}
