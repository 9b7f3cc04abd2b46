package fakecloud

import (
	"testing"
	"time"

	"nodestorm/sim/history"
)

// The event of an instance has its price, in the currency of its cloud, and what is billed as a whole.
func TestPrices(t *testing.T) {
	catalogue := Plain()
	catalogue.Currency, catalogue.Billed = "USD", time.Hour
	catalogue.ServerTypes[0].Prices[0].Monthly, catalogue.ServerTypes[0].Prices[0].Spot = 624, 312
	tx := &Tx{c: &Cloud{cfg: Config{Catalogue: catalogue}}}
	for _, test := range []struct {
		instance Instance
		hourly   any
		capacity any
	}{
		{Instance{Type: "tiny", Location: "zone-a"}, 1.0, nil},
		{Instance{Type: "tiny", Location: "zone-a", Spot: true}, 0.5, "spot"},
		{Instance{Type: "tiny", Location: "nowhere"}, nil, nil},
		{Instance{Type: "odd", Location: "zone-a"}, nil, nil},
	} {
		detail := history.Detail{}
		tx.recordPrice(&test.instance, detail)
		if detail["hourly"] != test.hourly || detail["capacity"] != test.capacity {
			t.Errorf("%+v: %v", test.instance, detail)
		}
		if test.hourly != nil && (detail["currency"] != "USD" || detail["billedSeconds"] != int64(3600)) {
			t.Errorf("%+v: %v", test.instance, detail)
		}
	}
}
