package fakecloud

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud/table"
)

// What is noted of addresses is what things in networks have, whatever becomes of them.
func TestAddresses(t *testing.T) {
	c, err := New(Config{Clock: testclock.NewFakeClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ip := func(last byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, last}) }
	place := func(network int64, last byte, aliases ...netip.Addr) []Attachment {
		return []Attachment{{Network: network, IP: ip(last), AliasIPs: aliases}}
	}
	_ = c.Update(func(tx *Tx) error {
		for what, do := range map[string][]func(){
			"an instance": {
				func() { tx.Instances.Put(Instance{Meta: table.Meta{ID: 1, Name: "a"}, Networks: place(7, 3)}) },
				func() {
					tx.Instances.Put(Instance{Meta: table.Meta{ID: 1, Name: "a"}, Networks: place(7, 4, ip(8), ip(9))})
				},
				func() {
					tx.Instances.Update(1, func(i *Instance) { i.Networks = append(place(7, 4, ip(8)), place(6, 4)...) })
				},
				func() { tx.Instances.Update(1, func(i *Instance) { i.Name = "b" }) },
				func() { tx.Instances.Update(1, func(i *Instance) { i.Networks = nil }) },
				func() { tx.Instances.Update(1, func(i *Instance) { i.Networks = place(7, 5) }) },
				func() { tx.Instances.Delete(1) },
			},
			"a load balancer": {
				func() { tx.LoadBalancers.Put(LoadBalancer{Meta: table.Meta{ID: 2, Name: "a"}, Networks: place(7, 3)}) },
				func() { tx.LoadBalancers.Delete(2) },
			},
		} {
			for k, step := range do {
				step()
				for _, network := range []int64{6, 7} {
					want := map[netip.Addr]bool{}
					for _, a := range tx.AttachedTo(network) {
						want[a.IP] = true
						for _, alias := range a.AliasIPs {
							want[alias] = true
						}
					}
					if got := tx.taken(network); !maps.Equal(got, want) {
						t.Errorf("%s, step %d, network %d: got %v, want %v", what, k+1, network, got, want)
					}
				}
			}
		}
		return nil
	})
}
