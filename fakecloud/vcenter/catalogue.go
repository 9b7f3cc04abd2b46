package vcenter

import (
	"nodestorm/fakecloud"
	"nodestorm/fakecloud/table"
)

// Catalogue is a small data centre of one's own: two clusters, three sizes of machines
// without a price, one template.
func Catalogue() *fakecloud.Catalogue {
	c := &fakecloud.Catalogue{
		Locations: []fakecloud.Location{
			{ID: 1, Name: "zone-a", Description: "first cluster", NetworkZone: "region-1", DatacenterID: 1, Datacenter: "zone-a"},
			{ID: 2, Name: "zone-b", Description: "second cluster", NetworkZone: "region-1", DatacenterID: 2, Datacenter: "zone-b"},
		},
		Images: []fakecloud.Image{{
			Meta: table.Meta{ID: 1, Name: Template}, Type: "system", Description: "Ubuntu 24.04",
			OSFlavor: "ubuntu", OSVersion: "24.04", Architecture: "x86", DiskGB: 20,
		}},
	}
	for id, size := range []struct {
		name  string
		cores int
		gb    float32
	}{{"small", 2, 4}, {"medium", 4, 8}, {"large", 8, 16}} {
		t := fakecloud.ServerType{
			ID: int64(id + 1), Name: size.name, Cores: size.cores, MemoryGB: size.gb, DiskGB: 40,
			CPUType: "shared", Architecture: "x86", Category: "General Purpose",
		}
		for _, l := range c.Locations {
			t.Prices = append(t.Prices, fakecloud.Price{Location: l.Name})
		}
		c.ServerTypes = append(c.ServerTypes, t)
	}
	return c
}

// Template is the name of what machines are made from.
const Template = "ubuntu-24.04"
