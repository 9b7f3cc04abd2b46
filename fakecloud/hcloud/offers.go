package hcloud

import (
	"net/http"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
)

// offer is a kind of which the catalogue has all.
func offer[T any](plural, singular string, all func(*fakecloud.Catalogue) []T, meta func(*T) fakecloud.Meta, encode func(*call, *T) any) kind[T] {
	return kind[T]{
		plural: plural, singular: singular, meta: meta, encode: encode,
		all: func(c *call) []*T {
			values := all(c.h.cloud.Catalogue())
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
		func(t *fakecloud.ServerType) fakecloud.Meta { return fakecloud.Meta{ID: t.ID, Name: t.Name} },
		func(c *call, t *fakecloud.ServerType) any { return c.serverType(t) })
	locations = offer("locations", "location", func(c *fakecloud.Catalogue) []fakecloud.Location { return c.Locations },
		func(l *fakecloud.Location) fakecloud.Meta { return fakecloud.Meta{ID: l.ID, Name: l.Name} },
		func(_ *call, l *fakecloud.Location) any { return location(l) })
	datacenters = offer("datacenters", "datacenter", func(c *fakecloud.Catalogue) []fakecloud.Location { return c.Locations },
		func(l *fakecloud.Location) fakecloud.Meta {
			return fakecloud.Meta{ID: l.DatacenterID, Name: l.Datacenter}
		},
		func(c *call, l *fakecloud.Location) any { return c.datacenter(l) })
	loadBalancerTypes = offer("load_balancer_types", "load_balancer_type", func(c *fakecloud.Catalogue) []fakecloud.LoadBalancerType { return c.LoadBalancerTypes },
		func(t *fakecloud.LoadBalancerType) fakecloud.Meta { return fakecloud.Meta{ID: t.ID, Name: t.Name} },
		func(c *call, t *fakecloud.LoadBalancerType) any { return c.loadBalancerType(t) })
	isos = func() kind[fakecloud.ISO] {
		k := offer("isos", "iso", func(c *fakecloud.Catalogue) []fakecloud.ISO { return c.ISOs },
			func(i *fakecloud.ISO) fakecloud.Meta { return fakecloud.Meta{ID: i.ID, Name: i.Name} },
			func(_ *call, i *fakecloud.ISO) any { return isoBody(i) })
		k.filters = map[string]func(*fakecloud.ISO, string) bool{
			"architecture": func(i *fakecloud.ISO, architecture string) bool { return i.Architecture == architecture },
		}
		return k
	}()
)

func offerOperations() []operation {
	var all []operation
	all = append(all, readOnly(serverTypes)...)
	all = append(all, readOnly(locations)...)
	all = append(all, readOnly(datacenters)...)
	all = append(all, readOnly(loadBalancerTypes)...)
	all = append(all, readOnly(isos)...)
	return append(all, operation{"GET /pricing", pricing, true})
}

func readOnly[T any](k kind[T]) []operation {
	return []operation{{"GET /" + k.plural, k.list, true}, {"GET /" + k.plural + "/{id}", k.get, false}}
}

// serverType is kept while no fault says otherwise: each server in a listing has it, with all prices.
func (c *call) serverType(t *fakecloud.ServerType) schema.ServerType {
	if len(c.h.cloud.Faults().Active(fault.Supply)) > 0 {
		return c.serverTypeNow(t)
	}
	if s, ok := c.h.types[t.ID]; ok {
		return s
	}
	s := c.serverTypeNow(t)
	if len(c.h.cloud.Faults().Active(fault.Supply)) == 0 { // none has begun meanwhile
		c.h.types[t.ID] = s
	}
	return s
}

func (c *call) serverTypeNow(t *fakecloud.ServerType) schema.ServerType {
	s := schema.ServerType{
		ID: t.ID, Name: t.Name, Description: upper(t.Name), Category: t.Category, Cores: t.Cores, Memory: t.MemoryGB, Disk: t.DiskGB,
		StorageType: "local", CPUType: t.CPUType, Architecture: t.Architecture, Prices: c.prices(t.Prices), Locations: []schema.ServerTypeLocation{},
	}
	for _, price := range t.Prices {
		l, supply := c.h.cloud.Catalogue().Location(price.Location), c.tx.Supply(t, price.Location)
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

func (c *call) money(net float64) schema.Price {
	gross := net * (1 + c.h.cloud.Catalogue().VATRate/100)
	return schema.Price{Net: fakecloud.Money(net), Gross: fakecloud.Money(gross)}
}

func (c *call) prices(prices []fakecloud.Price) []schema.PricingServerTypePrice {
	all := []schema.PricingServerTypePrice{}
	for _, p := range prices {
		all = append(all, schema.PricingServerTypePrice{
			Location: p.Location, PriceHourly: c.money(p.Hourly()), PriceMonthly: c.money(p.Monthly),
			IncludedTraffic: terabytes(p.TrafficTB), PricePerTBTraffic: c.money(p.PerTB),
		})
	}
	return all
}

// datacenter is schema.Datacenter with the server types that the API has had there until October 2026.
func (c *call) datacenter(l *fakecloud.Location) schema.Datacenter {
	d := datacenter(l)
	d.ServerTypes = &schema.DatacenterServerTypes{Supported: []int64{}, Available: []int64{}, AvailableForMigration: []int64{}}
	types := c.h.cloud.Catalogue().ServerTypes
	for k := range types {
		if _, ok := types[k].In(l.Name); !ok {
			continue
		}
		d.ServerTypes.Supported = append(d.ServerTypes.Supported, types[k].ID)
		if c.tx.Supply(&types[k], l.Name).Available {
			d.ServerTypes.Available = append(d.ServerTypes.Available, types[k].ID)
			d.ServerTypes.AvailableForMigration = append(d.ServerTypes.AvailableForMigration, types[k].ID)
		}
	}
	return d
}

func (c *call) loadBalancerType(t *fakecloud.LoadBalancerType) schema.LoadBalancerType {
	s := schema.LoadBalancerType{
		ID: t.ID, Name: t.Name, Description: upper(t.Name), MaxConnections: t.MaxConnections, MaxServices: t.MaxServices,
		MaxTargets: t.MaxTargets, MaxAssignedCertificates: t.MaxCertificates, Prices: []schema.PricingLoadBalancerTypePrice{},
	}
	for _, p := range c.prices(t.Prices) {
		s.Prices = append(s.Prices, schema.PricingLoadBalancerTypePrice(p))
	}
	return s
}

func isoBody(i *fakecloud.ISO) schema.ISO {
	return schema.ISO{ID: i.ID, Name: i.Name, Description: i.Description, Type: "public", Architecture: new(i.Architecture)}
}

func pricing(c *call) (int, any, error) {
	catalogue := c.h.cloud.Catalogue()
	p := schema.Pricing{
		Currency: catalogue.Currency, VATRate: strconv.FormatFloat(catalogue.VATRate, 'f', 6, 64),
		Image:        schema.PricingImage{PricePerGBMonth: c.money(catalogue.ImageGB)},
		FloatingIP:   schema.PricingFloatingIP{PriceMonthly: c.money(catalogue.FloatingIPv4)},
		Traffic:      schema.PricingTraffic{PricePerTB: c.money(0)},
		ServerBackup: schema.PricingServerBackup{Percentage: "20.0000000000"},
		Volume:       schema.PricingVolume{PricePerGBPerMonth: c.money(catalogue.VolumeGB)},
	}
	for kind, monthly := range map[string]float64{"ipv4": catalogue.FloatingIPv4, "ipv6": catalogue.FloatingIPv6} {
		t := schema.PricingFloatingIPType{Type: kind}
		for _, l := range catalogue.Locations {
			t.Prices = append(t.Prices, schema.PricingFloatingIPTypePrice{Location: l.Name, PriceMonthly: c.money(monthly)})
		}
		p.FloatingIPs = append(p.FloatingIPs, t)
	}
	for kind, monthly := range map[string]float64{"ipv4": catalogue.PrimaryIPv4, "ipv6": 0} {
		t := schema.PricingPrimaryIP{Type: kind}
		for _, l := range catalogue.Locations {
			hourly := fakecloud.Price{Monthly: monthly}.Hourly()
			t.Prices = append(t.Prices, schema.PricingPrimaryIPTypePrice{Location: l.Name, PriceHourly: c.money(hourly), PriceMonthly: c.money(monthly)})
		}
		p.PrimaryIPs = append(p.PrimaryIPs, t)
	}
	for _, t := range catalogue.ServerTypes {
		p.ServerTypes = append(p.ServerTypes, schema.PricingServerType{ID: t.ID, Name: t.Name, Prices: c.prices(t.Prices)})
	}
	for k := range catalogue.LoadBalancerTypes {
		t := c.loadBalancerType(&catalogue.LoadBalancerTypes[k])
		p.LoadBalancerTypes = append(p.LoadBalancerTypes, schema.PricingLoadBalancerType{ID: t.ID, Name: t.Name, Prices: t.Prices})
	}
	return http.StatusOK, schema.PricingGetResponse{Pricing: p}, nil
}
