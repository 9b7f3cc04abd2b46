package console

import "github.com/spf13/cobra"

// Heading is a group of commands as help lists them.
type Heading string

// The headings, see Headings.
const (
	Start      Heading = "Start Here"
	Test       Heading = "Test a Build"
	Write      Heading = "Write a Failure"
	Results    Heading = "Results"
	Builds     Heading = "Builds"
	CI         Heading = "CI"
	Standalone Heading = "Standalone Tools"
)

// Headings are in the order in which people need them.
var Headings = []Heading{Start, Test, Write, Results, Builds, CI, Standalone}

// Commands are those of a package. Each file adds its own.
type Commands struct{ all []command }

type command struct {
	under Heading
	make  func(*Console) *cobra.Command
}

// Add adds a command under a heading. The result allows a call where a variable is declared.
func (c *Commands) Add(under Heading, make func(*Console) *cobra.Command) struct{} {
	c.all = append(c.all, command{under, make})
	return struct{}{}
}

// AddHidden adds a command that help does not list: it works, and few need it.
func (c *Commands) AddHidden(make func(*Console) *cobra.Command) struct{} {
	return c.Add("", make)
}

// AddTo makes all of them commands of root, which has their headings.
func (c *Commands) AddTo(root *cobra.Command, e *Console) {
	for _, made := range c.all {
		below := made.make(e)
		below.GroupID, below.Hidden = string(made.under), made.under == ""
		root.AddCommand(below)
	}
}
