package hcloud

import (
	"fmt"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

var volumes = func() owned[fakecloud.Volume] {
	o := newOwned("volumes", "volume", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.Volume] { return tx.Volumes }, (*call).volume)
	o.filters = map[string]func(*fakecloud.Volume, string) bool{
		"status": func(_ *fakecloud.Volume, status string) bool { return status == "available" },
	}
	o.free = func(_ *call, v *fakecloud.Volume) error {
		if v.Server != 0 {
			return fakecloud.Errorf("resource_in_use", "volume is attached to server %d", v.Server)
		}
		return nil
	}
	return o
}()

func volumeOperations() []operation {
	return append([]operation{
		{"GET /volumes", volumes.list, true},
		{"POST /volumes", createVolume, false},
		{"GET /volumes/{id}", volumes.get, false},
		{"PUT /volumes/{id}", volumes.put, false},
		{"DELETE /volumes/{id}", volumes.delete, false},
		{"POST /volumes/{id}/actions/attach", attachVolume, false},
		{"POST /volumes/{id}/actions/detach", detachVolume, false},
		{"POST /volumes/{id}/actions/resize", resizeVolume, false},
		{"POST /volumes/{id}/actions/change_protection", volumes.protect, false},
	}, resourceActions("volumes", "volume")...)
}

// Sizes that a volume may have, in GB (docs.hetzner.cloud, Volumes).
const (
	minVolume = 10
	maxVolume = 10240
)

func createVolume(c *call) (int, any, error) {
	var r schema.VolumeCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	v := fakecloud.Volume{Size: r.Size, Format: r.Format}
	if v.Size < minVolume || v.Size > maxVolume {
		return 0, nil, fakecloud.Invalid("size", "must be %d to %d", minVolume, maxVolume)
	}
	switch {
	case r.Server != nil:
		i := c.tx.Instances.Get(*r.Server)
		if i == nil {
			return 0, nil, fakecloud.NotFound("server", *r.Server)
		}
		v.Server, v.Location = i.ID, i.Location
	case r.Location != nil && c.h.cloud.Catalogue().Location(idOrName(*r.Location)) != nil:
		v.Location = c.h.cloud.Catalogue().Location(idOrName(*r.Location)).Name
	default:
		return 0, nil, fakecloud.Invalid("location", "location or server not found")
	}
	var err error
	if v.Meta, err = volumes.newMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.tx.Volumes.Put(v)
	about := []fakecloud.Ref{{Type: "volume", ID: v.ID}}
	if v.Server != 0 {
		about = append([]fakecloud.Ref{{Type: "server", ID: v.Server}}, about...)
	}
	create := c.tx.Start("create_volume", nil, about...)
	next := []schema.Action{}
	if v.Server != 0 {
		next = append(next, c.action(c.tx.Start("attach_volume", create, about...)))
	}
	return http.StatusCreated, schema.VolumeCreateResponse{Volume: c.volume(&v).(schema.Volume), Action: new(c.action(create)), NextActions: next}, nil
}

func attachVolume(c *call) (int, any, error) {
	v, err := volumes.find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.VolumeActionAttachVolumeRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	i := c.tx.Instances.Get(r.Server)
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
	c.tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Server = i.ID })
	return c.started("attach_volume", serverRef(i), volumes.ref(c))
}

func detachVolume(c *call) (int, any, error) {
	v, err := volumes.find(c)
	if err != nil {
		return 0, nil, err
	}
	if v.Server == 0 {
		return 0, nil, fakecloud.Errorf("service_error", "volume is not attached")
	}
	server := fakecloud.Ref{Type: "server", ID: v.Server}
	c.tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Server = 0 })
	return c.started("detach_volume", server, volumes.ref(c))
}

func resizeVolume(c *call) (int, any, error) {
	v, err := volumes.find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.VolumeActionResizeVolumeRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Size < v.Size || r.Size > maxVolume {
		return 0, nil, fakecloud.Invalid("size", "must be %d to %d", v.Size, maxVolume)
	}
	c.tx.Volumes.Update(v.ID, func(v *fakecloud.Volume) { v.Size = r.Size })
	return c.started("resize_volume", volumes.ref(c))
}

func (c *call) volume(v *fakecloud.Volume) any {
	s := schema.Volume{
		ID: v.ID, Name: v.Name, Status: "available", Location: location(c.h.cloud.Catalogue().Location(v.Location)), Size: v.Size, Format: v.Format,
		Protection: schema.VolumeProtection{Delete: v.Protected}, Labels: labels(v.Labels), Created: v.Created,
		LinuxDevice: fmt.Sprintf("/dev/disk/by-id/scsi-0HC_Volume_%d", v.ID),
	}
	if v.Server != 0 {
		s.Server = new(v.Server)
	}
	return s
}
