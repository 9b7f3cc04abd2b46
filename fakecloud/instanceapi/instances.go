package instanceapi

import (
	"net/http"
	"regexp"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
)

// What answers have.
type (
	instanceType struct {
		Name         string  `json:"name"`
		CPU          int     `json:"cpu"`
		MemoryGiB    float32 `json:"memoryGiB"`
		DiskGB       int     `json:"diskGB"`
		Architecture string  `json:"architecture"`
		Offers       []offer `json:"offers"`
	}
	offer struct {
		Zone         string  `json:"zone"`
		CapacityType string  `json:"capacityType"`
		Price        float64 `json:"price"` // by the hour
	}
	image struct {
		Name         string `json:"name"`
		Architecture string `json:"architecture"`
	}
	instance struct {
		Name         string            `json:"name"`
		Type         string            `json:"type"`
		Zone         string            `json:"zone"`
		CapacityType string            `json:"capacityType"`
		Image        string            `json:"image"`
		State        fakecloud.State   `json:"state"`
		Created      time.Time         `json:"created"`
		Tags         map[string]string `json:"tags"`
	}
	interruption struct {
		Instance instance  `json:"instance"`
		At       time.Time `json:"at"` // when it is taken back
	}
	launch struct {
		Name         string            `json:"name"`
		Type         string            `json:"type"`
		Zone         string            `json:"zone"`
		CapacityType string            `json:"capacityType"`
		Image        string            `json:"image"`
		Tags         map[string]string `json:"tags"`
		UserData     string            `json:"userData"`
	}
)

// architectures are those of the catalogue, as Kubernetes calls them.
var architectures = map[string]string{"x86": "amd64", "arm": "arm64"}

func describeTypes(c *call) (int, any, error) {
	all := []instanceType{}
	for _, t := range c.s.cloud.Catalogue().ServerTypes {
		is := instanceType{Name: t.Name, CPU: t.Cores, MemoryGiB: t.MemoryGB, DiskGB: t.DiskGB, Architecture: architectures[t.Architecture]}
		for _, p := range t.Prices {
			is.Offers = append(is.Offers, offer{p.Location, fakecloud.CapacityType(false), p.Hourly()})
			if p.Spot > 0 {
				is.Offers = append(is.Offers, offer{p.Location, fakecloud.CapacityType(true), p.Spot * p.Hourly() / p.Monthly})
			}
		}
		all = append(all, is)
	}
	return http.StatusOK, all, nil
}

func describeImages(c *call) (int, any, error) {
	all := []image{}
	for _, i := range c.tx.Images.All() {
		all = append(all, image{i.Name, architectures[i.Architecture]})
	}
	return http.StatusOK, all, nil
}

// instanceName is that of a host.
var instanceName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

func launchInstance(c *call) (int, any, error) {
	var l launch
	if err := c.decode(&l); err != nil {
		return 0, nil, err
	}
	t := c.s.cloud.Catalogue().ServerType(l.Type)
	switch {
	case !instanceName.MatchString(l.Name):
		return 0, nil, fakecloud.Errorf("invalid_input", "%.80q is no name of an instance: want one of a host, of 63 characters at most", l.Name)
	case t == nil:
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no instance type %.80q", l.Type)
	case l.CapacityType != fakecloud.CapacityType(false) && l.CapacityType != fakecloud.CapacityType(true):
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no capacity type %.80q", l.CapacityType)
	case c.tx.Instances.Named(l.Name) != nil:
		return 0, nil, fakecloud.Errorf("uniqueness_error", "there is an instance %q already", l.Name)
	}
	var from *fakecloud.Image
	for _, i := range c.tx.Images.All() {
		if i.Name == l.Image && i.Architecture == t.Architecture {
			from = i
		}
	}
	if from == nil {
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no image %.80q for %s", l.Image, architectures[t.Architecture])
	}
	i, _, _, err := c.tx.Create(fakecloud.Spec{
		Name: l.Name, Labels: l.Tags, Type: t, Image: from, Location: l.Zone, UserData: l.UserData, Start: true, IPv4: true,
		Spot: l.CapacityType == fakecloud.CapacityType(true),
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.instance(i), nil
}

func (c *call) instance(i *fakecloud.Instance) instance {
	is := instance{
		Name: i.Name, Type: i.Type, Zone: i.Location, CapacityType: fakecloud.CapacityType(i.Spot), State: i.State, Created: i.Created,
		Tags: i.Labels,
	}
	if from := c.tx.Images.Get(i.Image); from != nil {
		is.Image = from.Name
	}
	return is
}

func describeInstances(c *call) (int, any, error) {
	all := []instance{}
	about := cloudfault.Call{Operation: c.op.name}
	for _, i := range fakecloud.CutShort(c.tx, c.tx.ListInstances(about), about) {
		all = append(all, c.instance(i))
	}
	return http.StatusOK, all, nil
}

// describeInterruptions are the announcements of instances that are still there.
func describeInterruptions(c *call) (int, any, error) {
	all := []interruption{}
	for _, i := range c.tx.Instances.All() {
		// mutant: nobody hears of interruptions
		if !i.Interrupted.IsZero() {
			all = append(all, interruption{c.instance(i), i.Interrupted})
		}
	}
	return http.StatusOK, all, nil
}

func (c *call) named() (*fakecloud.Instance, error) {
	if i := c.tx.Instances.Named(c.about.Instance); i != nil {
		return i, nil
	}
	return nil, fakecloud.NotFound("instance", c.about.Instance)
}

func describeInstance(c *call) (int, any, error) {
	i, err := c.named()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.instance(i), nil
}

// terminateInstance is done when it has begun. One that is being deleted already stays so.
func terminateInstance(c *call) (int, any, error) {
	i, err := c.named()
	if err != nil {
		return 0, nil, err
	}
	c.tx.Delete(i.ID)
	return http.StatusAccepted, c.instance(c.tx.Instances.Get(i.ID)), nil
}
