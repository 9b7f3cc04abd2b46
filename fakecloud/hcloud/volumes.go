package hcloud

import (
	"fmt"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/offers"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var volumes = func() rest.Owned[fakecloud.Volume] {
	o := rest.NewOwned("volumes", "volume", func(tx *fakecloud.Tx) *table.Table[fakecloud.Volume] { return tx.Volumes }, volumeBody)
	o.Filters = map[string]func(*fakecloud.Volume, string) bool{
		"status": func(_ *fakecloud.Volume, status string) bool { return status == "available" },
	}
	o.Free = func(_ *rest.Call, v *fakecloud.Volume) error {
		if v.Server != 0 {
			return fakecloud.Errorf("resource_in_use", "volume is attached to server %d", v.Server)
		}
		return nil
	}
	return o
}()

func volumeOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /volumes", volumes.List),
		rest.NewOperation("POST /volumes", createVolume),
		rest.NewOperation("GET /volumes/{id}", volumes.Get),
		rest.NewOperation("PUT /volumes/{id}", volumes.Put),
		rest.NewOperation("DELETE /volumes/{id}", volumes.Delete),
		rest.NewOperation("POST /volumes/{id}/actions/attach", attachVolume),
		rest.NewOperation("POST /volumes/{id}/actions/detach", detachVolume),
		rest.NewOperation("POST /volumes/{id}/actions/resize", resizeVolume),
		rest.NewOperation("POST /volumes/{id}/actions/change_protection", volumes.Protect),
	}, rest.ResourceActions("volumes", "volume")...)
}

// Sizes that a volume may have, in GB (docs.hetzner.cloud, Volumes).
const (
	minVolume = 10
	maxVolume = 10240
)

func createVolume(c *rest.Call) (int, any, error) {
	var r schema.VolumeCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	v := fakecloud.Volume{Size: r.Size, Format: r.Format}
	if v.Size < minVolume || v.Size > maxVolume {
		return 0, nil, fakecloud.Invalid("size", "must be %d to %d", minVolume, maxVolume)
	}
	switch {
	case r.Server != nil:
		i := c.Tx.Instances.Get(*r.Server)
		if i == nil {
			return 0, nil, fakecloud.NotFound("server", *r.Server)
		}
		v.Server, v.Location = i.ID, i.Location
	case r.Location != nil && c.Cloud().Catalogue().Location(idOrName(*r.Location)) != nil:
		v.Location = c.Cloud().Catalogue().Location(idOrName(*r.Location)).Name
	default:
		return 0, nil, fakecloud.Invalid("location", "location or server not found")
	}
	var err error
	if v.Meta, err = volumes.NewMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.Tx.Volumes.Put(v)
	about := []fakecloud.Ref{{Type: "volume", ID: v.ID}}
	if v.Server != 0 {
		about = append([]fakecloud.Ref{{Type: "server", ID: v.Server}}, about...)
	}
	create := c.Tx.Start("create_volume", nil, about...)
	next := []schema.Action{}
	if v.Server != 0 {
		next = append(next, c.Action(c.Tx.Start("attach_volume", create, about...)))
	}
	return http.StatusCreated, schema.VolumeCreateResponse{Volume: volumeBody(c, &v).(schema.Volume), Action: new(c.Action(create)),
		NextActions: next}, nil
}

func attachVolume(c *rest.Call) (int, any, error) {
	v, err := volumes.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.VolumeActionAttachVolumeRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	i := c.Tx.Instances.Get(r.Server)
	switch {
	case i == nil:
		return 0, nil, fakecloud.NotFound("server", r.Server)
	case v.Server != 0:
		return 0, nil, fakecloud.Errorf("volume_already_attached", "volume is attached to a server already")
	case v.Location != i.Location:
		return 0, nil, fakecloud.Invalid("server", "server is in location %s, volume in %s", i.Location, v.Location)
	case i.Locked():
		return 0, nil, fakecloud.Errorf("locked", "server is locked")
	}
	c.Tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Server = i.ID })
	return c.Started("attach_volume", serverRef(i), volumes.Ref(c))
}

func detachVolume(c *rest.Call) (int, any, error) {
	v, err := volumes.Find(c)
	if err != nil {
		return 0, nil, err
	}
	if v.Server == 0 {
		return 0, nil, fakecloud.Errorf("service_error", "volume is not attached")
	}
	server := fakecloud.Ref{Type: "server", ID: v.Server}
	c.Tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Server = 0 })
	return c.Started("detach_volume", server, volumes.Ref(c))
}

func resizeVolume(c *rest.Call) (int, any, error) {
	v, err := volumes.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.VolumeActionResizeVolumeRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Size < v.Size || r.Size > maxVolume {
		return 0, nil, fakecloud.Invalid("size", "must be %d to %d", v.Size, maxVolume)
	}
	c.Tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Size = r.Size })
	return c.Started("resize_volume", volumes.Ref(c))
}

func volumeBody(c *rest.Call, v *fakecloud.Volume) any {
	s := schema.Volume{
		ID: v.ID, Name: v.Name, Status: "available", Location: offers.Location(c.Cloud().Catalogue().Location(v.Location)), Size: v.Size,
		Format:     v.Format,
		Protection: schema.VolumeProtection{Delete: v.Protected}, Labels: rest.Labels(v.Labels), Created: v.Created,
		LinuxDevice: fmt.Sprintf("/dev/disk/by-id/scsi-0HC_Volume_%d", v.ID),
	}
	if v.Server != 0 {
		s.Server = new(v.Server)
	}
	return s
}
