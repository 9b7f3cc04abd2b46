// Package offers serves what the Hetzner Cloud offers, and at which prices: server types, locations, datacenters, load balancer
// types and ISOs.
package offers

import (
	"net/http"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

// offer is a kind of which the catalogue has all.
func offer[T any](plural, singular string, all func(*fakecloud.Catalogue) []T, meta func(*T) table.Meta, encode func(*rest.Call,
	*T) any) rest.Kind[T] {
	return rest.Kind[T]{
		Plural: plural, Singular: singular, Meta: meta, Encode: encode,
		All: func(c *rest.Call) []*T {
			values := all(c.Cloud().Catalogue())
			pointers := make([]*T, len(values))
			for k := range values {
				pointers[k] = &values[k]
			}
			return pointers
		},
	}
}

var (
	serverTypes = offer("server_types", "server_type", func(c *fakecloud.Catalogue) []fakecloud.ServerType { return c.ServerTypes },
		func(t *fakecloud.ServerType) table.Meta { return table.Meta{ID: t.ID, Name: t.Name} },
		func(c *rest.Call, t *fakecloud.ServerType) any { return ServerType(c, t) })
	locations = offer("locations", "location", func(c *fakecloud.Catalogue) []fakecloud.Location { return c.Locations },
		func(l *fakecloud.Location) table.Meta { return table.Meta{ID: l.ID, Name: l.Name} },
		func(_ *rest.Call, l *fakecloud.Location) any { return Location(l) })
	datacenters = offer("datacenters", "datacenter", func(c *fakecloud.Catalogue) []fakecloud.Location { return c.Locations },
		func(l *fakecloud.Location) table.Meta {
			return table.Meta{ID: l.DatacenterID, Name: l.Datacenter}
		},
		func(c *rest.Call, l *fakecloud.Location) any { return datacenterBody(c, l) })
	loadBalancerTypes = offer("load_balancer_types", "load_balancer_type",
		func(c *fakecloud.Catalogue) []fakecloud.LoadBalancerType { return c.LoadBalancerTypes },
		func(t *fakecloud.LoadBalancerType) table.Meta { return table.Meta{ID: t.ID, Name: t.Name} },
		func(c *rest.Call, t *fakecloud.LoadBalancerType) any { return LoadBalancerType(c, t) })
	isos = func() rest.Kind[fakecloud.ISO] {
		k := offer("isos", "iso", func(c *fakecloud.Catalogue) []fakecloud.ISO { return c.ISOs },
			func(i *fakecloud.ISO) table.Meta { return table.Meta{ID: i.ID, Name: i.Name} },
			func(_ *rest.Call, i *fakecloud.ISO) any { return ISO(i) })
		k.Filters = map[string]func(*fakecloud.ISO, string) bool{
			"architecture": func(i *fakecloud.ISO, architecture string) bool { return i.Architecture == architecture },
		}
		return k
	}()
)

// Operations are the calls.
func Operations() []rest.Operation {
	var all []rest.Operation
	all = append(all, readOnly(serverTypes)...)
	all = append(all, readOnly(locations)...)
	all = append(all, readOnly(datacenters)...)
	all = append(all, readOnly(loadBalancerTypes)...)
	all = append(all, readOnly(isos)...)
	return append(all, rest.Steady("GET /pricing", pricing))
}

func readOnly[T any](k rest.Kind[T]) []rest.Operation {
	return []rest.Operation{rest.Steady("GET /"+k.Plural, k.List), rest.NewOperation("GET /"+k.Plural+"/{id}", k.Get)}
}

// ServerType is kept while no fault says otherwise: each server in a listing has it, with all prices.
func ServerType(c *rest.Call, t *fakecloud.ServerType) schema.ServerType {
	if len(c.Cloud().Faults().Active(cloudfault.Supply)) > 0 {
		return serverTypeNow(c, t)
	}
	if s, ok := c.Types()[t.ID]; ok {
		return s
	}
	s := serverTypeNow(c, t)
	if len(c.Cloud().Faults().Active(cloudfault.Supply)) == 0 { // none has begun since
		c.Types()[t.ID] = s
	}
	return s
}

func serverTypeNow(c *rest.Call, t *fakecloud.ServerType) schema.ServerType {
	s := schema.ServerType{
		ID: t.ID, Name: t.Name, Description: upper(t.Name), Category: t.Category, Cores: t.Cores, Memory: t.MemoryGB, Disk: t.DiskGB,
		StorageType: "local", CPUType: t.CPUType, Architecture: t.Architecture, Prices: pricesOf(c,
			t.Prices), Locations: []schema.ServerTypeLocation{},
	}
	for _, price := range t.Prices {
		l, supply := c.Cloud().Catalogue().Location(price.Location), c.Tx.Supply(t, price.Location)
		at := schema.ServerTypeLocation{ID: l.ID, Name: l.Name, Available: supply.Available, Recommended: supply.Available}
		if !supply.RetiredSince.IsZero() {
			info := &schema.DeprecationInfo{Announced: supply.RetiredSince, UnavailableAfter: supply.RetiredSince}
			at.Deprecation, s.Deprecation, s.Deprecated = info, info, true
		}
		s.Locations = append(s.Locations, at)
	}
	return s
}

func upper(name string) string {
	b := []byte(name)
	for k := range b {
		if 'a' <= b[k] && b[k] <= 'z' {
			b[k] -= 'a' - 'A'
		}
	}
	return string(b)
}

func money(c *rest.Call, net float64) schema.Price {
	gross := net * (1 + c.Cloud().Catalogue().VATRate/100)
	return schema.Price{Net: fakecloud.Money(net), Gross: fakecloud.Money(gross)}
}

func pricesOf(c *rest.Call, prices []fakecloud.Price) []schema.PricingServerTypePrice {
	all := []schema.PricingServerTypePrice{}
	for _, p := range prices {
		all = append(all, schema.PricingServerTypePrice{
			Location: p.Location, PriceHourly: money(c, p.Hourly()), PriceMonthly: money(c, p.Monthly),
			IncludedTraffic: Terabytes(p.TrafficTB), PricePerTBTraffic: money(c, p.PerTB),
		})
	}
	return all
}

// datacenterBody is schema.Datacenter with the server types that the API has had there until October 2026.
func datacenterBody(c *rest.Call, l *fakecloud.Location) schema.Datacenter {
	d := Datacenter(l)
	d.ServerTypes = &schema.DatacenterServerTypes{Supported: []int64{}, Available: []int64{}, AvailableForMigration: []int64{}}
	types := c.Cloud().Catalogue().ServerTypes
	for k := range types {
		if _, ok := types[k].PriceIn(l.Name); !ok {
			continue
		}
		d.ServerTypes.Supported = append(d.ServerTypes.Supported, types[k].ID)
		if c.Tx.Supply(&types[k], l.Name).Available {
			d.ServerTypes.Available = append(d.ServerTypes.Available, types[k].ID)
			d.ServerTypes.AvailableForMigration = append(d.ServerTypes.AvailableForMigration, types[k].ID)
		}
	}
	return d
}

// LoadBalancerType is one in an answer.
func LoadBalancerType(c *rest.Call, t *fakecloud.LoadBalancerType) schema.LoadBalancerType {
	s := schema.LoadBalancerType{
		ID: t.ID, Name: t.Name, Description: upper(t.Name), MaxConnections: t.MaxConnections, MaxServices: t.MaxServices,
		MaxTargets: t.MaxTargets, MaxAssignedCertificates: t.MaxCertificates, Prices: []schema.PricingLoadBalancerTypePrice{},
	}
	for _, p := range pricesOf(c, t.Prices) {
		s.Prices = append(s.Prices, schema.PricingLoadBalancerTypePrice(p))
	}
	return s
}

// ISO is one in an answer.
func ISO(i *fakecloud.ISO) schema.ISO {
	return schema.ISO{ID: i.ID, Name: i.Name, Description: i.Description, Type: "public", Architecture: new(i.Architecture)}
}

func pricing(c *rest.Call) (int, any, error) {
	catalogue := c.Cloud().Catalogue()
	p := schema.Pricing{
		Currency: catalogue.Currency, VATRate: strconv.FormatFloat(catalogue.VATRate, 'f', 6, 64),
		Image:        schema.PricingImage{PricePerGBMonth: money(c, catalogue.ImageGB)},
		FloatingIP:   schema.PricingFloatingIP{PriceMonthly: money(c, catalogue.FloatingIPv4)},
		Traffic:      schema.PricingTraffic{PricePerTB: money(c, 0)},
		ServerBackup: schema.PricingServerBackup{Percentage: "20.0000000000"},
		Volume:       schema.PricingVolume{PricePerGBPerMonth: money(c, catalogue.VolumeGB)},
	}
	for kind, monthly := range map[string]float64{"ipv4": catalogue.FloatingIPv4, "ipv6": catalogue.FloatingIPv6} {
		t := schema.PricingFloatingIPType{Type: kind}
		for _, l := range catalogue.Locations {
			t.Prices = append(t.Prices, schema.PricingFloatingIPTypePrice{Location: l.Name, PriceMonthly: money(c, monthly)})
		}
		p.FloatingIPs = append(p.FloatingIPs, t)
	}
	for kind, monthly := range map[string]float64{"ipv4": catalogue.PrimaryIPv4, "ipv6": 0} {
		t := schema.PricingPrimaryIP{Type: kind}
		for _, l := range catalogue.Locations {
			hourly := fakecloud.Price{Monthly: monthly}.Hourly()
			t.Prices = append(t.Prices, schema.PricingPrimaryIPTypePrice{Location: l.Name, PriceHourly: money(c, hourly), PriceMonthly: money(c,
				monthly)})
		}
		p.PrimaryIPs = append(p.PrimaryIPs, t)
	}
	for _, t := range catalogue.ServerTypes {
		p.ServerTypes = append(p.ServerTypes, schema.PricingServerType{ID: t.ID, Name: t.Name, Prices: pricesOf(c, t.Prices)})
	}
	for k := range catalogue.LoadBalancerTypes {
		t := LoadBalancerType(c, &catalogue.LoadBalancerTypes[k])
		p.LoadBalancerTypes = append(p.LoadBalancerTypes, schema.PricingLoadBalancerType{ID: t.ID, Name: t.Name, Prices: t.Prices})
	}
	return http.StatusOK, schema.PricingGetResponse{Pricing: p}, nil
}

// Location is one in an answer.
func Location(l *fakecloud.Location) schema.Location {
	return schema.Location{
		ID: l.ID, Name: l.Name, Description: l.Description, Country: l.Country, City: l.City,
		Latitude: l.Latitude, Longitude: l.Longitude, NetworkZone: l.NetworkZone,
	}
}

// Datacenter is that of a location, without server types.
func Datacenter(l *fakecloud.Location) schema.Datacenter {
	return schema.Datacenter{ID: l.DatacenterID, Name: l.Datacenter, Description: l.DatacenterText, Location: Location(l)}
}

// Terabytes is traffic in bytes.
func Terabytes(n int) uint64 { return uint64(n) << 40 }
