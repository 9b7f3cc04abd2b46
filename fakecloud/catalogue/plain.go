package catalogue

import "nodestorm/fakecloud/table"

// PlainImage is the only image that Plain has.
const PlainImage = "linux"

// Plain is what a cloud of no real provider offers: instance types of 1 to 16 processors with 4 GB each, in
// three zones of one region. Prices are made up: 10 a month for each processor.
func Plain() *Catalogue {
	c := &Catalogue{Currency: "EUR", Images: []Image{{
		Meta: table.Meta{ID: 1, Name: PlainImage}, Type: "system", Description: "Linux", OSFlavor: "ubuntu", OSVersion: "24.04",
		Architecture: "x86", DiskGB: 5,
	}}}
	for k, zone := range []string{"zone-a", "zone-b", "zone-c"} {
		c.Locations = append(c.Locations, Location{ID: int64(k + 1), Name: zone, NetworkZone: "region", DatacenterID: int64(k + 1),
			Datacenter: zone})
	}
	for k, name := range []string{"tiny", "small", "medium", "large", "huge"} {
		t := ServerType{ID: int64(k + 1), Name: name, Cores: 1 << k, MemoryGB: float32(int64(4) << k), DiskGB: 100, CPUType: "shared",
			Architecture: "x86"}
		for _, l := range c.Locations {
			t.Prices = append(t.Prices, Price{Location: l.Name, Monthly: float64(10 * t.Cores)})
		}
		c.ServerTypes = append(c.ServerTypes, t)
	}
	return c
}
