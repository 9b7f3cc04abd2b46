package ec2

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What launch templates have. What of it the launch of an instance heeds, launch.go says.
type (
	templateData struct {
		BlockDevices        []templateDisk      `wire:"blockDeviceMapping"`
		CapacityReservation *reservationSpec    `wire:"capacityReservationSpecification"`
		CPUOptions          *cpuOptions         `wire:"cpuOptions"`
		EBSOptimized        *bool               `wire:"ebsOptimized"`
		EnclaveOptions      *enabled            `wire:"enclaveOptions"`
		InstanceProfile     *profileSpec        `wire:"iamInstanceProfile"`
		ImageID             string              `wire:"imageId"`
		InstanceType        string              `wire:"instanceType"`
		Requirements        *kinds.Requirements `wire:"instanceRequirements"`
		KeyName             string              `wire:"keyName"`
		MarketOptions       *marketOptions      `wire:"instanceMarketOptions"`
		MetadataOptions     *metadataOptions    `wire:"metadataOptions"`
		Monitoring          *enabled            `wire:"monitoring"`
		NetworkInterfaces   []templateInterface `wire:"networkInterface"`
		Placement           *placementSpec      `wire:"placement"`
		SecurityGroupIDs    []string            `wire:"securityGroupId"`
		Tags                []tagSpecification  `wire:"tagSpecification"`
		UserData            string              `wire:"userData"`
	}
	templateDisk struct {
		DeviceName string `wire:",required"`
		EBS        *struct {
			DeleteOnTermination      *bool
			Encrypted                *bool
			Iops                     *int64 `wire:",min=100,max=256000"`
			KmsKeyID                 string `wire:"kmsKeyId"`
			SnapshotID               string `wire:"snapshotId"`
			Throughput               *int64 `wire:",min=125,max=2000"`
			VolumeInitializationRate *int64 `wire:",min=100,max=300"`
			VolumeSize               *int64 `wire:",min=1,max=65536"`
			VolumeType               string `wire:",enum=standard|io1|io2|gp2|sc1|st1|gp3"`
		} `wire:"ebs"`
	}
	reservationSpec struct {
		Preference string             `wire:"capacityReservationPreference,enum=capacity-reservations-only|open|none"`
		Target     *reservationTarget `wire:"capacityReservationTarget"`
	}
	reservationTarget struct {
		ID string `wire:"capacityReservationId"`
	}
	cpuOptions struct {
		CoreCount            *int64
		ThreadsPerCore       *int64
		NestedVirtualization string `wire:",enum=enabled|disabled"`
	}
	enabled struct {
		Enabled bool
	}
	profileSpec struct {
		ARN  string `wire:"arn"`
		Name string
	}
	marketOptions struct {
		MarketType string `wire:",enum=spot|capacity-block|interruptible-capacity-reservation"`
	}
	metadataOptions struct {
		HTTPEndpoint            string `wire:"httpEndpoint,enum=enabled|disabled"`
		HTTPProtocolIPv6        string `wire:"httpProtocolIpv6,enum=enabled|disabled"`
		HTTPPutResponseHopLimit *int64 `wire:"httpPutResponseHopLimit,min=1,max=64"`
		HTTPTokens              string `wire:"httpTokens,enum=optional|required"`
		InstanceMetadataTags    string `wire:",enum=enabled|disabled"`
	}
	templateInterface struct {
		AssociatePublicIPAddress *bool `wire:"associatePublicIpAddress"`
		ConnectionTracking       *struct {
			TCPEstablishedTimeout *int64 `wire:"tcpEstablishedTimeout,min=60,max=432000"`
			UDPStreamTimeout      *int64 `wire:"udpStreamTimeout,min=60,max=180"`
			UDPTimeout            *int64 `wire:"udpTimeout,min=30,max=60"`
		} `wire:"connectionTrackingSpecification"`
		DeleteOnTermination            *bool
		Description                    string
		DeviceIndex                    *int64
		Groups                         []string `wire:"securityGroupId"`
		InterfaceType                  string   `wire:",enum=interface|efa|efa-only"`
		IPv4PrefixCount                *int64   `wire:"ipv4PrefixCount"`
		IPv6AddressCount               *int64   `wire:"ipv6AddressCount"`
		IPv6PrefixCount                *int64   `wire:"ipv6PrefixCount"`
		NetworkCardIndex               *int64
		PrimaryIPv6                    *bool  `wire:"primaryIpv6"`
		SecondaryPrivateIPAddressCount *int64 `wire:"secondaryPrivateIpAddressCount"`
		SubnetID                       string `wire:"subnetId"`
	}
	placementSpec struct {
		AvailabilityZone string
		GroupID          string `wire:"groupId"`
		GroupName        string
		PartitionNumber  *int64
		Tenancy          string `wire:",enum=default|dedicated|host"`
	}
	tagSpecification struct {
		ResourceType string
		Tags         []listing.Tag `wire:"tag"`
	}
)

