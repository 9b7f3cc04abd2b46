package aws

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/fakecloud/aws"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/machine/cloudinit"
)

// template is the prefix of the tags by which Cluster Autoscaler knows what the Nodes of a group are like that has none.
const template = "k8s.io/cluster-autoscaler/node-template/"

// discoveryTags are those by which Cluster Autoscaler's documentation has it find groups.
var discoveryTags = []string{"k8s.io/cluster-autoscaler/enabled", "k8s.io/cluster-autoscaler/" + cluster}

// Group makes a launch template and an Auto Scaling group, as the owner of the account does, with the tags that Cluster Autoscaler goes
// by. It is of the type m5.large in us-west-2a if it does not say otherwise; several zones have commas between them.
func (r *Region) Group(ctx context.Context, _ *scene.Scene, g scene.Group) error {
	tags := ownTags()
	marks, err := labels.ConvertSelectorToLabelsMap(g.Labels)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		tags = append(tags, groupTag{template + "label/" + key, marks[key], false})
	}
	for _, text := range g.Taints {
		taint, err := cloudinit.ParseTaint(text)
		if err != nil {
			return err
		}
		tags = append(tags, groupTag{template + "taint/" + taint.Key, taint.Value + ":" + string(taint.Effect), false})
	}
	for _, name := range slices.Sorted(maps.Keys(g.Options)) {
		tags = append(tags, groupTag{template + "autoscaling-options/" + strings.ToLower(name), g.Options[name], false})
	}
	return r.makeGroup(ctx, g, tags)
}

// groupTag is a tag of a group, which its instances may get.
type groupTag struct {
	key, value string
	propagated bool
}

// ownTags are those that all groups of the cluster have.
func ownTags() []groupTag {
	return []groupTag{
		{discoveryTags[0], "true", false}, {discoveryTags[1], "owned", false}, {"kubernetes.io/cluster/" + cluster, "owned", true},
	}
}

func (r *Region) makeGroup(ctx context.Context, g scene.Group, tags []groupTag) error {
	typeName := cmp.Or(g.Type, "m5.large")
	t := r.Catalogue().ServerType(typeName)
	if t == nil {
		return fmt.Errorf("AWS has no instance type %q: want for example m5.large", typeName)
	}
	config, err := nodeConfig(r.world.Cluster.Admin(), g.Labels, g.Taints)
	if err != nil {
		return err
	}
	if err := r.server.CallAsOwner(ctx, "ec2", url.Values{
		"Action": {"CreateLaunchTemplate"}, "LaunchTemplateName": {cluster + "-" + g.Name}, "LaunchTemplateData.InstanceType": {typeName},
		"LaunchTemplateData.ImageId":  {r.image(t.Architecture)},
		"LaunchTemplateData.UserData": {base64.StdEncoding.EncodeToString([]byte(config))},
	}); err != nil {
		return err
	}
	form := url.Values{
		"Action": {"CreateAutoScalingGroup"}, "AutoScalingGroupName": {g.Name}, "LaunchTemplate.LaunchTemplateName": {cluster + "-" + g.Name},
		"LaunchTemplate.Version": {"$Latest"}, "MinSize": {strconv.Itoa(g.Min)}, "MaxSize": {strconv.Itoa(g.Max)},
	}
	for k, zone := range strings.FieldsFunc(cmp.Or(g.Zone, aws.Region+"a"), func(r rune) bool { return r == ',' || r == ' ' }) {
		form.Set(fmt.Sprintf("AvailabilityZones.member.%d", k+1), zone)
	}
	for k, tag := range tags {
		at := fmt.Sprintf("Tags.member.%d.", k+1)
		form.Set(at+"Key", tag.key)
		form.Set(at+"Value", tag.value)
		form.Set(at+"PropagateAtLaunch", strconv.FormatBool(tag.propagated))
	}
	return r.server.CallAsOwner(ctx, "autoscaling", form)
}

// SetTarget sets how many instances a group is to have, as its owner does.
func (r *Region) SetTarget(ctx context.Context, group string, to int) error {
	return r.server.CallAsOwner(ctx, "autoscaling", url.Values{
		"Action": {"SetDesiredCapacity"}, "AutoScalingGroupName": {group}, "DesiredCapacity": {strconv.Itoa(to)},
	})
}

// RemoveGroup deletes a group and its instances, as its owner does.
func (r *Region) RemoveGroup(ctx context.Context, group string) error {
	return r.server.CallAsOwner(ctx, "autoscaling", url.Values{
		"Action": {"DeleteAutoScalingGroup"}, "AutoScalingGroupName": {group}, "ForceDelete": {"true"},
	})
}

// Reach has Cluster Autoscaler find the groups by their tags, as its documentation has it. Behind AWS_ENDPOINT_URL it has the endpoint in
// its configuration as well: most of its clients do not look at the variable.
func (r *Region) Reach(_ context.Context, s *scene.Scene) (scene.Reach, error) {
	reach := scene.Reach{Provider: Name, Discovery: []string{"asg:tag=" + strings.Join(discoveryTags, ",")}}
	for _, variable := range r.Environment() {
		name, value, _ := strings.Cut(variable, "=")
		reach.Env = append(reach.Env, manifest.Variable{Name: name, Value: value})
	}
	if r.endpoint == "" {
		return reach, nil
	}
	config := "[Global]\nRegion=" + aws.Region + "\n"
	for k, service := range []string{"ec2", "autoscaling", "eks"} {
		config += fmt.Sprintf("[ServiceOverride %q]\nService=%s\nRegion=%s\nURL=%s\nSigningRegion=%s\nSigningName=%s\nSigningMethod=v4\n",
			strconv.Itoa(k+1), service, aws.Region, r.endpoint, aws.Region, service)
	}
	reach.CloudConfig = filepath.Join(s.World.Dir(), "cloud-config")
	return reach, os.WriteFile(reach.CloudConfig, []byte(config), 0o600)
}
