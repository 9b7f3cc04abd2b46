package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	messages "github.com/cucumber/messages/go/v21"
	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/faults"
	"nodestorm/harness/draft/transcript"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/harness/world/apiproxy"
	"nodestorm/harness/world/memory"
	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/oneline"
	"nodestorm/sim/time/clock"
)

var _ = Commands.Add(console.Write, newUp)

func newUp(e *console.Console) *cobra.Command {
	u := &upOptions{session: newSession(e)}
	s := u.session
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a world for kubectl, until Ctrl-C",
		Long: `Start a world that stays until Ctrl-C, for kubectl and nodestorm up fault: three simulated
nodes, and Karpenter with --target; or what the Givens of a feature say, with --given.

With --record, what a user does in it with the kubeconfig that is printed, and the
faults that they arm, are written as a feature that does it again at the same times. It
ends with a comment where your Thens belong. The data of secrets is not in it.`,
		Example: `  nodestorm up --target karpenter@v1.7.0 --record mine.feature
  nodestorm up --given mine.feature --target karpenter@v1.7.0`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return u.run(c) },
	}
	s.AddFlags(c)
	s.World.Clock = clock.Real // for a person who types
	c.Flags().Lookup("clock").DefValue = s.World.Clock.String()
	c.Flags().StringVarP(&u.target, "target", "t", "", "what runs in it, `NAME@VERSION`: Karpenter, or with --given any")
	_ = c.RegisterFlagCompletionFunc("target", console.CompleteTargets)
	c.Flags().IntVar(&u.nodes, "nodes", 3, "number `N` of simulated nodes")
	c.Flags().StringVar(&u.given, "given", "", "set it up as the Givens of `FILE.feature` say")
	c.Flags().StringVar(&u.record, "record", "", "write what is done in it as the new `FILE.feature`")
	_ = c.MarkFlagFilename("given", "feature")
	_ = c.MarkFlagFilename("record", "feature")
	c.AddCommand(faults.New(e))
	return c
}

// upOptions are what up is to do.
type upOptions struct {
	*session
	target, given, record string
	nodes                 int

	ref    builds.Ref
	build  builds.Target
	givens []*messages.PickleStep
	beside fs.FS
}

func (u *upOptions) run(c *cobra.Command) (err error) {
	ctx := c.Context()
	if u.target != "" {
		if u.ref, err = builds.ParseRef(u.target); err != nil {
			return exit.UsageError(err)
		}
	}
	switch {
	case u.nodes < 0 || u.nodes > 5000:
		return exit.UsageError(fmt.Errorf("--nodes %d: want 0 to 5000", u.nodes))
	case u.given != "" && c.Flags().Changed("nodes"):
		return exit.UsageError(errors.New("--nodes and --given both say which nodes there are: want one of them"))
	case u.given != "" && u.target == "":
		return exit.UsageError(errors.New("--target NAME@VERSION is missing: what is to run in the world of --given?"))
	case u.given == "" && u.target != "" && program.Named(u.ref.Name).BuiltIn == "":
		return exit.UsageError(fmt.Errorf("--target %s: up deploys karpenter by itself; for other targets give --given FILE.feature, "+
			"whose steps deploy them", u.ref))
	case u.record != "" && filepath.Ext(u.record) != ".feature":
		return exit.UsageError(fmt.Errorf("--record %s: want a name that ends with .feature", u.record))
	}
	if err := u.check(c); err != nil {
		return err
	}
	if _, err := os.Lstat(u.record); u.record != "" && err == nil {
		return exit.UsageError(fmt.Errorf("--record %s: it is there already; take another name, or move it away", u.record))
	}
	if u.given != "" {
		err = u.fromFeature(ctx)
	} else {
		err = u.fromFlags(ctx)
	}
	if err != nil {
		return err
	}
	if u.record == "" {
		return u.stay(ctx, nil)
	}
	if usesFiles(u.givens) && filepath.Dir(u.record) != filepath.Dir(u.given) {
		return exit.UsageError(fmt.Errorf("--record %s: the Givens of %s name files beside it: write to the same folder", u.record, u.given))
	}
	reserved, err := os.OpenFile(u.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return exit.UsageError(fmt.Errorf("--record %s: it is there already; take another name, or move it away", u.record))
	case err != nil:
		return exit.UsageError(fmt.Errorf("--record: %w; name a folder that can be written", err))
	}
	if err := reserved.Close(); err != nil {
		return err
	}
	script := transcript.New(u.feature())
	err = u.stay(ctx, script)
	if !script.Begun() { // there is nothing to write
		return errors.Join(err, os.Remove(u.record))
	}
	return err
}

// fromFlags has a world as the flags say.
func (u *upOptions) fromFlags(ctx context.Context) error {
	if err := memory.Check(u.nodes); err != nil {
		return exit.UsageError(fmt.Errorf("--nodes: %w", err))
	}
	var refs []builds.Ref
	u.givens = []*messages.PickleStep{transcript.GivenStep("a cluster", "")}
	if u.nodes > 0 {
		u.givens = append(u.givens, transcript.GivenStep(wording.Counted(u.nodes, "simulated node"), ""))
	}
	if u.target != "" {
		refs = append(refs, u.ref)
		u.givens = append(u.givens, transcript.GivenStep("Karpenter", ""), transcript.GivenStep("these objects:", defaultPool))
	}
	have, err := u.Open(ctx, supply.Refuse, refs...)
	u.build = have[u.ref]
	return err
}

// defaultPool is a NodePool that takes any machine of the kwok provider, 30s after it was
// asked for.
const defaultPool = `apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
spec: {nodeRegistrationDelay: 30s}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`

