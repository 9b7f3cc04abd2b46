// Package console is what all commands share: where they print and how, the flags that they have in
// common, the catalogue and the store that these name.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/strict"
)

// Console is one call of the command.
type Console struct {
	Stdout, Stderr io.Writer
	Arguments      []string
	Serving        *queue.Worker // if we play for another process
	Store          *buildstore.Store
	Own            UserCatalogue
	Form           string // of -o; empty: for people
	Quiet, Verbose bool

	renamed   []string             // what was called by an old name
	supplier  *supply.Supplier     // see Supplier
	catalogue *scenarios.Catalogue // the last that was read, whose words are nothing to hide; nil: none
}

// Supplier gets builds for all commands, see RegistriesOfEnvironment for what the store lacks.
func (e *Console) Supplier() *supply.Supplier {
	if e.supplier == nil {
		e.supplier = &supply.Supplier{Store: e.Store, Registries: RegistriesOfEnvironment(), Output: e}
	}
	return e.supplier
}

// RegistriesOfEnvironment are where all commands look for what the store lacks.
func RegistriesOfEnvironment() buildstore.Registries {
	return buildstore.Registries{From: os.Getenv(buildstore.EnvFrom), Mirror: os.Getenv(buildstore.EnvMirror)}
}

// Group is a command that has only others below it.
func Group(c *cobra.Command) *cobra.Command {
	c.SuggestionsMinimumDistance = 2
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return Unknown(c, args[0])
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// Unknown says that the command has no such command below it.
func Unknown(c *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q", c.CommandPath()+" "+name)
	if near := c.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf(`, did you mean "%s"`, strings.Join(near, `" or "`))
	}
	return exit.UsageError(fmt.Errorf("%s; %s --help lists all", text, c.CommandPath()))
}

// WrongFlag says what is wrong with a flag, without what Go's parsers say of
// themselves.
func WrongFlag(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "bool":
		err = fmt.Errorf("--%s %q: want true or false, or the flag alone", value.GetFlag().Name, value.GetValue())
	case errors.As(err, &value) && errors.As(err, &number):
		least := ""
		if strings.HasPrefix(value.GetFlag().Value.Type(), "uint") {
			least = " from 0"
		}
		err = fmt.Errorf("--%s %q: want a whole number%s that fits 64 bits", value.GetFlag().Name, value.GetValue(), least)
	case errors.As(err, &value):
		err = fmt.Errorf("--%s: %w", value.GetFlag().Name, value.Unwrap())
	}
	return exit.UsageError(fmt.Errorf("%w; %s --help shows the flags", err, c.CommandPath()))
}

// Exactly makes a wrong number of arguments a usage error that shows the usage.
func Exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return exit.UsageError(fmt.Errorf("%d argument(s) given, want %d: %s", len(args), n, c.UseLine()))
		}
		return nil
	}
}

// ReadFile reads what a user wrote by hand.
func ReadFile(path string) ([]byte, error) {
	const most = 1 << 20
	return strict.ReadFile(path, most)
}
