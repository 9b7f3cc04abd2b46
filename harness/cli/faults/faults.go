// Package faults has the commands that break the world of nodestorm up, and what that world answers them.
package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/draft/transcript"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/world"
	"nodestorm/harness/world/api"
	"nodestorm/reports/wording"
)

// New makes nodestorm up fault.
func New(e *console.Console) *cobra.Command {
	var file, name string
	c := &cobra.Command{
		Use:   "fault SENTENCE|--file FILE",
		Short: "Inject a fault into the world of nodestorm up",
		Long: `Arm a fault in the world that nodestorm up keeps: a sentence as the steps of features
have it, in quotes, or the YAML of "these faults:". What there is:

  nodestorm sentences When 'what it is about'

If more than one world is there, KUBECONFIG says which is meant.`,
		Example: `  nodestorm up fault 'the simulated node "node-1" is NotReady, for 2m'
  nodestorm up fault 'every new simulated node never registers' --name dead
  nodestorm up fault clear dead
  nodestorm up fault --file faults.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			asked, err := readAsked(args, file, name)
			if err != nil {
				return exit.UsageError(err)
			}
			armed := clocked{}
			if err := request(c.Context(), "/fault", asked, &armed); err != nil {
				return exit.UsageError(err)
			}
			fmt.Fprintf(e.Stdout, "armed at %s\n", armed.At.UTC().Format(time.TimeOnly))
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return breaks.Examples(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&file, "file", "", "`FILE` with faults in YAML")
	_ = c.MarkFlagFilename("file", "yaml", "yml", "json")
	c.Flags().StringVar(&name, "name", "", "`NAME` of the fault; default: the sentence")
	c.AddCommand(newFaultList(e), newFaultClear(e))
	return c
}

func readAsked(args []string, file, name string) (asked askedFault, err error) {
	switch {
	case (len(args) == 1) == (file != ""), len(args) > 1:
		return asked, errors.New("want one fault: a sentence, all of it in single quotes, or --file FILE; nodestorm sentences prints them")
	case file != "" && name != "":
		return asked, errors.New("--name is for a sentence: those of --file have names")
	case file != "":
		text, err := console.ReadFile(file)
		if err != nil {
			return asked, fmt.Errorf("--file: %w", err)
		}
		asked.YAML = string(text)
		if err := breaks.Check(text); err != nil {
			return asked, fmt.Errorf("%s: %w", file, err)
		}
	case name != "":
		text, err := breaks.Named(name, args[0])
		if err != nil {
			return asked, err
		}
		asked.YAML = string(text)
	default:
		asked.Sentence = args[0]
		return asked, breaks.CheckSentence(args[0])
	}
	return asked, nil
}

func newFaultList(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the faults of the world that nodestorm up keeps",
		Example: "  nodestorm up fault list",
		Args:    console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			all := []breaks.Armed{}
			if err := request(c.Context(), "/list", struct{}{}, &all); err != nil {
				return exit.UsageError(err)
			}
			if asJSON {
				return e.JSON(all)
			}
			table := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "FAULT\tOF\tSTATE\tSINCE")
			for _, f := range all {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", wording.Clean(f.Name), wording.Clean(f.On), f.State, f.Since.Round(time.Second))
			}
			return table.Flush()
		},
	}
	e.OutputFlags(c, &asJSON)
	return c
}

func newFaultClear(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "clear NAME",
		Short:   "End a fault before its time",
		Example: "  nodestorm up fault clear dead",
		Args:    console.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := request(c.Context(), "/clear", askedName{args[0]}, nil); err != nil {
				return exit.UsageError(err)
			}
			fmt.Fprintln(e.Stdout, "cleared")
			return nil
		},
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			all := []breaks.Armed{}
			_ = request(c.Context(), "/list", struct{}{}, &all) // without a world there is nothing to offer
			var names []string
			for _, f := range all {
				if f.State != "cleared" && !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// What commands ask a world, and what it answers.
type (
	askedFault struct{ Sentence, YAML string }
	askedName  struct{ Name string }
	clocked    struct{ At time.Time }
)

// request asks the world that is running.
func request(ctx context.Context, path string, question, answer any) error {
	dir, err := api.Find(ctx, os.Getenv("KUBECONFIG"), os.TempDir(), world.FolderPrefix)
	if err != nil {
		return err
	}
	return api.Call(ctx, dir, http.MethodPost, path, question, answer)
}

// Serve lets commands break a world that stays, until closed.
func Serve(dir string, stage *sentences.Stage, script *transcript.Transcript) (closed func() error, err error) {
	mux := http.NewServeMux()
	mux.Handle("POST /fault", api.Handle(func(asked askedFault) (clocked, error) {
		var at time.Time
		var err error
		step := asked.Sentence
		if asked.YAML != "" {
			step = "these faults:"
			at, err = stage.Faults([]byte(asked.YAML))
		} else {
			at, err = stage.Fault(asked.Sentence)
		}
		if err == nil && script != nil {
			script.Fault(at, strings.TrimSpace(step), asked.YAML)
		}
		return clocked{at}, err
	}))
	mux.Handle("POST /clear", api.Handle(func(asked askedName) (clocked, error) {
		at, err := stage.Clear(asked.Name)
		if err == nil && script != nil {
			script.AddStep(at, breaks.ClearSentence(asked.Name), "")
		}
		return clocked{at}, err
	}))
	mux.Handle("POST /list", api.Handle(func(struct{}) ([]breaks.Armed, error) { return stage.ArmedFaults(), nil }))
	server, err := api.Serve(dir, mux)
	if err != nil {
		return nil, fmt.Errorf("serving nodestorm up fault: %w", err)
	}
	return server.Close, nil
}
