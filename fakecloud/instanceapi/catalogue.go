package instanceapi

import (
	"fmt"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/table"
)

// hoursAMonth is what prices by the hour are multiplied with, see fakecloud.Price.Hourly.
const hoursAMonth = 624

// spotPart is what spot capacity costs of what other does, as with Karpenter's provider kwok.
const spotPart = 0.7

// Image is what instances are launched with by default, and NextImage another one.
const (
	Image     = "linux"
	NextImage = "linux-next"
)

// LaunchTakes is how long creating an instance takes, and as long starting it: what autoscalers wait for is said of the
// registration alone.
const LaunchTakes = 500 * time.Millisecond

// Durations are those of its actions, see fakecloud.Config.
func Durations() map[string]time.Duration {
	return map[string]time.Duration{"create_server": LaunchTakes, "start_server": LaunchTakes}
}

// Catalogue is what the cloud offers: types and zones that are called as those of Karpenter's provider kwok,
// at its prices, so that what is said of one is understood by the other.
func Catalogue() *fakecloud.Catalogue {
	c := &fakecloud.Catalogue{Currency: "USD"}
	for k, zone := range []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"} {
		id := int64(k + 1)
		c.Locations = append(c.Locations, fakecloud.Location{ID: id, Name: zone, NetworkZone: "region", DatacenterID: id, Datacenter: zone})
	}
	for k, architecture := range []string{"x86", "arm"} {
		for j, name := range []string{Image, NextImage} {
			c.Images = append(c.Images, fakecloud.Image{
				Meta: table.Meta{ID: int64(10*k + j + 1), Name: name}, Type: "system", Description: "Linux", OSFlavor: "ubuntu", OSVersion: "24.04",
				Architecture: architecture, DiskGB: 5,
			})
		}
		for _, family := range []struct {
			name   string
			memory int // GiB for each processor
		}{{"c", 2}, {"s", 4}, {"m", 8}} {
			for _, cores := range []int{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256} {
				c.ServerTypes = append(c.ServerTypes, Type(c, fmt.Sprintf("%s-%dx-%s-linux", family.name, cores, architectures[architecture]), cores,
					cores*family.memory, architecture))
			}
		}
	}
	return c
}

// Type is a type that is offered in all zones, both as spot capacity and otherwise.
func Type(c *fakecloud.Catalogue, name string, cores, memoryGiB int, architecture string) fakecloud.ServerType {
	t := fakecloud.ServerType{
		ID: int64(len(c.ServerTypes) + 1), Name: name, Cores: cores, MemoryGB: float32(memoryGiB), DiskGB: 20, CPUType: "shared",
		Architecture: architecture,
	}
	hourly := 0.025*float64(cores) + 0.001*float64(memoryGiB)*(1<<30)/1e9
	for _, l := range c.Locations {
		t.Prices = append(t.Prices, fakecloud.Price{Location: l.Name, Monthly: hourly * hoursAMonth, Spot: hourly * hoursAMonth * spotPart})
	}
	return t
}