// template is a launch template. It has one version: Karpenter makes no others.
type template struct {
	id, name string
	created  time.Time
	data     templateData
	tags     map[string]string
}

// maxTemplates is how many an account may have in a region ("Amazon EC2 quotas, launch templates: 5,000").
const maxTemplates = 5000

// maxUserData is the most that an instance may have, in bytes before it is encoded.
const maxUserData = 16 << 10

var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

type (
	createTemplateRequest struct {
		DryRun             bool
		ClientToken        string
		LaunchTemplateName string             `wire:",required"`
		VersionDescription string             `wire:",max=255"`
		Data               *templateData      `wire:"launchTemplateData,required"`
		Tags               []tagSpecification `wire:"tagSpecification"`
	}
	templateAnswer struct {
		LaunchTemplate templateInfo
	}
	templateInfo struct {
		LaunchTemplateID     string `wire:"launchTemplateId"`
		LaunchTemplateName   string
		CreateTime           time.Time
		CreatedBy            string
		DefaultVersionNumber int64
		LatestVersionNumber  int64
		Tags                 []listing.Tag `wire:"tagSet"`
	}
	deleteTemplateRequest struct {
		DryRun             bool
		LaunchTemplateID   string `wire:"launchTemplateId"`
		LaunchTemplateName string
	}
	describeTemplatesRequest struct {
		DryRun              bool
		Filters             []listing.Filter `wire:"filter"`
		LaunchTemplateIDs   []string         `wire:"launchTemplateId,max=200"`
		LaunchTemplateNames []string         `wire:"launchTemplateName,max=200"`
		MaxResults          *int64           `wire:",min=1,max=200"`
		NextToken           string
	}
	describeTemplatesAnswer struct {
		LaunchTemplates []templateInfo
		NextToken       string
	}
)

func (s *Service) info(t *template) templateInfo {
	return templateInfo{
		LaunchTemplateID: t.id, LaunchTemplateName: t.name, CreateTime: t.created, CreatedBy: "arn:aws:iam::" + s.Account + ":user/nodestorm",
		DefaultVersionNumber: 1, LatestVersionNumber: 1, Tags: listing.Tags(t.tags),
	}
}

func (s *Service) createTemplate(c *api.Call, in *createTemplateRequest) (*templateAnswer, error) {
	return api.Again(&s.answers, c, in.ClientToken, func() (*templateAnswer, error) { return s.newTemplate(c, in) })
}

func (s *Service) newTemplate(c *api.Call, in *createTemplateRequest) (*templateAnswer, error) {
	is, err := tagsFor(in.Tags, "launch-template")
	switch {
	case !templateName.MatchString(in.LaunchTemplateName):
		return nil, wire.Errorf("InvalidLaunchTemplateName.MalformedException", "A launch template name must be between 3 and 128 characters, "+
			"and may contain letters, numbers, and the following characters: - ( ) . / _")
	case err != nil:
		return nil, err
	case slices.ContainsFunc(s.templates, func(t *template) bool { return t.name == in.LaunchTemplateName }):
		return nil, wire.Errorf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	case len(s.templates) >= maxTemplates:
		return nil, wire.Errorf("MaxTemplateLimitExceeded", "You have reached the maximum number of launch templates: %d", maxTemplates)
	}
	if err := in.Data.check(); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t := &template{id: "lt-" + c.Tx.Hex(17), name: in.LaunchTemplateName, created: c.Tx.Now(), data: *in.Data, tags: is}
	s.templates = append(s.templates, t)
	c.Note("template", t.id)
	return &templateAnswer{s.info(t)}, nil
}

