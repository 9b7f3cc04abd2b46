package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/sentences"
	"nodestorm/reports"
	"nodestorm/scenarios"
	"nodestorm/sim/time/lag"
)

// session is what the commands share that replay: how, and of what.
type session struct {
	*env
	replay.Settings
	kubernetesName string                       // --kubernetes, a release or a folder; empty: nodestorm's own
	withNames      []string                     // --with
	have           map[builds.Ref]builds.Target // what was found in the store, see foundOnce
	catalogue      *scenarios.Catalogue
	features       fs.FS
	status         *status
	live           bool // serve a page of each run
	strict         bool // what is skipped is not as expected
	shard          sharding
	abreast        abreast
}

func (s *session) addFlags(c *cobra.Command) {
	c.Flags().Var(&s.World.Clock, "clock", "how virtual time passes")
	_ = c.RegisterFlagCompletionFunc("clock", cobra.FixedCompletions([]string{"auto", "real", "60x"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&s.kubernetesName, "kubernetes", "", "`VERSION|FOLDER`: the control plane of another release, which is built if it is missing, or the programs of a folder as they are, such as envtest's; default: "+builds.Kubernetes.Version)
	c.Flags().Uint64Var(&s.World.Seed, "seed", 1, "what all randomness of the simulated nodes derives from")
	c.Flags().StringVar(&s.Out, "out", filepath.Join("reports", "out"), "`folder` for the runs")
}

// addRace adds the flag of the commands that are given a target.
func (s *session) addRace(c *cobra.Command) {
	c.Flags().BoolVar(&s.Race, "race", false, "play the build with Go's race detector, which nodestorm target build --race makes")
}

// addManifest adds the flag of the commands that replay.
func (s *session) addManifest(c *cobra.Command) {
	c.Flags().StringVar(&s.Cloud, "cloud", "", "play Karpenter's failures on this `cloud`: "+builds.Kwok+", which comes with it, or "+builds.Instances+", which can fail; default: the record's")
	_ = c.RegisterFlagCompletionFunc("cloud", cobra.FixedCompletions([]string{builds.Kwok, builds.Instances}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringArrayVar(&s.withNames, "with", nil, "take `NAME@VERSION` of the store in place of nodestorm's own: "+strings.Join(sentences.Parts, ", ")+"; build it with nodestorm target build NAME@VERSION --source DIR")
	c.Flags().StringVar(&s.Manifest, "manifest", "", "run Cluster Autoscaler as the Deployment in `FILE` does: flags, environment, mounted files, RBAC")
}

// checkManifest makes sure that all targets can be run as the manifest has it.
func (s *session) checkManifest(ctx context.Context, jobs []job) error {
	for _, j := range jobs {
		if err := (replay.Request{Settings: s.Settings, Record: j.record, Features: s.features, Target: j.target}).CheckManifest(ctx); err != nil {
			return usage(err)
		}
	}
	return nil
}

// check finds what is wrong with the flags and the machine before anything slow
// begins.
func (s *session) check(c *cobra.Command) error {
	if s.Cloud != "" && s.Cloud != builds.Kwok && s.Cloud != builds.Instances {
		return usage(fmt.Errorf("--cloud %q: want %s or %s", s.Cloud, builds.Kwok, builds.Instances))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"parallel", "quiet", "verbose"}, f.Name) {
			return // a run is the same, whoever plays beside it; it notes who does
		}
		value := f.Value.String()
		if slices.Contains([]string{"out", "manifest", "order", "kubernetes"}, f.Name) {
			value = filepath.Base(value) // where a user keeps files is nobody's business
		}
		if f.Name == "catalogue" {
			value = s.baseNames()
		}
		s.Flags = append(s.Flags, "--"+f.Name+"="+value)
	})
	s.status = s.newStatus()
	if err := s.checkKubernetes(c.Context()); err != nil {
		return usage(err)
	}
	return usage(s.checkOut())
}

// baseNames are those of the user's catalogues.
func (s *session) baseNames() string {
	var names []string
	for _, folder := range s.own.folders {
		names = append(names, filepath.Base(folder))
	}
	return strings.Join(names, string(os.PathListSeparator))
}

// checkOut makes sure that runs can be written.
func (s *session) checkOut() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("--out: %w; name a folder that can be written", err)
		}
	}()
	if s.Out == "" {
		return errors.New("no folder given")
	}
	if s.Out, err = filepath.Abs(s.Out); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return err
	}
	probe, err := os.MkdirTemp(s.Out, ".probe-")
	if err != nil {
		return err
	}
	return os.Remove(probe)
}

