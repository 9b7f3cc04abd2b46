package ec2

import (
	"slices"
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribeLaunchTemplateVersions asks and answers: of a template's data what says which nodes come of it.
type (
	versionsRequest struct {
		DryRun             bool
		LaunchTemplateID   string `wire:"launchTemplateId"`
		LaunchTemplateName string
		Versions           []string `wire:"launchTemplateVersion,max=200"`
		MaxResults         *int64   `wire:",min=1,max=200"`
		NextToken          string
	}
	versionsAnswer struct {
		Versions  []versionInfo `wire:"launchTemplateVersionSet"`
		NextToken string
	}
	versionInfo struct {
		LaunchTemplateID   string `wire:"launchTemplateId"`
		LaunchTemplateName string
		VersionNumber      int64
		CreateTime         time.Time
		CreatedBy          string
		DefaultVersion     bool
		Data               versionData `wire:"launchTemplateData"`
	}
	versionData struct {
		ImageID          string              `wire:"imageId"`
		InstanceType     string              `wire:"instanceType"`
		Requirements     *kinds.Requirements `wire:"instanceRequirements"`
		InstanceProfile  *profileSpec        `wire:"iamInstanceProfile"`
		KeyName          string              `wire:"keyName"`
		SecurityGroupIDs []string            `wire:"securityGroupIdSet,omit"`
		UserData         string              `wire:"userData"`
	}
)

// describeVersions lists the only version of a template, or of all, if the latest or the default ones are asked for.
func (s *Service) describeVersions(_ *api.Call, in *versionsRequest) (*versionsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	named := in.LaunchTemplateID != "" || in.LaunchTemplateName != ""
	all := slices.Clone(s.templates)
	switch {
	case named:
		of, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName, "")
		if err != nil {
			return nil, err
		}
		all = []*template{of}
	case len(in.Versions) == 0:
		return nil, wire.Errorf("MissingParameter", "Either a launch template ID or a launch template name must be specified")
	}
	for _, version := range in.Versions {
		switch {
		case !named && version != "$Latest" && version != "$Default":
			return nil, wire.Errorf("InvalidParameterCombination", "Without a launch template, versions must be $Latest or $Default")
		case named:
			if _, err := s.find(all[0].id, "", version); err != nil {
				return nil, err
			}
		}
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 200)
	if err != nil {
		return nil, err
	}
	out := &versionsAnswer{Versions: []versionInfo{}, NextToken: next}
	for _, t := range some {
		d := t.data
		out.Versions = append(out.Versions, versionInfo{
			LaunchTemplateID: t.id, LaunchTemplateName: t.name, VersionNumber: 1, CreateTime: t.created, CreatedBy: s.info(t).CreatedBy,
			DefaultVersion: true, Data: versionData{
				d.ImageID, d.InstanceType, d.Requirements, d.InstanceProfile, d.KeyName, d.SecurityGroupIDs, d.UserData,
			},
		})
	}
	return out, nil
}

// What GetInstanceTypesFromInstanceRequirements asks and answers. Of what types can be required to have, processors and memory are
// known: the rest is refused as unknown.
type (
	typesForRequest struct {
		DryRun              bool
		ArchitectureTypes   []string            `wire:"architectureType,required,max=3"`
		VirtualizationTypes []string            `wire:"virtualizationType,required,max=2"`
		Requirements        *kinds.Requirements `wire:"instanceRequirements,required"`
		MaxResults          *int64              `wire:",min=1,max=1000"`
		NextToken           string
	}
	typesForAnswer struct {
		InstanceTypes []typeFor `wire:"instanceTypeSet"`
		NextToken     string
	}
	typeFor struct {
		InstanceType string
	}
)

// fitting are the types that have what is required, of architectures, in the order of the catalogue. AWS documents none.
func (s *Service) fitting(r *kinds.Requirements, architectures ...string) (names []string) {
	types := s.Cloud.Catalogue().ServerTypes
	for k := range types {
		info := kinds.Of(&types[k])
		if r.Fits(&info) && slices.Contains(architectures, info.ProcessorInfo.SupportedArchitectures[0]) {
			names = append(names, info.InstanceType)
		}
	}
	return names
}

func (s *Service) typesFor(_ *api.Call, in *typesForRequest) (*typesForAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	var all []string
	if slices.Contains(in.VirtualizationTypes, "hvm") {
		all = s.fitting(in.Requirements, in.ArchitectureTypes...)
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &typesForAnswer{InstanceTypes: []typeFor{}, NextToken: next}
	for _, name := range some {
		out.InstanceTypes = append(out.InstanceTypes, typeFor{name})
	}
	return out, nil
}
