package instanceapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/jsonapi"
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

func describeTypes(c *jsonapi.Call) (int, any, error) {
	all := []instanceType{}
	for _, t := range c.Cloud.Catalogue().ServerTypes {
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

func describeImages(c *jsonapi.Call) (int, any, error) {
	all := []image{}
	for _, i := range c.Tx.Images.All() {
		all = append(all, image{i.Name, architectures[i.Architecture]})
	}
	return http.StatusOK, all, nil
}

// instanceName is that of a host.
var instanceName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// launchSubject is the instance to be, and what it is to be like.
func launchSubject(c *jsonapi.Call) jsonapi.Subject {
	var l launch
	_ = json.Unmarshal(c.Body, &l) // launching reports what is wrong with it
	return jsonapi.Subject{
		Instance: l.Name, Group: l.Tags[c.Cloud.GroupLabel()],
		Wants: map[string]any{"type": l.Type, "location": l.Zone, "capacity": l.CapacityType},
	}
}

func launchInstance(c *jsonapi.Call) (int, any, error) {
	var l launch
	if err := c.Decode(&l); err != nil {
		return 0, nil, err
	}
	t := c.Cloud.Catalogue().ServerType(l.Type)
	switch {
	case !instanceName.MatchString(l.Name):
		return 0, nil, fakecloud.Errorf("invalid_input", "%.80q is no name of an instance: want one of a host, of 63 characters at most", l.Name)
	case t == nil:
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no instance type %.80q", l.Type)
	case l.CapacityType != fakecloud.CapacityType(false) && l.CapacityType != fakecloud.CapacityType(true):
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no capacity type %.80q", l.CapacityType)
	case c.Tx.Instances.Named(l.Name) != nil:
		return 0, nil, fakecloud.Errorf("uniqueness_error", "there is an instance %q already", l.Name)
	}
	var from *fakecloud.Image
	for _, i := range c.Tx.Images.All() {
		if i.Name == l.Image && i.Architecture == t.Architecture {
			from = i
		}
	}
	if from == nil {
		return 0, nil, fakecloud.Errorf("invalid_input", "there is no image %.80q for %s", l.Image, architectures[t.Architecture])
	}
	i, _, _, err := c.Tx.Create(fakecloud.Spec{
		Name: l.Name, Labels: l.Tags, Type: t, Image: from, Location: l.Zone, UserData: l.UserData, Start: true, IPv4: true,
		Spot: l.CapacityType == fakecloud.CapacityType(true),
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, instanceOf(c, i), nil
}

func instanceOf(c *jsonapi.Call, i *fakecloud.Instance) instance {
	is := instance{
		Name: i.Name, Type: i.Type, Zone: i.Location, CapacityType: fakecloud.CapacityType(i.Spot), State: i.State, Created: i.Created,
		Tags: i.Labels,
	}
	if from := c.Tx.Images.Get(i.Image); from != nil {
		is.Image = from.Name
	}
	return is
}

func describeInstances(c *jsonapi.Call) (int, any, error) {
	all := []instance{}
	for _, i := range fakecloud.CutShort(c.Tx, c.Tx.ListInstances(c.Match), c.Match) {
		all = append(all, instanceOf(c, i))
	}
	return http.StatusOK, all, nil
}

// describeInterruptions are the announcements of instances that are still there.
func describeInterruptions(c *jsonapi.Call) (int, any, error) {
	all := []interruption{}
	for _, i := range c.Tx.Instances.All() {
		// mutant: interruptions are not listed
		if !i.Interrupted.IsZero() {
			all = append(all, interruption{instanceOf(c, i), i.Interrupted})
		}
	}
	return http.StatusOK, all, nil
}

func named(c *jsonapi.Call) (*fakecloud.Instance, error) {
	if i := c.Tx.Instances.Named(c.Match.Instance); i != nil {
		return i, nil
	}
	return nil, fakecloud.NotFound("instance", c.Match.Instance)
}

func describeInstance(c *jsonapi.Call) (int, any, error) {
	i, err := named(c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, instanceOf(c, i), nil
}

// terminateInstance is done when it has begun. One that is being deleted already stays so.
func terminateInstance(c *jsonapi.Call) (int, any, error) {
	i, err := named(c)
	if err != nil {
		return 0, nil, err
	}
	c.Tx.Delete(i.ID)
	return http.StatusAccepted, instanceOf(c, c.Tx.Instances.Get(i.ID)), nil
}