// open gets the control plane and the targets, and builds what is missing. What
// cannot be had is cannot's to refuse or to do without.
func (s *session) open(ctx context.Context, cannot func(builds.Ref, error) error, refs ...builds.Ref) (have map[builds.Ref]builds.Target, err error) {
	found := func(t builds.Target) error {
		s.checkSource(ctx, t)
		return usage(replay.CheckClock(s.World.Clock, t))
	}
	if s.With, err = s.chosenParts(ctx); err != nil { // before anything is built
		return nil, err
	}
	refs = append(slices.Clone(refs), builds.Kubernetes)
	other, isRelease := s.release()
	if isRelease {
		refs = append(refs, other)
	}
	have, err = s.ensure(ctx, found, cannot, refs...)
	if err != nil {
		return nil, err
	}
	s.Kubernetes = have[builds.Kubernetes]
	if isRelease {
		s.ControlPlane = replay.OfBuild(have[other])
	}
	if s.ControlPlane.Chosen() && s.player == nil {
		s.remark("the control plane is that of Kubernetes %s", s.ControlPlane)
	}
	var told []builds.Ref
	for _, ref := range refs {
		if t, is := have[ref]; is && !slices.Contains(told, ref) {
			told = append(told, ref)
			s.detail("%s is the build of %s in %s", ref, t.BuiltAt.Format("2006-01-02 15:04"), t.Dir)
		}
	}
	return have, nil
}

// checkSource tells of a build whose source has changed since it was made, once.
func (s *session) checkSource(ctx context.Context, t builds.Target) {
	if slices.Contains(s.Stale, t.Ref) {
		return
	}
	changed, err := buildstore.SourceChanged(ctx, t)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.say("whether the source of %s has changed since it was built cannot be told: %v", t.Ref, err)
	case changed:
		s.say("%s is stale: its source has changed since it was built on %s; build it again with: %s", t.Ref, t.BuiltAt.Format("2006-01-02 15:04"), buildstore.Rebuild(t))
		s.Stale = append(s.Stale, t.Ref)
	}
}

// chosenParts are the builds that --with names.
func (s *session) chosenParts(ctx context.Context) (parts []builds.Target, err error) {
	for _, name := range s.withNames {
		ref, err := builds.ParseRef(name)
		if err == nil && !slices.Contains(sentences.Parts, ref.Name) {
			err = fmt.Errorf("%s is no part of worlds (those are %s)", ref.Name, strings.Join(sentences.Parts, ", "))
		}
		var part builds.Target
		if err == nil {
			part, err = s.store.Get(ref)
		}
		if err == nil {
			err = replay.CheckClock(s.World.Clock, part)
		}
		if err != nil {
			return nil, usage(fmt.Errorf("--with %s: %w", name, err))
		}
		s.checkSource(ctx, part)
		parts = append(parts, part)
	}
	return parts, nil
}

// refuse is for targets that must be there.
func refuse(_ builds.Ref, err error) error { return usage(err) }