// fromFeature has a world as a feature's Givens say.
func (u *upOptions) fromFeature(ctx context.Context) (err error) {
	if u.Catalogue, err = u.Console.LoadCatalogue(); err != nil {
		return err
	}
	records, err := u.inFiles([]string{u.given}, "", "")
	if err != nil {
		return err
	}
	if len(records) != 1 {
		return exit.UsageError(fmt.Errorf("--given %s: it has %d scenarios, want one", u.given, len(records)))
	}
	if records[0].Bare() {
		records[0].Autoscaler = u.ref.Name
	}
	u.Features = u.Catalogue.Features()
	jobs, _, err := u.jobsFor(ctx, u.ref, records) // of one record there is a build, or an error
	if err != nil {
		return err
	}
	u.build, u.givens = jobs[0].Target, u.Catalogue.InFile(u.given)[0].Pickle()
	request := replay.Request{Settings: u.Settings, Record: records[0], Target: u.build, Features: u.Features}
	releases, err := request.Releases()
	if err == nil {
		_, err = u.Supply.Ensure(ctx, func(t builds.Target) error { return exit.UsageError(replay.CheckClock(u.World.Clock, t)) },
			supply.Refuse, releases...)
	}
	if err == nil {
		err = request.Check(ctx)
	}
	if err != nil {
		return exit.UsageError(err)
	}
	u.beside, err = fs.Sub(u.Features, path.Dir(records[0].Feature))
	return err
}

var namesFile = regexp.MustCompile(`from the file "`)

func usesFiles(givens []*messages.PickleStep) bool {
	for _, step := range givens {
		if step.Type == messages.PickleStepType_CONTEXT && namesFile.MatchString(step.Text) {
			return true
		}
	}
	return false
}

// feature is one that sets up the world and no more.
func (u *upOptions) feature() string {
	name := strings.TrimSuffix(filepath.Base(u.record), ".feature")
	if u.record == "" {
		name = "up"
	}
	again := []string{"nodestorm", "run", name + ".feature"}
	if u.target != "" {
		again = append(again, "--target", u.build.Ref.String(), "--seed", strconv.FormatUint(u.World.Seed, 10))
	}
	return fmt.Sprintf(`# Written by nodestorm up. Do it again with: %s
Feature: %s

  Scenario: what a user did in a world that stays
%s`, oneline.Command(again...), name, transcript.Givens(u.givens))
}

// stay has the world for as long as ctx, and script records what happens in it.
func (u *upOptions) stay(ctx context.Context, script *transcript.Transcript) (err error) {
	out, err := os.MkdirTemp(u.Out, "up-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out) }() // if nothing came of it
	var w *world.World
	var live *page.Live
	var unserved error
	rig := u.Rig(u.build, out)
	rig.Beside = u.beside
	rig.World.Progress = func(what string) { u.Line().Show(what, what, "") }
	rig.Step = rig.World.Progress
	if script != nil {
		rig.World.Calls = script.Call
	}
	rig.Started = func(started *world.World) {
		w = started
		live, unserved = follow(story.Run{ID: "nodestorm up", Title: "A world that stays", Target: u.target, Autoscaler: u.build.Name,
			Kubernetes: cmp.Or(u.ControlPlane.String(), u.Kubernetes.Version), Seed: u.World.Seed, Started: time.Now(), Unjudged: true}, w.History)
	}
	defer func() {
		if live != nil {
			live.Close(nil)
		}
	}()
	err = rig.Stay(ctx, []byte(u.feature()), func(ctx context.Context, stage *sentences.Stage) error {
		if unserved != nil {
			return unserved
		}
		return u.act(ctx, w, stage, script, live.URL(), out)
	})
	u.Line().Clear()
	return err
}

// act is what happens in a world that stays.
func (u *upOptions) act(
	ctx context.Context, w *world.World, stage *sentences.Stage, script *transcript.Transcript, live, out string,
) error {
	u.Line().Clear()
	groups := []string{"system:masters"}
	if script != nil {
		groups = append(groups, audit.UserGroup)
		script.Begin(w.Clock().Now())
	}
	kubeconfig, err := w.Kubeconfig("admin", groups...)
	if err != nil {
		return err
	}
	closed, err := faults.Serve(filepath.Dir(kubeconfig), stage, script)
	if err != nil {
		return err
	}
	fmt.Fprintf(u.Stdout, `The world is up, in %s time. Use it with

  export KUBECONFIG=%s
  %s get nodes
  nodestorm up fault 'the simulated node "node-1" is NotReady, for 2m'

Watch it at %s
Logs and history are in %s. Ctrl-C ends the world.
`, u.World.Clock, oneline.Command(kubeconfig), oneline.Command(filepath.Join(u.Kubernetes.Bin(), "kubectl")), live, out)
	err = u.writeFeature(ctx, w, script)
	return errors.Join(err, closed())
}

// writeFeature waits for the end and writes the feature, after changes at most once a second.
func (u *upOptions) writeFeature(ctx context.Context, w *world.World, script *transcript.Transcript) error {
	write := func() error {
		if script == nil {
			return nil
		}
		script.Nodes(w.History().Since(0))
		if err := apiproxy.WritePrivate(u.record, script.Feature(w.Clock().Now())); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		return nil
	}
	if err := write(); err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	written := 0
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(u.Stdout, "\nending the world")
			if script != nil {
				fmt.Fprintf(u.Stdout, "What happened in it is in %s\n", u.record)
			}
			return write()
		case <-w.Done():
			return errors.Join(w.Err(), write())
		case <-tick.C:
			if script == nil || script.Len() == written {
				continue
			}
			written = script.Len()
			if err := write(); err != nil {
				return err
			}
		}
	}
}
