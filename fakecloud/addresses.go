package fakecloud

import "net/netip"

// addresses are those that things in networks have, by the networks' IDs. To look through all instances for them, at each
// launch, would make a launch take longer the more there are.
type addresses map[int64]map[netip.Addr]bool

// replace notes that some places are left, and others taken.
func (a addresses) replace(left, taken []Attachment) {
	for _, place := range left {
		for _, ip := range addressesOf(place) {
			delete(a[place.Network], ip)
		}
	}
	for _, place := range taken {
		if a[place.Network] == nil {
			a[place.Network] = map[netip.Addr]bool{}
		}
		for _, ip := range addressesOf(place) {
			a[place.Network][ip] = true
		}
	}
}

// addressesOf are those of a place.
func addressesOf(place Attachment) []netip.Addr {
	return append([]netip.Addr{place.IP}, place.AliasIPs...)
}

func placesOf(i *Instance) []Attachment {
	if i == nil {
		return nil
	}
	return i.Networks
}

func placesOfBalancer(lb *LoadBalancer) []Attachment {
	if lb == nil {
		return nil
	}
	return lb.Networks
}
