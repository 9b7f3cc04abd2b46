package sentences

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/run/then"
	"nodestorm/harness/world"
	"nodestorm/harness/world/objects"
)

// object is KIND/NAME or KIND/NAMESPACE/NAME.
const object = `"([A-Za-z][A-Za-z0-9.-]*/[^"/]+(?:/[^"/]+)?)"`

// Those of one kind, by the names that kubectl has for it.
const (
	podObject  = `"((?:[Pp]ods?|po)/[^"/]+(?:/[^"/]+)?)"`
	nodeObject = `"((?:[Nn]odes?|no)/[^"/]+)"`
)

const (
	mark = `"([^"=]+=[^"]*|[^"]+-)"`      // a label or an annotation
	file = `"([^"]+\.(?:yaml|yml|json))"` // beside the feature
)

func (s *scenario) registerObjects(on sentences) {
	on.Given(`^these objects:$`, s.haveObjects)
	on.Given(`^these objects from the file `+file+`$`, s.haveObjectsOf)
	on.Given(`^these objects with their status:$`, s.haveObjectsWithStatus)
	on.Given(`^these objects with their status from the file `+file+`$`, s.haveObjectsWithStatusOf)
	on.When(`^these objects are (created|applied):$`, s.putObjects)
	on.When(`^these objects from the file `+file+` are (created|applied)$`, s.putObjectsOf)
	for _, role := range []func(pattern, do any){on.Given, on.When} {
		role(`^`+object+` is deleted$`, s.deleteObject)
		role(`^`+object+` is deleted by force$`, s.deleteObjectByForce)
		role(`^`+podObject+` is evicted$`, s.evictObject)
		role(`^`+nodeObject+` is drained$`, s.drainNode)
		role(`^`+nodeObject+` is drained by force$`, s.drainNodeByForce)
		role(`^`+nodeObject+` is drained for at most `+span+`$`, s.drainNodeForAtMost)
		role(`^`+object+` is patched with:$`, s.patchObject)
		role(`^`+object+` is patched from the file `+file+`$`, s.patchObjectOf)
		role(`^`+object+` is scaled to `+number+`$`, s.scaleObject)
		role(`^`+object+` is labelled `+mark+`$`, s.labelObject)
		role(`^`+object+` is annotated `+mark+`$`, s.annotateObject)
		role(`^`+recordWords+`$`, s.awaitWords)
		role(`^`+thisRecorded+`:$`, s.awaitYAML)
	}
}

// clusterAPIGroups end the API groups whose objects are in the management cluster.
const clusterAPIGroups = "cluster.x-k8s.io"

