package account

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Sizes of networks, in bits of their prefixes ("VPC CIDR blocks": a /16 to a /28).
const largest, smallest = 16, 28

// most is how many of each kind of resource a file may have.
const most = 1000

// parsed is a range of the size that AWS has, written as it begins.
func parsed(field, text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil || !p.Addr().Is4() || p.Masked() != p || p.Bits() < largest || p.Bits() > smallest {
		return p, fmt.Errorf("%s %q: want a range of IPv4 addresses from its first one, of /%d to /%d", field, text, largest, smallest)
	}
	return p, nil
}

// checkID finds what is wrong with an ID that a resource is to have.
func checkID(prefix, id string) error {
	if id != "" && !regexp.MustCompile(`^`+prefix+`-([0-9a-f]{8}|[0-9a-f]{17})$`).MatchString(id) {
		return fmt.Errorf("id %q: want %s- and 8 or 17 hexadecimal digits, or none, which has one be drawn", id, prefix)
	}
	return nil
}

// checkTags finds what is wrong with tags ("Tag your Amazon EC2 resources": 50 of up to 128 and 256 characters).
func checkTags(tags map[string]string) error {
	if len(tags) > 50 {
		return fmt.Errorf("it has %d tags: want 50 at most", len(tags))
	}
	for key, value := range tags {
		if key == "" || utf8.RuneCountInString(key) > 128 || utf8.RuneCountInString(value) > 256 {
			return fmt.Errorf("tag %.40q: want a key of 1 to 128 and a value of up to 256 characters", key)
		}
	}
	return nil
}

// first is the first of some errors.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Account) checkNetwork() error {
	of, err := parsed("vpc.range", a.VPC.Range)
	if err != nil {
		return err
	}
	if err := first(checkID("vpc", a.VPC.ID), checkTags(a.VPC.Tags)); err != nil {
		return fmt.Errorf("vpc: %w", err)
	}
	if len(a.Subnets) > most {
		return fmt.Errorf("subnets: there are %d, want %d at most", len(a.Subnets), most)
	}
	if a.Subnets == nil && len(a.Zones) > 1<<defaultBits {
		return fmt.Errorf("zones: there are %d, and a subnet in each has no room: say subnets", len(a.Zones))
	}
	if a.Subnets == nil && of.Bits()+defaultBits > smallest {
		return fmt.Errorf("vpc.range %q has no room for a subnet in each zone: say subnets, or a range of /%d at most", a.VPC.Range,
			smallest-defaultBits)
	}
	seen, ranges := map[string]bool{}, map[netip.Prefix]string{}
	for k, s := range a.Subnets {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("subnet %d (%q): %w", k+1, s.Name, fmt.Errorf(format, args...))
		}
		at, err := parsed("range", s.Range)
		if err = first(checkID("subnet", s.ID), err, checkTags(s.Tags)); err != nil {
			return wrong("%w", err)
		}
		switch {
		case s.Name == "" || len(s.Name) > 255:
			return wrong("want a name of 1 to 255 characters")
		case seen[s.Name], s.ID != "" && seen[s.ID]:
			return wrong("its name or ID is there twice")
		case !slices.Contains(a.Zones, s.Zone):
			return wrong("there is no zone %q: there are %q", s.Zone, a.Zones)
		case !of.Contains(at.Addr()) || at.Bits() < of.Bits():
			return wrong("its range %s is not in the VPC's, %s", at, of)
		}
		for other, name := range ranges {
			if other.Overlaps(at) {
				return wrong("its range %s has addresses of the subnet %q, whose is %s", at, name, other)
			}
		}
		seen[s.Name], seen[s.ID], ranges[at] = true, true, s.Name
	}
	return nil
}

func (a *Account) checkGroups() error {
	if len(a.SecurityGroups) > most {
		return fmt.Errorf("securityGroups: there are %d, want %d at most", len(a.SecurityGroups), most)
	}
	seen := map[string]bool{}
	for k, g := range a.SecurityGroups {
		err := first(checkID("sg", g.ID), checkTags(g.Tags))
		switch {
		case err != nil:
		case g.Name == "" || len(g.Name) > 255:
			err = fmt.Errorf("want a name of 1 to 255 characters")
		case seen[g.Name], g.ID != "" && seen[g.ID]:
			err = fmt.Errorf("its name or ID is there twice")
		}
		if err != nil {
			return fmt.Errorf("security group %d (%q): %w", k+1, g.Name, err)
		}
		seen[g.Name], seen[g.ID] = true, true
	}
	return nil
}

// defaultBits are how many the ranges of subnets have beyond the VPC's, where there is one in each zone.
const defaultBits = 3

// slice is the k-th range of that size in another.
func slice(of netip.Prefix, k int) netip.Prefix {
	at := of.Addr().As4()
	bits := of.Bits() + defaultBits
	n := binary.BigEndian.Uint32(at[:]) + uint32(k)<<(32-bits)
	binary.BigEndian.PutUint32(at[:], n)
	return netip.PrefixFrom(netip.AddrFrom4(at), bits)
}
