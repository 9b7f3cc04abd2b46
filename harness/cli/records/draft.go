package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/draft"
	"nodestorm/harness/draft/trace"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/workload"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// drafted is what `draft --json` prints.
type drafted struct {
	draft.Draft
	File string `json:"file,omitempty"` // that it was written to
}

// quiet is for how long nothing is said of what goes on.
const quiet = 2 * time.Second

// draftOptions are what a feature is made of, and where it is written.
type draftOptions struct {
	paths        map[draft.Kind]*[]string
	out, program string
	trace        string
	length       string // of Jobs
	asJSON       bool
}

var _ = Commands.Add(console.Write, newDraft)

func newDraft(e *console.Console) *cobra.Command {
	o := draftOptions{paths: map[draft.Kind]*[]string{}}
	c := &cobra.Command{
		Use:   "draft --audit-log|--events|--log|--dump|--trace FILE…",
		Short: "Draft a feature of an incident, or a workload of a trace",
		Long: `Make a feature to start from out of what is left of a cluster that failed: its nodes with
their shapes, labels and taints, node groups or NodePools, the pods that found no node, and the
flags of Cluster Autoscaler, as far as the sources have them; or, if no pod waits, the nodes that
Cluster Autoscaler removed. What they lack, and what of them it does not use, is noted in it.
The draft runs as it is.

Sources may be given together, and each more than once; - is standard input. They may be cut
off, have prefixes and colours of kubectl logs and stern, or come out of a text with fences.
Values of variables, secrets, annotations and what looks like a credential stay out.

With --trace, make a workload for "nodestorm compare" of a replay log of kubereplay or a
trace of SimKube: its Deployments, Jobs, CronJobs and pods, when they came, were scaled and
went. What a workload cannot say is noted at its head, and what a Job lacks is to be added.

Exit status: 0 there is a draft, 2 usage, or a source that cannot be read.`,
		Example: `  kubectl cluster-info dump --all-namespaces --output-directory dump
  kubectl logs -n kube-system deploy/cluster-autoscaler --prefix \
    > autoscaler.log
  nodestorm draft --dump dump --log autoscaler.log --out-file mine.feature
  kubectl get events -A -o yaml | nodestorm draft --events -
  nodestorm draft --audit-log audit.log --autoscaler karpenter --json
  nodestorm draft --trace replay.json --runs 5m --out-file day.yaml`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			sources := o.sources()
			if o.trace != "" {
				return o.writeWorkload(e, sources)
			}
			if len(sources) == 0 {
				return exit.UsageError(fmt.Errorf("a source is missing: want %s", c.UseLine()))
			}
			return o.write(e, c.Context(), sources)
		},
	}
	for kind, what := range map[draft.Kind]string{
		draft.AuditLog: "`FILE` with kube-apiserver's audit log in JSON",
		draft.Events:   "`FILE` with the output of kubectl get events, in any format",
		draft.Log:      "`FILE` with the autoscaler's log",
		draft.Dump:     "`FOLDER` of cluster-info dump or must-gather, or a file of kubectl get -o yaml",
	} {
		o.paths[kind] = c.Flags().StringArray(string(kind), nil, what)
		_ = c.MarkFlagFilename(string(kind))
	}
	c.Flags().StringVar(&o.trace, "trace", "", "`FILE` of kubereplay (JSON) or SimKube (.sktrace)")
	_ = c.MarkFlagFilename("trace")
	c.Flags().StringVar(&o.length, "runs", "", "with --trace: how `LONG` Jobs run of which the trace does not say")
	c.Flags().StringVar(&o.out, "out-file", "", "`FILE` to write; without it the draft is printed")
	e.RenamedFlag(c, "out", "out-file")
	_ = c.MarkFlagFilename("out-file", "feature", "yaml")
	c.Flags().StringVar(&o.program, "autoscaler", "", "`PROGRAM` that failed, if the sources do not say: karpenter or cluster-autoscaler")
	_ = c.RegisterFlagCompletionFunc("autoscaler", cobra.FixedCompletions([]string{draft.Karpenter, draft.ClusterAutoscaler},
		cobra.ShellCompDirectiveNoFileComp))
	e.OutputFlags(c, &o.asJSON)
	return c
}

// sources are the named files and folders, in the order in which they are read.
func (o draftOptions) sources() (sources []draft.Source) {
	for _, kind := range []draft.Kind{draft.Dump, draft.AuditLog, draft.Events, draft.Log} {
		for _, path := range *o.paths[kind] {
			sources = append(sources, draft.Source{Kind: kind, Path: path})
		}
	}
	return sources
}

