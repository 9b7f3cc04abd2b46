package catalogue

import (
	"time"

	"nodestorm/fakecloud/table"
)

// Hetzner is what the Hetzner Cloud offers. IDs, sizes, locations and image names are those of its public
// API (docs.hetzner.cloud: server types, images, locations, datacenters, load balancer types). Prices
// are of its public list as of October 2025, in EUR without VAT and without the primary IPv4. Types that have been
// withdrawn since (cx22 … cx52, cpx in Europe) can be had here, so that what was deployed with them
// can be replayed; a fault Retired takes them away. Where no price was at hand, a type is not
// offered in that location.
func Hetzner() *Catalogue {
	return &Catalogue{
		ServerTypes:       serverTypes(),
		Images:            systemImages(),
		Locations:         locations(),
		LoadBalancerTypes: loadBalancerTypes(),
		ISOs: []ISO{
			{8637, "debian-12.0.0-amd64-netinst.iso", "Debian 12.0 amd64 netinst", "x86"},
			{8638, "debian-12.0.0-arm64-netinst.iso", "Debian 12.0 arm64 netinst", "arm"},
			{122630, "virtio-win-0.1.248.iso", "virtio 0.1.248", "x86"},
		},
		// Its billing FAQ: the use of a server is rounded up to full hours, and servers that are off are billed as well.
		Currency: "EUR", VATRate: 19, Billed: time.Hour,
		ImageGB: 0.011, VolumeGB: 0.044, PrimaryIPv4: 0.50, FloatingIPv4: 3.00, FloatingIPv6: 1.00,
	}
}

func locations() []Location {
	return []Location{
		{1, "fsn1", "Falkenstein DC Park 1", "DE", "Falkenstein", 50.47612, 12.370071, "eu-central", 4, "fsn1-dc14",
			"Falkenstein 1 virtual DC 14"},
		{2, "nbg1", "Nuremberg DC Park 1", "DE", "Nuremberg", 49.452102, 11.076665, "eu-central", 2, "nbg1-dc3", "Nuremberg 1 virtual DC 3"},
		{3, "hel1", "Helsinki DC Park 1", "FI", "Helsinki", 60.169855, 24.938379, "eu-central", 3, "hel1-dc2", "Helsinki 1 virtual DC 2"},
		{4, "ash", "Ashburn, VA", "US", "Ashburn, VA", 39.045821, -77.487073, "us-east", 5, "ash-dc1", "Ashburn virtual DC 1"},
		{5, "hil", "Hillsboro, OR", "US", "Hillsboro, OR", 45.54222, -122.951924, "us-west", 6, "hil-dc1", "Hillsboro virtual DC 1"},
		{6, "sin", "Singapore", "SG", "Singapore", 1.283333, 103.833333, "ap-southeast", 7, "sin-dc1", "Singapore virtual DC 1"},
	}
}

// size is one line of the price list; a price of zero means not offered.
type size struct {
	id                 int64
	name               string
	cores              int
	memory             float32
	disk               int
	euro, usa, sin     float64
	tbEuro, tbUSA, tbS int
}

