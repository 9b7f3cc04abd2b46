package acts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world"
	"nodestorm/harness/world/objects"
)

var objectSentences = scene.Sentences{
	Worlds: "any", Records: "calls to the API server (api) by kubectl",
	Rows: append([]scene.Sentence{
		{Role: scene.Given, Words: `these objects:`, Check: checkObjects, Act: have(false)},
		{Role: scene.Given, Words: `these objects from the file "FILE"`, Check: checkObjects, Act: have(false)},
		{Role: scene.Given, Words: `these objects with their status:`, Check: checkObjects, Act: have(true)},
		{Role: scene.Given, Words: `these objects with their status from the file "FILE"`, Check: checkObjects, Act: have(true)},
		{Role: scene.When, Words: `these objects are (created|applied):`, Check: checkObjects, Act: putObjects(0)},
		{Role: scene.When, Words: `these objects from the file "FILE" are (created|applied)`, Check: checkObjects, Act: putObjects(1)},
		{Role: scene.When, Words: `the API server is asked to (create|apply) these objects:`, Check: checkAsked, Act: askForObjects},
		{Role: scene.When, Words: `the API server is asked to (create|apply) these objects from the file "FILE"`, Check: checkAsked,
			Act: askForObjects},
		{Role: scene.When, Words: `the API server is asked to patch "KIND/NAME" with:`, Check: checkObject(checkPatch), Act: askForPatch},
		{Role: scene.Either, Words: `"KIND/NAME" is deleted`, Check: checkObject(nil), Act: deleteObject(false)},
		{Role: scene.Either, Words: `"KIND/NAME" is deleted by force`, Check: checkObject(nil), Act: deleteObject(true)},
		{Role: scene.Either, Words: `"Pod/NAME" is evicted`, Check: checkObject(nil), Act: evictObject},
		{Role: scene.Either, Words: `"Node/NAME" is drained`, Check: checkObject(nil), Act: drainNode},
		{Role: scene.Either, Words: `"Node/NAME" is drained by force`, Check: checkObject(nil), Act: drainNodeByForce},
		{Role: scene.Either, Words: `"Node/NAME" is drained for at most DURATION`, Check: checkObject(nil), Act: drainNodeForAtMost},
		{Role: scene.Either, Words: `"KIND/NAME" is patched with:`, Check: checkObject(checkPatch), Act: patchObject},
		{Role: scene.Either, Words: `"KIND/NAME" is patched from the file "FILE"`, Check: checkObject(checkPatch), Act: patchObject},
		{Role: scene.Either, Words: `"KIND/NAME" is scaled to N`, Check: checkObject(nil), Act: scaleObject},
		{Role: scene.Either, Words: `"KIND/NAME" is labelled "KEY=VALUE"`, Check: checkObject(checkMark(objects.Labels)),
			Act: markObject(objects.Labels)},
		{Role: scene.Either, Words: `"KIND/NAME" is annotated "KEY=VALUE"`, Check: checkObject(checkMark(objects.Annotations)),
			Act: markObject(objects.Annotations)},
		{Role: scene.Either, Words: `the stored field "PATH" of "KIND/NAME" becomes "VALUE"`, Check: checkStored, Act: corrupt},
	}, slices.Concat(workloads, usageSentences, awaits)...),
}

// kubectls are a user with all rights on each of the scenario's clusters.
type kubectls map[*world.Cluster]*objects.Client

// clusterOf is the cluster that a kind is of.
func clusterOf(s *scene.Scene, kind schema.GroupKind) *world.Cluster {
	for _, home := range scene.EachProgram[scene.Home](s) {
		if home.Has(kind) {
			return home.Management()
		}
	}
	return s.World.Cluster
}

// kubectl is a user with all rights on a cluster.
func kubectl(s *scene.Scene, cluster *world.Cluster) (*objects.Client, error) {
	all := scene.State[kubectls](s)
	if c := (*all)[cluster]; c != nil {
		return c, nil
	}
	user, err := cluster.User("somebody", "system:masters")
	if err != nil {
		return nil, err
	}
	c, err := objects.NewClient(user)
	if err != nil {
		return nil, err
	}
	if *all == nil {
		*all = kubectls{}
	}
	(*all)[cluster] = c
	return c, nil
}