// check finds what AWS finds wrong with a template when it is made. Whether what it names is there shows at a launch.
func (d *templateData) check() error {
	text, err := base64.StdEncoding.DecodeString(d.UserData)
	switch {
	case err != nil:
		return wire.Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	case len(text) > maxUserData:
		return wire.Errorf("InvalidUserData.Malformed", "User data is limited to 16384 bytes")
	case d.Requirements != nil && d.InstanceType != "":
		return wire.Errorf("InvalidParameterCombination", "Instance type and instance requirements may not be specified on the same request")
	case len(d.NetworkInterfaces) > 0 && len(d.SecurityGroupIDs) > 0:
		return wire.Errorf("InvalidParameterCombination", "Network interfaces and an instance-level security groups may not be specified on the "+
			"same request")
	}
	if err := d.CapacityReservation.check(); err != nil {
		return err
	}
	for _, specification := range d.Tags {
		if _, err := listing.Labels(specification.Tags); err != nil {
			return err
		}
	}
	return nil
}

// tagsFor are the tags of the specifications that are for a resource of that type.
func tagsFor(all []tagSpecification, resource string) (map[string]string, error) {
	is := map[string]string{}
	for _, specification := range all {
		of, err := listing.Labels(specification.Tags)
		if err != nil {
			return nil, err
		}
		if specification.ResourceType == resource {
			is = of
		}
	}
	return is, nil
}

// find is the template of that ID or name, and version.
func (s *Service) find(id, name, version string) (*template, error) {
	switch {
	case id == "" && name == "":
		return nil, wire.Errorf("MissingParameter", "Either a launch template ID or a launch template name must be specified")
	case id != "" && name != "":
		return nil, wire.Errorf("InvalidParameterCombination", "Only one of launch template ID and launch template name may be specified")
	}
	k := slices.IndexFunc(s.templates, func(t *template) bool { return id != "" && t.id == id || name != "" && t.name == name })
	switch n, err := strconv.Atoi(version); {
	case k < 0 && id != "":
		return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %.80s, does not exist.", id)
	case k < 0:
		return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request "+
			"does not exist.")
	case version == "" || version == "$Latest" || version == "$Default" || err == nil && n == 1:
		return s.templates[k], nil
	}
	return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version %.40s", version)
}

func (s *Service) deleteTemplate(c *api.Call, in *deleteTemplateRequest) (*templateAnswer, error) {
	t, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName, "")
	if err == nil {
		err = dryRun(in.DryRun)
	}
	if err != nil {
		return nil, err
	}
	s.templates = slices.DeleteFunc(s.templates, func(is *template) bool { return is == t })
	c.Note("template", t.id)
	return &templateAnswer{s.info(t)}, nil
}

var ofTemplates = listing.Kind[template]{
	Tags: func(t *template) map[string]string { return t.tags },
	By: map[string]func(*template) []string{
		"launch-template-name": listing.One(func(t *template) string { return t.name }),
		"create-time":          listing.One(func(t *template) string { return stamp(t.created) }),
	},
}

func (s *Service) describeTemplates(c *api.Call, in *describeTemplatesRequest) (*describeTemplatesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if len(in.LaunchTemplateIDs) > 0 && len(in.LaunchTemplateNames) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "Launch template IDs and names may not be specified together")
	}
	all, err := listing.Chosen(s.templates, in.LaunchTemplateIDs, func(t *template) string { return t.id }, func(id string) error {
		return wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %.80s, does not exist.", id)
	})
	if err == nil {
		all, err = listing.Chosen(all, in.LaunchTemplateNames, func(t *template) string { return t.name }, func(string) error {
			return wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does "+
				"not exist.")
		})
	}
	if err == nil {
		all, err = ofTemplates.Filtered(c, all, in.Filters)
	}
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 200)
	if err != nil {
		return nil, err
	}
	out := &describeTemplatesAnswer{LaunchTemplates: []templateInfo{}, NextToken: next}
	for _, t := range some {
		out.LaunchTemplates = append(out.LaunchTemplates, s.info(t))
	}
	return out, nil
}