// kubectl is somebody with all rights on the cluster that an API group is of.
func (s *scenario) kubectl(group string) (*objects.Client, error) {
	if s.world == nil {
		return nil, errNoCluster
	}
	cluster := s.world.Cluster
	if s.capi != nil && strings.HasSuffix(group, clusterAPIGroups) {
		cluster = s.capi.Management()
	}
	if c := s.clients[cluster]; c != nil {
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
	if s.clients == nil {
		s.clients = map[*world.Cluster]*objects.Client{}
	}
	s.clients[cluster] = c
	return c, nil
}

// of is kubectl for the cluster that an object is in by its kind, and what it stands for.
func (s *scenario) of(text string) (*objects.Client, objects.Ref, error) {
	text, err := s.fill(text)
	if err != nil {
		return nil, objects.Ref{}, err
	}
	ref, err := objects.ParseRef(text)
	if err == nil && s.world != nil {
		ref.Name, err = then.Aged(s.world.History().Since(0), s.rig.Target.Ref.Name, ref.Kind, ref.Name)
	}
	if err != nil {
		return nil, ref, err
	}
	group := ""
	if kind, of, grouped := strings.Cut(ref.Kind, "."); grouped {
		group = of
	} else if isClusterAPIKind(kind) {
		group = clusterAPIGroups
	}
	c, err := s.kubectl(group)
	return c, ref, err
}

// isClusterAPIKind tells the kinds whose group nobody says.
func isClusterAPIKind(kind string) bool {
	switch strings.TrimSuffix(strings.ToLower(kind), "s") {
	case "cluster", "machine", "machineset", "machinedeployment", "machinepool", "machinehealthcheck":
		return true
	}
	return false
}

// beside reads a file beside the feature.
func (s *scenario) beside(name string) (*godog.DocString, error) {
	text, err := readBeside(s.rig.Beside, name)
	return &godog.DocString{Content: string(text)}, err
}

func readBeside(files fs.FS, name string) ([]byte, error) {
	if files == nil {
		return nil, fmt.Errorf("the file %q: the feature is in no folder", name)
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("the file %q beside the feature: %w", name, err)
	}
	return text, nil
}

func (s *scenario) haveObjects(ctx context.Context, text *godog.DocString) error {
	return s.have(ctx, text, false)
}

func (s *scenario) haveObjectsOf(ctx context.Context, file string) error {
	text, err := s.beside(file)
	if err != nil {
		return err
	}
	return s.have(ctx, text, false)
}

func (s *scenario) haveObjectsWithStatus(ctx context.Context, text *godog.DocString) error {
	return s.have(ctx, text, true)
}

func (s *scenario) haveObjectsWithStatusOf(ctx context.Context, file string) error {
	text, err := s.beside(file)
	if err != nil {
		return err
	}
	return s.have(ctx, text, true)
}

// have is for a Given: NodePools are what Karpenter can go by when it ends.
func (s *scenario) have(ctx context.Context, text *godog.DocString, status bool) error {
	all, err := s.put(ctx, text, objects.Create)
	if err != nil {
		return err
	}
	for _, o := range all {
		if status && o.Object["status"] != nil {
			c, err := s.kubectl(o.GroupVersionKind().Group)
			if err != nil {
				return err
			}
			if err := c.SetStatus(ctx, []objects.Object{o}); err != nil {
				return err
			}
		}
	}
	for _, o := range all {
		if s.karpenter != nil && o.GroupVersionKind().GroupKind() == karpenter.PoolKind {
			if err := s.karpenter.AwaitPool(ctx, o.GetName()); err != nil {
				return fmt.Errorf("%w; of one that is not to be ready say \"When these objects are created:\"", err)
			}
		}
	}
	return nil
}

func (s *scenario) putObjects(ctx context.Context, how string, text *godog.DocString) error {
	verb := objects.Create
	if how == "applied" {
		verb = objects.Apply
	}
	_, err := s.put(ctx, text, verb)
	return err
}

func (s *scenario) putObjectsOf(ctx context.Context, file, how string) error {
	text, err := s.beside(file)
	if err != nil {
		return err
	}
	return s.putObjects(ctx, how, text)
}

// put creates or applies objects, each in the cluster that its kind is of.
func (s *scenario) put(ctx context.Context, text *godog.DocString, how objects.How) ([]objects.Object, error) {
	all, err := objects.Read([]byte(text.Content))
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if err := s.fillIn(o.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", o, err)
		}
	}
	for _, o := range all { // "machines that register …" holds for classes that say nothing else, and can
		karpenter.ForCloud(s.rig.Target, o.Unstructured)
		if o.GroupVersionKind().GroupKind() == karpenter.ClassKind && s.delay > 0 && s.karpenter != nil && s.karpenter.DelaysRegistration() {
			if _, said, _ := unstructured.NestedString(o.Object, "spec", "nodeRegistrationDelay"); !said {
				if err := unstructured.SetNestedField(o.Object, s.delay.String(), "spec", "nodeRegistrationDelay"); err != nil {
					return nil, fmt.Errorf("%s: %w", o, err)
				}
			}
		}
	}
	for rest := all; len(rest) > 0; {
		group := rest[0].GroupVersionKind().Group
		n := 1
		for n < len(rest) && s.sameCluster(group, rest[n].GroupVersionKind().Group) {
			n++
		}
		c, err := s.kubectl(group)
		if err != nil {
			return nil, err
		}
		if err := c.Put(ctx, rest[:n], how); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	for _, o := range all {
		if s.karpenter != nil && o.GroupVersionKind().GroupKind() == karpenter.ClassKind && o.Object["status"] == nil {
			if err := s.karpenter.MakeReady(ctx, o.GetName()); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// sameCluster tells whether objects of two groups are in one cluster.
func (s *scenario) sameCluster(a, b string) bool {
	if s.capi == nil || s.capi.Management() == s.world.Cluster {
		return true
	}
	return strings.HasSuffix(a, clusterAPIGroups) == strings.HasSuffix(b, clusterAPIGroups)
}

// change does something to an object as somebody does who is quick: it takes no longer in
// the world's time than in ours.
func (s *scenario) change(ref string, do func(*objects.Client, objects.Ref) error) error {
	c, of, err := s.of(ref)
	if err == nil {
		s.world.Driver().Hold()
		defer s.world.Driver().Release()
		err = do(c, of)
	}
	if s.nobody(ref, err) {
		return nil
	}
	return err
}

func (s *scenario) deleteObject(ctx context.Context, ref string) error {
	return s.change(ref, func(c *objects.Client, of objects.Ref) error { return c.Delete(ctx, of, false) })
}

func (s *scenario) deleteObjectByForce(ctx context.Context, ref string) error {
	return s.change(ref, func(c *objects.Client, of objects.Ref) error { return c.Delete(ctx, of, true) })
}

func (s *scenario) evictObject(ctx context.Context, ref string) error {
	c, of, err := s.of(ref)
	if err != nil {
		return err
	}
	return c.Evict(ctx, of)
}

func (s *scenario) drainNode(ctx context.Context, ref string) error {
	return s.drain(ctx, ref, false, longestWait, false)
}

func (s *scenario) drainNodeByForce(ctx context.Context, ref string) error {
	return s.drain(ctx, ref, true, longestWait, false)
}

// drainNodeForAtMost gives up then, as `kubectl drain --timeout` does: the node stays
// cordoned, and pods whose eviction is refused stay on it.
func (s *scenario) drainNodeForAtMost(ctx context.Context, ref, span string) error {
	d, err := duration(span)
	if err != nil {
		return err
	}
	return s.drain(ctx, ref, false, d, true)
}

// drain asks as often and looks as often as kubectl does, in the world's time.
func (s *scenario) drain(ctx context.Context, ref string, force bool, atMost time.Duration, giveUp bool) error {
	const look = time.Second
	var d *objects.Drain
	if err := s.change(ref, func(c *objects.Client, of objects.Ref) (err error) {
		d, err = c.StartDrain(ctx, of, force)
		return err
	}); err != nil || d == nil {
		return err
	}
	for until := s.world.Clock().Now().Add(atMost); ; {
		now := s.world.Clock().Now()
		left, err := d.Advance(ctx, now)
		switch {
		case err != nil:
			return err
		case len(left) == 0, giveUp && !now.Before(until):
			return nil
		case !now.Before(until):
			return fmt.Errorf("draining %s: after %s there still are: %s; of one that is given up say \"is drained for at most 10m\"", ref, atMost, strings.Join(left, "; "))
		}
		if err := s.sleep(ctx, min(look, until.Sub(now))); err != nil {
			return err
		}
	}
}

func (s *scenario) patchObject(ctx context.Context, ref string, text *godog.DocString) error {
	return s.change(ref, func(c *objects.Client, of objects.Ref) error { return c.Patch(ctx, of, []byte(text.Content)) })
}

func (s *scenario) patchObjectOf(ctx context.Context, ref, file string) error {
	text, err := s.beside(file)
	if err != nil {
		return err
	}
	return s.patchObject(ctx, ref, text)
}

func (s *scenario) scaleObject(ctx context.Context, ref string, replicas int) error {
	return s.change(ref, func(c *objects.Client, of objects.Ref) error { return c.Scale(ctx, of, replicas) })
}

func (s *scenario) labelObject(ctx context.Context, ref, label string) error {
	return s.mark(ctx, ref, objects.Labels, label)
}

func (s *scenario) annotateObject(ctx context.Context, ref, annotation string) error {
	return s.mark(ctx, ref, objects.Annotations, annotation)
}

func (s *scenario) mark(ctx context.Context, ref, field, text string) error {
	m, err := objects.ParseMark(field, text)
	if err != nil {
		return err
	}
	return s.change(ref, func(c *objects.Client, of objects.Ref) error { return c.Mark(ctx, of, field, m) })
}