// write makes the draft, and writes or prints it.
func (o draftOptions) write(e *console.Console, ctx context.Context, sources []draft.Source) error {
	if o.program != "" && o.program != draft.Karpenter && o.program != draft.ClusterAutoscaler {
		return exit.UsageError(fmt.Errorf("--autoscaler %q: want %s or %s", o.program, draft.Karpenter, draft.ClusterAutoscaler))
	}
	if err := o.free(); err != nil {
		return err
	}
	status, began := e.NewLine(), time.Now()
	cluster, err := draft.Read(ctx, sources, func(what string) {
		if time.Since(began) > quiet {
			status.Show("", what, "")
		}
	})
	status.Clear()
	if err != nil {
		return exit.UsageError(err)
	}
	d := drafted{Draft: draft.Write(cluster, o.program)}
	if err := runs(d.Feature); err != nil {
		return exit.Internal("the draft is no feature: %w", err)
	}
	if err := o.keep(d.Feature); err != nil {
		return err
	}
	d.File = o.out
	switch {
	case o.asJSON:
		return e.JSON(d)
	case o.out == "":
		_, err := io.WriteString(e.Stdout, d.Feature)
		return err
	}
	groups := "node group"
	if d.Autoscaler == draft.Karpenter {
		groups = "NodePool"
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s, %s, %s, %s; %s on what is not known at its head\n\n  %s\n", o.out,
		wording.Counted(d.Pods, "pod"), wording.Counted(d.Nodes, "node"), wording.Counted(d.Groups, groups), wording.Counted(d.Flags, "flag"),
		wording.Counted(len(d.Notes), "note"), oneline.Command("nodestorm", "run", o.out, "--target", d.Target))
	return err
}

// free finds out that the file to write is not there.
func (o draftOptions) free() error {
	if _, err := os.Lstat(o.out); o.out != "" && !errors.Is(err, fs.ErrNotExist) {
		return exit.UsageError(fmt.Errorf("--out-file %s is there already; name another file", o.out))
	}
	return nil
}

// keep writes the draft, if it is to be written.
func (o draftOptions) keep(text string) error {
	if o.out == "" {
		return nil
	}
	if err := os.WriteFile(o.out, []byte(text), 0o644); err != nil {
		return exit.UsageError(fmt.Errorf("--out-file: %w; name a file in a folder that can be written", err))
	}
	return nil
}

// mostTrace is the most bytes of a trace.
const mostTrace = 64 << 20

// writeWorkload makes a workload of the trace, and writes or prints it.
func (o draftOptions) writeWorkload(e *console.Console, sources []draft.Source) error {
	if len(sources) > 0 || o.program != "" {
		return exit.UsageError(errors.New("--trace makes a workload, and the other sources a feature: name them in a call of their own"))
	}
	if err := o.free(); err != nil {
		return err
	}
	text, err := strict.ReadFile(o.trace, mostTrace)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--trace: %w", strict.WithHint(err, "name a file that can be read")))
	}
	d, err := trace.Read(text, workload.Amount(o.length))
	if err != nil {
		return exit.UsageError(fmt.Errorf("--trace %s: %w", o.trace, err))
	}
	file, err := d.YAML()
	if err != nil {
		return exit.Internal("the workload cannot be written: %w", err)
	}
	if err := o.keep(file); err != nil {
		return err
	}
	switch {
	case o.asJSON:
		return e.JSON(d)
	case o.out == "":
		_, err := io.WriteString(e.Stdout, file)
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s in %s; %s on what is left out at its head\n\n  %s\n", o.out,
		wording.Counted(len(d.Workload.Loads), "load"), d.Workload.Lasts.Short(), wording.Counted(len(d.Notes), "note"),
		oneline.Command("nodestorm", "compare", o.out, "--variant", "karpenter@v1.6.4", "--variant", "karpenter@v1.14.1", "--dry-run"))
	return err
}

// runs finds what nodestorm lint would find.
func runs(feature string) error {
	dir, err := os.MkdirTemp("", "nodestorm-draft-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "draft.feature")
	if err := os.WriteFile(file, []byte(feature), 0o600); err != nil {
		return err
	}
	if err := scenarios.Empty().Add(replay.ReadFolder(file).Own); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return nil
}
