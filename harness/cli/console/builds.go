package console

import (
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
)

// HowFlags are those that say how to build what is there.
func HowFlags(c *cobra.Command, q *buildstore.Request) {
	c.Flags().StringVar(&q.Package, "package", "", "main `PACKAGE` below the root of the source")
	c.Flags().StringVar(&q.Provider, "provider", "", "cloud `PROVIDER` to compile in; if there is one tag, that is it")
	c.Flags().StringArrayVar(&q.Tags, "tags", nil, "Go build `TAGS`, separated by commas; each --tags is a build")
}

// CompleteTargets offers what is in the store and what the catalogue names.
func CompleteTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	refs, err := replay.Needed()
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