func serverTypes() []ServerType {
	families := []struct {
		category, cpu, architecture string
		sizes                       []size
	}{
		{"Cost-Optimized", "shared", "x86", []size{
			{104, "cx22", 2, 4, 40, 3.29, 0, 0, 20, 0, 0},
			{105, "cx32", 4, 8, 80, 6.30, 0, 0, 20, 0, 0},
			{106, "cx42", 8, 16, 160, 15.90, 0, 0, 20, 0, 0},
			{107, "cx52", 16, 32, 320, 31.90, 0, 0, 20, 0, 0},
			{114, "cx23", 2, 4, 40, 2.99, 0, 0, 20, 0, 0},
			{115, "cx33", 4, 8, 80, 4.99, 0, 0, 20, 0, 0},
			{116, "cx43", 8, 16, 160, 8.99, 0, 0, 20, 0, 0},
			{117, "cx53", 16, 32, 320, 16.99, 0, 0, 20, 0, 0},
		}},
		{"Cost-Optimized", "shared", "arm", []size{
			{45, "cax11", 2, 4, 40, 3.29, 0, 0, 20, 0, 0},
			{93, "cax21", 4, 8, 80, 5.99, 0, 0, 20, 0, 0},
			{94, "cax31", 8, 16, 160, 11.99, 0, 0, 20, 0, 0},
			{95, "cax41", 16, 32, 320, 23.99, 0, 0, 20, 0, 0},
		}},
		{"Regular Performance", "shared", "x86", []size{
			{22, "cpx11", 2, 2, 40, 3.85, 4.49, 0, 20, 1, 0},
			{23, "cpx21", 3, 4, 80, 7.05, 8.99, 0, 20, 2, 0},
			{24, "cpx31", 4, 8, 160, 13.10, 15.99, 0, 20, 3, 0},
			{25, "cpx41", 8, 16, 240, 24.70, 29.99, 0, 20, 4, 0},
			{26, "cpx51", 16, 32, 360, 54.40, 59.99, 0, 20, 5, 0},
		}},
		{"General Purpose", "dedicated", "x86", []size{
			{96, "ccx13", 2, 8, 80, 11.99, 12.99, 21.00, 20, 1, 1},
			{97, "ccx23", 4, 16, 160, 23.99, 25.99, 39.40, 20, 2, 1},
			{98, "ccx33", 8, 32, 240, 47.99, 0, 74.40, 30, 0, 2},
			{99, "ccx43", 16, 64, 360, 95.99, 0, 0, 40, 0, 0},
			{100, "ccx53", 32, 128, 600, 191.99, 0, 0, 50, 0, 0},
			{101, "ccx63", 48, 192, 960, 287.99, 0, 0, 60, 0, 0},
		}},
	}
	var types []ServerType
	for _, f := range families {
		for _, s := range f.sizes {
			types = append(types, ServerType{
				ID: s.id, Name: s.name, Cores: s.cores, MemoryGB: s.memory, DiskGB: s.disk,
				CPUType: f.cpu, Architecture: f.architecture, Category: f.category, Prices: s.prices(),
			})
		}
	}
	return types
}

func (s size) prices() []Price {
	var prices []Price
	add := func(monthly float64, tb int, perTB float64, locations ...string) {
		for _, l := range locations {
			if monthly > 0 {
				prices = append(prices, Price{Location: l, Monthly: monthly, TrafficTB: tb, PerTB: perTB})
			}
		}
	}
	add(s.euro, s.tbEuro, 1, "fsn1", "nbg1", "hel1")
	add(s.usa, s.tbUSA, 1, "ash", "hil")
	add(s.sin, s.tbS, 7.40, "sin")
	return prices
}

func loadBalancerTypes() []LoadBalancerType {
	everywhere := func(monthly float64) []Price {
		return size{euro: monthly, usa: monthly, tbEuro: 20, tbUSA: 20}.prices()
	}
	return []LoadBalancerType{
		{1, "lb11", 10_000, 5, 25, 10, everywhere(5.39)},
		{2, "lb21", 20_000, 15, 75, 25, everywhere(16.40)},
		{3, "lb31", 40_000, 30, 150, 50, everywhere(32.90)},
	}
}

func systemImages() []Image {
	var images []Image
	for _, i := range []struct {
		x86, arm              int64
		name, flavor, version string
		text                  string
		since                 time.Time
	}{
		{45557056, 103907373, "debian-11", "debian", "11", "Debian 11", date(2021, 8, 16)},
		{114690387, 114690389, "debian-12", "debian", "12", "Debian 12", date(2023, 6, 13)},
		{310557660, 310557661, "debian-13", "debian", "13", "Debian 13", date(2025, 8, 12)},
		{67794396, 103908130, "ubuntu-22.04", "ubuntu", "22.04", "Ubuntu 22.04", date(2022, 4, 21)},
		{161547269, 161547270, "ubuntu-24.04", "ubuntu", "24.04", "Ubuntu 24.04", date(2024, 4, 25)},
		{103908145, 103908146, "rocky-9", "rocky", "9", "Rocky Linux 9", date(2022, 7, 27)},
	} {
		for architecture, id := range map[string]int64{"x86": i.x86, "arm": i.arm} {
			images = append(images, Image{
				Meta: table.Meta{ID: id, Name: i.name, Created: i.since}, Type: "system", Description: i.text,
				OSFlavor: i.flavor, OSVersion: i.version, Architecture: architecture, DiskGB: 5,
			})
		}
	}
	return images
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 6, 0, 0, 0, time.UTC)
}