// object is kubectl for the cluster that an object is in by its kind, and what it stands for.
func object(s *scene.Scene, text string) (*objects.Client, objects.Ref, error) {
	text, err := s.Fill(text)
	if err != nil {
		return nil, objects.Ref{}, err
	}
	ref, err := objects.ParseRef(text)
	if err == nil {
		ref.Name, err = then.Aged(s.World.History().Since(0), s.Rig.Target.Program(), ref.Kind, ref.Name)
	}
	if err != nil {
		return nil, ref, err
	}
	kind, group, _ := strings.Cut(ref.Kind, ".")
	c, err := kubectl(s, clusterOf(s, schema.GroupKind{Group: group, Kind: kind}))
	return c, ref, err
}

// have is for a Given: NodePools are what Karpenter can go by when it ends.
func have(status bool) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		all, err := put(ctx, s, a.Quoted, objects.Create)
		if err != nil {
			return err
		}
		for _, o := range all {
			if status && o.Object["status"] != nil {
				c, err := kubectl(s, clusterOf(s, o.GroupVersionKind().GroupKind()))
				if err != nil {
					return err
				}
				if err := c.SetStatus(ctx, []objects.Object{o}); err != nil {
					return err
				}
			}
		}
		for _, keeper := range scene.EachProgram[scene.Keeper](s) {
			for _, o := range all {
				if err := keeper.Settled(ctx, o.Unstructured); err != nil {
					return fmt.Errorf("%w; of one that is not to be ready say \"When these objects are created:\"", err)
				}
			}
		}
		return nil
	}
}

// putObjects creates or applies, as the argument at that place says.
func putObjects(how int) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		verb := objects.Create
		if a.Text(how) == "applied" {
			verb = objects.Apply
		}
		_, err := put(ctx, s, a.Quoted, verb)
		return err
	}
}

// askForObjects goes on with the next object where one is refused, as kubectl does.
func askForObjects(ctx context.Context, s *scene.Scene, a words.Args) error {
	verb := objects.Create
	if a.Text(0) == "apply" {
		verb = objects.Apply
	}
	all, err := prepared(ctx, s, a.Quoted)
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := store(ctx, s, []objects.Object{o}, verb); err != nil && !objects.Refused(err) {
			return err
		}
	}
	return nil
}

// put creates or applies objects, all of which have to be taken.
func put(ctx context.Context, s *scene.Scene, text string, how objects.PutMode) ([]objects.Object, error) {
	all, err := prepared(ctx, s, text)
	if err != nil {
		return nil, err
	}
	return all, store(ctx, s, all, how)
}

// prepared are objects as they are sent to the API server.
func prepared(ctx context.Context, s *scene.Scene, text string) ([]objects.Object, error) {
	all, err := objects.Read([]byte(text))
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if err := fillIn(ctx, s, o.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", o, err)
		}
	}
	for _, o := range all {
		for _, keeper := range scene.EachProgram[scene.Keeper](s) {
			if err := keeper.Prepare(s, o.Unstructured); err != nil {
				return nil, fmt.Errorf("%s: %w", o, err)
			}
		}
	}
	return all, nil
}

// fillIn puts in what stands for something else in the values of an object or a patch.
func fillIn(ctx context.Context, s *scene.Scene, value any) error {
	return s.FillIn(value, func(text string) (uid string, err error) {
		c, of, err := object(s, text)
		if err != nil {
			return "", err
		}
		o, err := c.Get(ctx, of)
		if err != nil {
			return "", err
		}
		return string(o.GetUID()), nil
	})
}

// store creates or applies objects, each in the cluster that its kind is of.
func store(ctx context.Context, s *scene.Scene, all []objects.Object, how objects.PutMode) error {
	for rest := all; len(rest) > 0; {
		cluster := clusterOf(s, rest[0].GroupVersionKind().GroupKind())
		n := 1
		for n < len(rest) && clusterOf(s, rest[n].GroupVersionKind().GroupKind()) == cluster {
			n++
		}
		c, err := kubectl(s, cluster)
		if err != nil {
			return err
		}
		if err := c.Put(ctx, rest[:n], how); err != nil {
			return err
		}
		rest = rest[n:]
	}
	for _, keeper := range scene.EachProgram[scene.Keeper](s) {
		for _, o := range all {
			if err := keeper.Stored(ctx, o.Unstructured); err != nil {
				return err
			}
		}
	}
	return nil
}

