package offer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/table"
)

// hoursAMonth is what prices by the hour are multiplied with, see fakecloud.Price.Hourly.
const hoursAMonth = 624

// spotPart is what spot capacity costs of what other does, in the first zone; it is more by a fiftieth in each zone after it. Real
// spot prices move about this figure (AWS's Spot Instance advisor: "savings over on-demand" of 50 to 70 % for most types).
const spotPart = 0.35

// Zones are the letters of a region's zones.
const Zones = "abc"

// ZoneID is that of a zone: usw2-az1 of us-west-2a. Accounts have letters in an order of their own; here it is the IDs'.
func ZoneID(region string, k int) string {
	parts := []byte{}
	for i, c := range []byte(region) {
		if i < 2 || region[i-1] == '-' || '0' <= c && c <= '9' {
			parts = append(parts, c)
		}
	}
	return fmt.Sprintf("%s-az%d", string(parts), k+1)
}

// Catalogue is what is offered in a region: all types in all of its zones, on demand and, but for metal, as spot capacity.
func Catalogue(region string) *fakecloud.Catalogue {
	var zones []string
	for _, letter := range Zones {
		zones = append(zones, region+string(letter))
	}
	return In(region, zones, func(string) bool { return true })
}

// In is what is offered in zones of a region, whose names are the region's and a letter: the types whose names are offered.
func In(region string, zones []string, offered func(name string) bool) *fakecloud.Catalogue {
	c := &fakecloud.Catalogue{Currency: "USD"}
	for k, zone := range zones {
		c.Locations = append(c.Locations, fakecloud.Location{
			ID: int64(k + 1), Name: zone, Description: zone, Country: "US", NetworkZone: zone, DatacenterID: int64(k + 1),
			Datacenter: ZoneID(region, int(zone[len(zone)-1]-'a')),
		})
	}
	for k, t := range Types() {
		if offered(t.Name) {
			c.ServerTypes = append(c.ServerTypes, serverType(c, int64(k+1), t))
		}
	}
	c.Images = images()
	return c
}

func serverType(c *fakecloud.Catalogue, id int64, t *Type) fakecloud.ServerType {
	is := fakecloud.ServerType{
		ID: id, Name: t.Name, Cores: int(t.VCPUs), MemoryGB: float32(t.MemoryMiB) / 1024, DiskGB: 20, CPUType: "dedicated", Architecture: "x86",
		Category: t.Family,
	}
	if t.ARM() {
		is.Architecture = "arm"
	}
	for k, l := range c.Locations {
		p := fakecloud.Price{Location: l.Name, Monthly: t.Hourly * hoursAMonth}
		if !t.Metal {
			p.Spot = p.Monthly * (spotPart + 0.02*float64(k))
		}
		is.Prices = append(is.Prices, p)
	}
	return is
}

// Image is an image of AWS's for nodes of EKS.
type Image struct {
	ID int64 // of fakecloud.Image
	// Name is without the version of Kubernetes, which comes at %s.
	Name, Architecture string
	OS, OSVersion      string
	// Path is that of its SSM parameter, with the version of Kubernetes at %s; Pinned that of this very release.
	Path, Pinned string
	Created      time.Time
}

// AMI is the ID of an image: always the same for the same name.
func AMI(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "ami-" + hex.EncodeToString(sum[:])[:17]
}

// release is one of images: the newer is the recommended one. Bottlerocket's versions are chosen.
type release struct {
	created      time.Time
	bottlerocket string
}

var releases = []release{
	{time.Date(2026, 7, 10, 4, 0, 0, 0, time.UTC), "1.50.0"}, {time.Date(2026, 9, 15, 4, 0, 0, 0, time.UTC), "1.52.0"},
}

// Images are the images, older releases first. Those of Bottlerocket for GPUs are not among them.
func Images() (all []Image) {
	add := func(i Image) {
		i.ID = int64(len(all) + 1)
		all = append(all, i)
	}
	for _, r := range releases {
		for _, architecture := range []string{"x86_64", "arm64"} {
			name := fmt.Sprintf("amazon-eks-node-al2023-%s-standard-%%s-v%s", architecture, r.created.Format("20060102"))
			folder := "/aws/service/eks/optimized-ami/%s/amazon-linux-2023/" + architecture + "/standard/"
			add(Image{
				Name: name, OS: "Amazon Linux", OSVersion: "2023", Architecture: architecture, Created: r.created,
				Path: folder + "recommended/image_id", Pinned: folder + name + "/image_id",
			})
			folder = "/aws/service/bottlerocket/aws-k8s-%s/" + architecture + "/"
			add(Image{
				Name: "bottlerocket-aws-k8s-%s-" + architecture + "-v" + r.bottlerocket, OS: "Bottlerocket", OSVersion: r.bottlerocket,
				Architecture: architecture, Created: r.created, Path: folder + "latest/image_id", Pinned: folder + r.bottlerocket + "/image_id",
			})
		}
	}
	return all
}

func images() (all []fakecloud.Image) {
	for _, i := range Images() {
		architecture := map[string]string{"x86_64": "x86", "arm64": "arm"}[i.Architecture]
		all = append(all, fakecloud.Image{
			Meta: table.Meta{ID: i.ID, Name: i.Name, Created: i.Created}, Type: "system", Description: i.OS + " " + i.OSVersion + " for EKS",
			OSFlavor: "amazon", OSVersion: i.OSVersion, Architecture: architecture, DiskGB: 20,
		})
	}
	return all
}
