package aws

import (
	"fmt"
	"regexp"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribeInstanceTopology asks, and that it has no answer of its own for any type that is known here.
type (
	topologyRequest struct {
		DryRun      bool
		InstanceIDs []string `wire:"instanceId,max=100"`
		MaxResults  *int64   `wire:",min=1,max=100"`
		NextToken   string
	}
	topologyAnswer struct {
		Instances []struct{} `wire:"instanceSet"`
	}
)

// placed are the families of types whose instances have a place in the network that EC2 reports ("Prerequisites for Amazon EC2
// topology": accelerated and HPC types).
var placed = regexp.MustCompile(`^(g6e?|gr6|hpc[0-9]+[a-z]*|p[0-9]+[a-z]*(-[a-z0-9]+)?|trn[0-9]+[a-z]*)\.`)

// topology is the operation by which the controller manager of AWS asks where instances are in the network. Of types that have no
// topology AWS lists nothing, and that is no error. Where others are is not modelled: what needs that has not been tried.
func (s *Server) topology() api.Operation {
	describe := func(c *api.Call, in *topologyRequest) (*topologyAnswer, error) {
		if in.DryRun {
			return nil, wire.Errorf(wire.DryRun, "Request would have succeeded, but DryRun flag is set.")
		}
		for _, i := range c.Tx.Instances.All() {
			for _, id := range in.InstanceIDs {
				if id == i.Name && placed.MatchString(i.Type) {
					c.ReportUnserved(fmt.Sprintf("the cloud does not know where in the network an instance of type %s is", i.Type))
				}
			}
		}
		for _, id := range in.InstanceIDs {
			if c.Tx.Instances.Named(id) == nil {
				return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%.80s' does not exist", id)
			}
		}
		return &topologyAnswer{Instances: []struct{}{}}, nil
	}
	return api.With(api.Does("DescribeInstanceTopology", describe),
		func(_ *api.Call, in *topologyRequest) api.Subject { return api.Subject{Instances: in.InstanceIDs} })
}