// change does something to an object as a user does who is quick: it takes no longer in
// the world's time than in ours.
func change(s *scene.Scene, ref string, do func(*objects.Client, objects.Ref) error) error {
	c, of, err := object(s, ref)
	if err == nil {
		s.World.Driver().Hold()
		defer s.World.Driver().Release()
		err = do(c, of)
	}
	if nothingLeft(s, ref, err) {
		return nil
	}
	return err
}

func deleteObject(force bool) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		return change(s, a.Text(0), func(c *objects.Client, of objects.Ref) error { return c.Delete(ctx, of, force) })
	}
}

func evictObject(ctx context.Context, s *scene.Scene, a words.Args) error {
	c, of, err := object(s, a.Text(0))
	if err != nil {
		return err
	}
	return c.Evict(ctx, of)
}

func drainNode(ctx context.Context, s *scene.Scene, a words.Args) error {
	return drain(ctx, s, a.Text(0), false, longestWait, false)
}

func drainNodeByForce(ctx context.Context, s *scene.Scene, a words.Args) error {
	return drain(ctx, s, a.Text(0), true, longestWait, false)
}

// drainNodeForAtMost gives up then, as `kubectl drain --timeout` does: the node stays
// cordoned, and pods whose eviction is refused stay on it.
func drainNodeForAtMost(ctx context.Context, s *scene.Scene, a words.Args) error {
	return drain(ctx, s, a.Text(0), false, a.Duration(1), true)
}

// drain asks as often and looks as often as kubectl does, in the world's time.
func drain(ctx context.Context, s *scene.Scene, ref string, force bool, atMost time.Duration, giveUp bool) error {
	const look = time.Second
	var d *objects.Drain
	if err := change(s, ref, func(c *objects.Client, of objects.Ref) (err error) {
		d, err = c.StartDrain(ctx, of, force)
		return err
	}); err != nil || d == nil {
		return err
	}
	for until := s.World.Clock().Now().Add(atMost); ; {
		now := s.World.Clock().Now()
		left, err := d.Advance(ctx, now)
		switch {
		case err != nil:
			return err
		case len(left) == 0, giveUp && !now.Before(until):
			return nil
		case !now.Before(until):
			return fmt.Errorf("draining %s: after %s there still are: %s; of one that is given up say \"is drained for at most 10m\"",
				ref, atMost, strings.Join(left, "; "))
		}
		if err := s.Sleep(ctx, min(look, until.Sub(now))); err != nil {
			return err
		}
	}
}

func patchObject(ctx context.Context, s *scene.Scene, a words.Args) error {
	return change(s, a.Text(0), func(c *objects.Client, of objects.Ref) error {
		body, err := objects.ReadPatch([]byte(a.Quoted))
		if err != nil {
			return err
		}
		var filled any
		if err := json.Unmarshal(body, &filled); err != nil {
			return err
		}
		if err := fillIn(ctx, s, filled); err != nil {
			return err
		}
		if body, err = json.Marshal(filled); err != nil {
			return err
		}
		return c.Patch(ctx, of, body)
	})
}

func askForPatch(ctx context.Context, s *scene.Scene, a words.Args) error {
	if err := patchObject(ctx, s, a); !objects.Refused(err) {
		return err
	}
	return nil
}

func scaleObject(ctx context.Context, s *scene.Scene, a words.Args) error {
	return change(s, a.Text(0), func(c *objects.Client, of objects.Ref) error { return c.Scale(ctx, of, a.Int(1)) })
}

func markObject(field string) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		m, err := objects.ParseMark(field, a.Text(1))
		if err != nil {
			return err
		}
		return change(s, a.Text(0), func(c *objects.Client, of objects.Ref) error { return c.Mark(ctx, of, field, m) })
	}
}

// nothingLeft reports whether doing something to an object of a scenario that was drawn came to
// nothing because there is no newest or oldest one, or none any more.
func nothingLeft(s *scene.Scene, ref string, err error) bool {
	_, name, _ := strings.Cut(ref, "/")
	// mutant: a written act may find no object
	return s.Drawn && (name == then.Newest || name == then.Oldest) && (errors.As(err, new(*then.NoneError)) || apierrors.IsNotFound(err))
}
