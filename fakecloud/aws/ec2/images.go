package ec2

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/offer"
)

// What is said of images.
type (
	imagesRequest struct {
		DryRun            bool
		Filters           []listing.Filter `wire:"filter"`
		ImageIDs          []string         `wire:"imageId"`
		Owners            []string         `wire:"owner"`
		ExecutableBy      []string
		IncludeDeprecated bool
		IncludeDisabled   bool
		MaxResults        *int64 `wire:",min=1,max=1000"`
		NextToken         string
	}
	imagesAnswer struct {
		Images    []image `wire:"imagesSet"`
		NextToken string
	}
	image struct {
		ImageID            string `wire:"imageId"`
		ImageState         string
		ImageOwnerID       string `wire:"imageOwnerId"`
		ImageOwnerAlias    string
		IsPublic           bool
		Architecture       string
		ImageType          string
		Name               string
		Description        string
		CreationDate       string
		DeprecationTime    string
		RootDeviceType     string
		RootDeviceName     string
		VirtualizationType string
		Hypervisor         string
		PlatformDetails    string
		ENASupport         bool                 `wire:"enaSupport"`
		BlockDevices       []blockDeviceMapping `wire:"blockDeviceMapping"`
		Tags               []listing.Tag        `wire:"tagSet"`
		id                 int64
		labels             map[string]string
	}
	blockDeviceMapping struct {
		DeviceName string
		EBS        *ebsDevice `wire:"ebs"`
	}
	ebsDevice struct {
		DeleteOnTermination bool
		VolumeSize          int64
		VolumeType          string
		Encrypted           bool
	}
)

// amazon is the account that owns the images of EKS.
const amazon = "602401143452"

// deprecatedAfter is when AWS deprecates its public images ("Deprecate an Amazon EC2 AMI": two years from their creation).
const deprecatedAfter = 2 * 365 * 24 * time.Hour

var ofImages = listing.Kind[image]{
	Tags: func(i *image) map[string]string { return i.labels },
	By: map[string]func(*image) []string{
		"image-id":            listing.One(func(i *image) string { return i.ImageID }),
		"name":                listing.One(func(i *image) string { return i.Name }),
		"state":               listing.One(func(i *image) string { return i.ImageState }),
		"architecture":        listing.One(func(i *image) string { return i.Architecture }),
		"owner-id":            listing.One(func(i *image) string { return i.ImageOwnerID }),
		"owner-alias":         listing.One(func(i *image) string { return i.ImageOwnerAlias }),
		"image-type":          listing.One(func(i *image) string { return i.ImageType }),
		"is-public":           listing.One(func(i *image) string { return fmt.Sprint(i.IsPublic) }),
		"root-device-type":    listing.One(func(i *image) string { return i.RootDeviceType }),
		"virtualization-type": listing.One(func(i *image) string { return i.VirtualizationType }),
		"hypervisor":          listing.One(func(i *image) string { return i.Hypervisor }),
	},
}

// images are the account's and those of AWS: whose name has no version of Kubernetes yet.
func (s *Service) images(tx *fakecloud.Tx) (all []*image) {
	for _, i := range tx.Images.All() {
		name := strings.ReplaceAll(i.Name, "%s", s.Version)
		is := &image{
			ImageID: offer.AMI(name), ImageState: "available", ImageOwnerID: s.Account, Architecture: kinds.Architecture(i.Architecture == "arm"),
			ImageType: "machine", Name: name, Description: i.Description, CreationDate: stamp(i.Created),
			RootDeviceType: "ebs", RootDeviceName: "/dev/xvda",
			VirtualizationType: "hvm", Hypervisor: "xen", PlatformDetails: linux, ENASupport: true, Tags: listing.Tags(i.Labels), labels: i.Labels,
			id:           i.ID,
			BlockDevices: []blockDeviceMapping{{"/dev/xvda", &ebsDevice{true, int64(i.DiskGB), "gp3", false}}},
		}
		if i.Type == "system" {
			is.ImageOwnerID, is.ImageOwnerAlias, is.IsPublic, is.DeprecationTime = amazon, "amazon", true, stamp(i.Created.Add(deprecatedAfter))
		}
		all = append(all, is)
	}
	return all
}

// stamp is a time as EC2 has it where it is a text.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// imageNamed is the image of that ID, or nil.
func (s *Service) imageNamed(tx *fakecloud.Tx, id string) (*image, *fakecloud.Image) {
	for _, i := range s.images(tx) {
		if i.ImageID == id {
			return i, tx.Images.Get(i.id)
		}
	}
	return nil, nil
}

func (s *Service) describeImages(c *api.Call, in *imagesRequest) (*imagesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, id := range in.ImageIDs {
		if !strings.HasPrefix(id, "ami-") {
			return nil, malformed("AMIID", id)
		}
	}
	all, err := listing.Chosen(s.images(c.Tx), in.ImageIDs, func(i *image) string { return i.ImageID }, func(id string) error {
		return missing("AMIID", "image id", "["+id+"]")
	})
	if err != nil {
		return nil, err
	}
	var owned []*image
	for _, i := range all {
		for _, owner := range in.Owners {
			if owner == i.ImageOwnerID || owner == i.ImageOwnerAlias || owner == "self" && i.ImageOwnerID == s.Account {
				owned = append(owned, i)
				break
			}
		}
	}
	if len(in.Owners) > 0 {
		all = owned
	}
	if all, err = ofImages.Filtered(c, all, in.Filters); err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &imagesAnswer{Images: []image{}, NextToken: next}
	for _, i := range some {
		out.Images = append(out.Images, *i)
	}
	return out, nil
}

// imageID is the AMI's of an image.
func (s *Service) imageID(i *fakecloud.Image) string {
	return offer.AMI(strings.ReplaceAll(i.Name, "%s", s.Version))
}
