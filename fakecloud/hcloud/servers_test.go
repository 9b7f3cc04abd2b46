package hcloud

import (
	"encoding/json"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// Public addresses are there unless they are refused.
func TestPublicNet(t *testing.T) {
	bubble(t, func(e *env) {
		for name, test := range map[string]struct {
			net        string
			ipv4, ipv6 bool
		}{
			"a": {`null`, true, true}, "b": {`{}`, true, true}, "c": {`{"enable_ipv4":false}`, false, true}, "d": {`{"enable_ipv6":false}`, true, false},
		} {
			status, text := e.raw("POST", "/v1/servers", `{"name":"`+name+`","server_type":"cx22","image":"debian-12","public_net":`+test.net+`}`)
			e.check("status", status, 201)
			var made schema.ServerCreateResponse
			e.ok(json.Unmarshal([]byte(text), &made))
			e.check("IPv4 with public_net "+test.net, made.Server.PublicNet.IPv4.ID != 0, test.ipv4)
			e.check("IPv6 with public_net "+test.net, made.Server.PublicNet.IPv6.ID != 0, test.ipv6)
		}
	})
}