// ensure gets targets from the store, and out of registries or by building them those that are
// missing. Nothing is got before it is clear that no other is damaged, and
// before found has seen what is there and cannot what is nowhere to be had.
func (e *env) ensure(ctx context.Context, found func(builds.Target) error, cannot func(builds.Ref, error) error, refs ...builds.Ref) (map[builds.Ref]builds.Target, error) {
	have, missing, err := e.look(found, refs...)
	if err != nil {
		return nil, err
	}
	var todo []builds.Ref
	var all time.Duration
	recipes, offers := map[builds.Ref]buildstore.Recipe{}, map[builds.Ref]*buildstore.Offer{}
	for _, ref := range missing {
		offer, err := e.offered(ctx, ref)
		if err != nil {
			return nil, usage(err)
		}
		recipe, unknown := buildstore.Known(ref)
		if offer == nil && unknown != nil {
			if err := cannot(ref, e.unobtainable(ref, unknown)); err != nil {
				return nil, err
			}
			continue
		}
		todo, recipes[ref], offers[ref] = append(todo, ref), recipe, offer
		if offer == nil {
			all += e.store.Expected(ref)
		}
	}
	doing := "building"
	if slices.ContainsFunc(todo, func(ref builds.Ref) bool { return offers[ref] != nil }) {
		doing = "getting"
	}
	if len(todo) > 1 {
		e.remark("%s %s, in about %s: %s; this is done once", doing, counted(len(todo), "target"), all.Round(time.Minute), targetNames(todo))
	}
	for i, ref := range todo {
		if len(todo) == 1 {
			e.remark("%s %s; this is done once", doing, ref)
		}
		t, err := e.get(ctx, ref, recipes[ref], offers[ref], todo[i+1:], i+1)
		if err != nil {
			return nil, usage(err)
		}
		have[ref] = t
	}
	return have, nil
}

// get takes a target as it is offered, or else builds it.
func (e *env) get(ctx context.Context, ref builds.Ref, recipe buildstore.Recipe, offer *buildstore.Offer, after []builds.Ref, at int) (builds.Target, error) {
	if offer == nil {
		return e.buildOf(ctx, recipe, after, at)
	}
	if t, err := e.found(ref); err == nil { // what came for another serves it too
		return t, nil
	}
	line := e.newStatus()
	defer line.clear()
	return e.store.Take(ctx, offer, line.update)
}

// look is what the store has of targets, and what is missing, each once. It fails if one is
// damaged, or if found, which sees what is there, does.
func (e *env) look(found func(builds.Target) error, refs ...builds.Ref) (have map[builds.Ref]builds.Target, missing []builds.Ref, err error) {
	have = map[builds.Ref]builds.Target{}
	asked := map[builds.Ref]bool{}
	for _, ref := range refs {
		if asked[ref] { // a program and a source folder take a second to look at
			continue
		}
		asked[ref] = true
		t, err := e.found(ref)
		switch {
		case err == nil:
			have[ref] = t
			if err := found(t); err != nil {
				return nil, nil, err
			}
		case errors.As(err, new(*buildstore.NotFoundError)), errors.As(err, new(*buildstore.StaleError)):
			missing = append(missing, ref)
		default:
			return nil, nil, usage(err)
		}
	}
	return have, missing, nil
}

func targetNames(refs []builds.Ref) string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return strings.Join(names, ", ")
}

// buildFor is what the store is asked for to replay a record on a target.
func (s *session) buildFor(ref builds.Ref, r scenarios.Record) builds.Ref {
	ref.Provider, ref.Race = s.providerOf(r), ref.Race || r.Race
	return ref
}

// providerOf is the cloud that the build has to serve which a record is replayed on.
func (s *session) providerOf(r scenarios.Record) string {
	if own := r.Provider(); own != "" || r.Autoscaler != karpenter.Name {
		return own
	}
	return s.Cloud
}

// partsFor are the builds that a replay of the record takes out of the store beside its target.
// Those that --with stands in for are not among them.
func (s *session) partsFor(record scenarios.Record) ([]builds.Ref, error) {
	refs, err := replay.Request{Record: record, Features: s.features}.Needs()
	return slices.DeleteFunc(refs, func(ref builds.Ref) bool {
		return slices.ContainsFunc(s.With, func(with builds.Target) bool { return sentences.StandsIn(with.Name, ref) })
	}), err
}

