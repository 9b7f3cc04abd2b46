package acts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/history"
)

// checkStored checks the object of a field, and the value.
func checkStored(f *scene.Feature, a words.Args) error {
	if err := f.CheckFilled(a.Text(1)); err != nil {
		return err
	}
	if _, err := objects.ParseRef(a.Text(1)); err != nil {
		return err
	}
	_, err := objects.Value(a.Text(2))
	return err
}

// corrupt has a field be what no admission would let it be, as bit rot, a bad webhook of yesterday or a hand in etcd
// does. No call is in the audit log then, so that the history has an event of its own.
func corrupt(ctx context.Context, s *scene.Scene, a words.Args) error {
	c, of, err := object(s, a.Text(1))
	if err != nil {
		return err
	}
	key, kind, err := c.StoredAt(of)
	if err != nil {
		return err
	}
	to, err := objects.Value(a.Text(2))
	if err != nil {
		return err
	}
	return clusterOf(s, schema.GroupKind{Group: kind.Group, Kind: kind.Kind}).Stored(ctx, key, func(stored []byte) ([]byte, error) {
		changed, was, err := objects.WithField(stored, strings.Split(a.Text(0), "."), to)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", a.Text(0), of, err)
		}
		before, err := json.Marshal(was)
		if err != nil {
			return nil, err
		}
		s.World.History().Record(history.Event{
			Source: history.Harness, Verb: history.Corrupted,
			Object: history.Object{Resource: kind.Resource, Namespace: kind.Namespace, Name: of.Name},
			Detail: map[string]any{"field": a.Text(0), "was": history.Short(string(before)), "becomes": a.Text(2)},
		})
		return changed, nil
	})
}
