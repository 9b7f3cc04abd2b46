package ec2

import (
	"slices"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// What TerminateInstances asks and answers.
type (
	terminateRequest struct {
		DryRun         bool
		InstanceIDs    []string `wire:"instanceId,required,max=1000"`
		Force          *bool
		SkipOSShutdown *bool `wire:"skipOsShutdown"`
	}
	terminateAnswer struct {
		Instances []stateChange `wire:"instancesSet"`
	}
	stateChange struct {
		InstanceID    string `wire:"instanceId"`
		CurrentState  stateOf
		PreviousState stateOf
	}
)

func terminationSubject(_ *api.Call, in *terminateRequest) api.Subject {
	return api.Subject{Instances: in.InstanceIDs}
}

// terminate begins to end instances: all that are named, or none if one of them is not there. One that has ended stays so.
func (s *Service) terminate(c *api.Call, in *terminateRequest) (*terminateAnswer, error) {
	var all []*fakecloud.Instance
	for _, id := range in.InstanceIDs {
		i := c.Tx.Instances.Named(id)
		if i == nil {
			i = c.Tx.Ended.Named(id)
		}
		switch {
		case !instanceID.MatchString(id):
			return nil, malformed("InstanceID", id)
		case i == nil:
			return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		}
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	out := &terminateAnswer{}
	for _, i := range all {
		before := states[i.State]
		if i.State != fakecloud.Gone {
			c.Tx.Delete(i.ID)
			i = c.Tx.Instances.Get(i.ID)
		}
		out.Instances = append(out.Instances, stateChange{i.Name, states[i.State], before})
	}
	return out, nil
}