// ensureParts gets what the record's steps name besides the target.
func (s *session) ensureParts(ctx context.Context, record scenarios.Record) error {
	parts, err := s.partsFor(record)
	if err == nil {
		_, err = s.ensure(ctx, func(t builds.Target) error { return usage(replay.CheckClock(s.World.Clock, t)) }, refuse, parts...)
	}
	return err
}

// replay replays one record on one target, again while it is late, and returns the row of it.
func (s *session) replay(ctx context.Context, record scenarios.Record, t builds.Target, label string) (replay.Result, reports.Row, error) {
	what := fmt.Sprintf("%s%s %s", label, record.ID, t.Ref)
	watch, stop := watching(func(step string, f lag.Figures) {
		s.status.about(what+step, passed(what, f.Virtual, f.Mean)+"  "+step, "")
	})
	defer s.status.clear()
	defer stop()
	return s.replayed(ctx, record, t, watch, s.undistorted(func(text string) {
		s.status.clear()
		s.say("%s", text)
	}))
}

// undistorted plays a run again while it is late, and says so.
func (s *session) undistorted(say func(string)) func(context.Context, replay.Request) (replay.Result, error) {
	return func(ctx context.Context, r replay.Request) (replay.Result, error) {
		return replay.Undistorted(ctx, r, func(thrown replay.Result) {
			say(fmt.Sprintf("%s on %s does not count, and runs again: %s", r.Record.ID, r.Target.Ref, thrown.Clock.Distorted()))
		})
	}
}

// replayed has one record played on one target, and returns the row of it.
func (s *session) replayed(ctx context.Context, record scenarios.Record, t builds.Target, watch watcher, play func(context.Context, replay.Request) (replay.Result, error)) (replay.Result, reports.Row, error) {
	if err := s.ensureParts(ctx, record); err != nil {
		return replay.Result{}, reports.Row{}, err
	}
	request := replay.Request{
		Settings: s.settings(), Record: record, Target: t, Features: s.features, Own: s.catalogue.Own(record.ID), Watch: watch,
	}
	ready, ended, err := s.serve(ctx, request)
	if err != nil {
		return replay.Result{}, reports.Row{}, err
	}
	request.Ready = ready
	result, err := play(ctx, request)
	ended(result.Dir)
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; make room, or put the runs on another disk with --out", err)
	}
	if err != nil {
		return result, reports.Row{}, err
	}
	s.status.clear()
	s.detail("%s on %s is kept in %s", record.ID, t.Ref, result.Dir)
	row := reports.Row{
		ID:             record.ID,
		Target:         t.Ref.String(),
		Kubernetes:     s.ControlPlane.String(),
		Expected:       string(result.Expected),
		Verdict:        string(result.Verdict),
		Outcome:        string(verdict.Compare(result.Expected, result.Verdict)),
		Reason:         result.Reason,
		WallSeconds:    result.Wall.Seconds(),
		VirtualSeconds: result.Clock.Virtual.Seconds(),
		Factor:         result.Clock.Mean,
		LagP99Ms:       float64(result.Clock.Lag.P99) / float64(time.Millisecond),
		Programs:       reports.Lateness(result.Clock),
		Run:            result.Dir,
	}
	return result, row, nil
}

// watcher is told of each step as it begins, see replay.Request.
type watcher = func(step string, clock func() lag.Figures)

// watching shows the step under way with the clock so far, now and then, until stop.
func watching(show func(step string, f lag.Figures)) (watch watcher, stop func()) {
	type news struct {
		step  string
		clock func() lag.Figures
	}
	steps := make(chan news)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var now news
		for {
			select {
			case n, more := <-steps:
				if !more {
					return
				}
				now = n
			case <-tick.C:
				if now.clock == nil {
					continue
				}
			}
			show(now.step, now.clock())
		}
	}()
	return func(step string, clock func() lag.Figures) { steps <- news{step, clock} },
		func() { close(steps); <-done }
}
