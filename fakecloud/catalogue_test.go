package fakecloud_test

import (
	"strings"
	"testing"

	"nodestorm/fakecloud"
)

// A type is offered where the cloud is: what it costs elsewhere is left out.
func TestAddType(t *testing.T) {
	of := func(name string, zones ...string) (s fakecloud.ServerType) {
		s = fakecloud.ServerType{Name: name, Cores: 30, MemoryGB: 64}
		for _, zone := range zones {
			s.Prices = append(s.Prices, fakecloud.Price{Location: zone, Monthly: 1})
		}
		return s
	}
	c := fakecloud.Plain()
	both := of("thick", "fsn1", "zone-b", "zone-c")
	if err := c.Add(both); err != nil {
		t.Fatal(err)
	}
	if got := c.ServerType("thick"); got == nil || len(got.Prices) != 2 || got.Prices[0].Location != "zone-b" || len(both.Prices) != 3 {
		t.Errorf("there is %+v, of %+v", got, both)
	}
	for want, wrong := range map[string]fakecloud.ServerType{
		"the cloud has it": of("thick", "zone-a"),
		"small: the cloud": of("small", "zone-a"),
		"thin is offered in no location of this cloud, which has zone-a, zone-b, zone-c": of("thin", "fsn1"),
		"nowhere is offered in no location":                                              of("nowhere"),
	} {
		if err := c.Add(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
