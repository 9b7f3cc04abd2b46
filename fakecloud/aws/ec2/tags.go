package ec2

import (
	"maps"
	"strings"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What CreateTags and DeleteTags ask.
type tagsRequest struct {
	DryRun    bool
	Resources []string      `wire:"resourceId,required,max=1000"`
	Tags      []listing.Tag `wire:"tag,max=1000"`
}

func tagsSubject(_ *api.Call, in *tagsRequest) api.Subject {
	var ids []string
	for _, id := range in.Resources {
		if strings.HasPrefix(id, "i-") {
			ids = append(ids, id)
		}
	}
	return api.Subject{Instances: ids}
}

func (s *Service) createTags(c *api.Call, in *tagsRequest) (*done, error) {
	if len(in.Tags) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter tagSet")
	}
	return s.retag(c, in, func(is map[string]string) { // checked
		for _, t := range in.Tags {
			is[t.Key] = t.Value
		}
	})
}

// deleteTags deletes tags by their keys, or by their values as well where there are some; without tags, all.
func (s *Service) deleteTags(c *api.Call, in *tagsRequest) (*done, error) {
	return s.retag(c, in, func(is map[string]string) {
		if len(in.Tags) == 0 {
			clear(is)
		}
		for _, t := range in.Tags {
			if t.Value == "" || is[t.Key] == t.Value {
				delete(is, t.Key)
			}
		}
	})
}

// retag changes the tags of all resources that are named, or of none.
func (s *Service) retag(c *api.Call, in *tagsRequest, change func(map[string]string)) (*done, error) {
	if _, err := listing.Labels(in.Tags); err != nil {
		return nil, err
	}
	var changes []func()
	for _, id := range in.Resources {
		is, put, err := s.tagged(c.Tx, id)
		if err != nil {
			return nil, err
		}
		after := maps.Clone(is)
		if after == nil {
			after = map[string]string{}
		}
		change(after)
		if len(after) > listing.MaxTags {
			return nil, wire.Errorf("TagLimitExceeded", "The resource %s would have more than %d tags", id, listing.MaxTags)
		}
		changes = append(changes, func() { put(after) })
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, change := range changes {
		change()
	}
	return &done{true}, nil
}

// tagged are the tags of a resource, and what puts others in their place.
func (s *Service) tagged(tx *fakecloud.Tx, id string) (is map[string]string, put func(map[string]string), err error) {
	if i := tx.Instances.Named(id); i != nil {
		return i.Labels, func(to map[string]string) { tx.Instances.Update(i.ID, func(i *fakecloud.Instance) { i.Labels = to }) }, nil
	}
	if i := tx.Ended.Named(id); i != nil {
		return i.Labels, func(to map[string]string) { tx.Ended.Update(i.ID, func(i *fakecloud.Instance) { i.Labels = to }) }, nil
	}
	if f := tx.Firewalls.Named(id); f != nil {
		return f.Labels, func(to map[string]string) { tx.Firewalls.Update(f.ID, func(f *fakecloud.Firewall) { f.Labels = to }) }, nil
	}
	if n, in := subnetNamed(tx, id); in != nil {
		return in.Labels, func(to map[string]string) { tx.Networks.Update(n.ID, func(n *fakecloud.Network) { n.Retag(id, to) }) }, nil
	}
	for _, t := range s.templates {
		if t.id == id {
			return t.tags, func(to map[string]string) { t.tags = to }, nil
		}
	}
	for _, m := range s.machines {
		if m.eni == id || m.volume == id { // of which nothing is listed
			return nil, func(map[string]string) {}, nil
		}
	}
	switch {
	case strings.HasPrefix(id, "i-"):
		return nil, nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%.80s' does not exist", id)
	case strings.HasPrefix(id, "lt-"):
		return nil, nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %.80s, does not exist.",
			id)
	}
	return nil, nil, wire.Errorf("InvalidID", "The ID '%.80s' is not valid", id)
}
