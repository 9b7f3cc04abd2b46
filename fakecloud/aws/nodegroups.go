package aws

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// The tags by which EKS knows the Auto Scaling group of a managed node group.
const (
	clusterTag   = "eks:cluster-name"
	nodegroupTag = "eks:nodegroup-name"
)

// What DescribeNodegroup asks and answers.
type (
	nodegroupRequest struct {
		Cluster string `wire:"clusterName,path,required"`
		Name    string `wire:"nodegroupName,path,required"`
	}
	nodegroupAnswer struct {
		Nodegroup nodegroup `wire:"nodegroup"`
	}
	nodegroup struct {
		Name          string             `wire:"nodegroupName"`
		ARN           string             `wire:"nodegroupArn"`
		ClusterName   string             `wire:"clusterName"`
		Version       string             `wire:"version"`
		CreatedAt     time.Time          `wire:"createdAt"`
		Status        string             `wire:"status"`
		CapacityType  string             `wire:"capacityType"`
		ScalingConfig nodegroupSizes     `wire:"scalingConfig"`
		InstanceTypes []string           `wire:"instanceTypes"`
		AMIType       string             `wire:"amiType"`
		NodeRole      string             `wire:"nodeRole"`
		Labels        map[string]string  `wire:"labels"`
		Taints        []nodegroupTaint   `wire:"taints,omit"`
		Resources     nodegroupResources `wire:"resources"`
		Tags          map[string]string  `wire:"tags"`
	}
	nodegroupSizes struct {
		MinSize     int64 `wire:"minSize"`
		MaxSize     int64 `wire:"maxSize"`
		DesiredSize int64 `wire:"desiredSize"`
	}
	nodegroupTaint struct {
		Key    string `wire:"key"`
		Value  string `wire:"value"`
		Effect string `wire:"effect"`
	}
	nodegroupResources struct {
		Groups []nodegroupGroup `wire:"autoScalingGroups"`
	}
	nodegroupGroup struct {
		Name string `wire:"name"`
	}
)

// effects are those of taints in EKS's words.
var effects = map[string]string{
	"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE",
}

// Manage has an Auto Scaling group be that of a managed node group of the cluster, whose nodes have these labels and taints, as in
// "a=b:NoSchedule". That its instances register with them is said elsewhere, as in EKS.
func (s *Server) Manage(group, name string, labels map[string]string, taints []string) error {
	return s.Cloud.Update(func(tx *fakecloud.Tx) error {
		g := tx.Groups.Named(group)
		if g == nil {
			return fmt.Errorf("there is no Auto Scaling group %q", group)
		}
		tx.Groups.Update(g.ID, func(g *fakecloud.Group) {
			tags := map[string]string{clusterTag: s.cluster, nodegroupTag: name}
			for key, value := range g.Labels {
				tags[key] = value
			}
			g.Labels, g.NodeLabels, g.Taints = tags, labels, taints
		})
		return nil
	})
}

// nodegroups is the operation that describes the managed node groups of the cluster.
func nodegroups(cfg Config) api.Operation {
	describe := func(c *api.Call, in *nodegroupRequest) (*nodegroupAnswer, error) {
		for _, g := range c.Tx.Groups.All() {
			if in.Cluster == cfg.Cluster.Name && g.Labels[nodegroupTag] == in.Name {
				return &nodegroupAnswer{cfg.nodegroup(g, in.Name)}, nil
			}
		}
		return nil, wire.Errorf("ResourceNotFoundException", "No node group found for name: %.80s.", in.Name)
	}
	op := api.Does("DescribeNodegroup", describe)
	op.Method, op.Path = "GET", "/clusters/{clusterName}/node-groups/{nodegroupName}"
	return op
}

// nodegroup is what EKS says of one, whose group that is.
func (cfg Config) nodegroup(g *fakecloud.Group, name string) nodegroup {
	of := cfg.Cluster
	is := nodegroup{
		Name: name, ARN: "arn:aws:eks:" + cfg.Region + ":" + cfg.Account + ":nodegroup/" + of.Name + "/" + name, ClusterName: of.Name,
		Version: of.Version, CreatedAt: g.Created, Status: "ACTIVE", CapacityType: "ON_DEMAND",
		ScalingConfig: nodegroupSizes{int64(g.Min), int64(g.Max), int64(g.Target)}, InstanceTypes: []string{g.Type},
		AMIType: "AL2023_x86_64_STANDARD", NodeRole: "arn:aws:iam::" + cfg.Account + ":role/" + of.Name + "-nodes", Labels: g.NodeLabels,
		Resources: nodegroupResources{[]nodegroupGroup{{g.Name}}}, Tags: map[string]string{},
	}
	for _, taint := range g.Taints {
		mark, effect, _ := strings.Cut(taint, ":")
		key, value, _ := strings.Cut(mark, "=")
		is.Taints = append(is.Taints, nodegroupTaint{key, value, effects[effect]})
	}
	return is
}
