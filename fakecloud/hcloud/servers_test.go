package hcloud

import (
	"encoding/json"
	"strconv"
	"strings"
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
			"a": {`null`, true, true}, "b": {`{}`, true, true}, "c": {`{"enable_ipv4":false}`, false, true}, "d": {`{"enable_ipv6":false}`, true,
				false},
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

// What a request names twice is refused, and nothing has been done.
func TestRepeats(t *testing.T) {
	h := furnished(t)
	for _, test := range []struct{ path, body string }{
		{"/v1/servers", `{"name":"a","server_type":"cx22","image":"debian-12","networks":[1001,1001]}`},
		{"/v1/servers", `{"name":"a","server_type":"cx22","image":"debian-12","volumes":[1008,1008]}`},
		{"/v1/servers", `{"name":"a","server_type":"cx22","image":"debian-12","firewalls":[{"firewall":1004},{"firewall":1004}]}`},
		{"/v1/servers/ID/actions/attach_to_network", `{"network":1001,"ip":"10.0.0.77","alias_ips":["10.0.0.77"]}`},
		{"/v1/servers/ID/actions/attach_to_network", `{"network":1001,"ip":"10.0.0.77","alias_ips":["10.0.0.78","10.0.0.78"]}`},
		{"/v1/servers/ID/actions/change_alias_ips", `{"network":1001,"alias_ips":["10.0.0.78","10.0.0.78"]}`},
	} {
		name := "off"
		if strings.HasSuffix(test.path, "change_alias_ips") {
			name = "s" // the one in a network
		}
		var list schema.ServerListResponse
		_, body := serve(h, "GET", "/v1/servers?name="+name, "")
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Servers) != 1 {
			t.Fatalf("server %q: %v in %s", name, err, body)
		}
		before := h.Cloud.Generation()
		path := strings.Replace(test.path, "ID", strconv.FormatInt(list.Servers[0].ID, 10), 1)
		if status, reply := serve(h, "POST", path, test.body); status != 422 || !strings.Contains(reply, "invalid_input") {
			t.Errorf("%s with %s: %d %s, want 422 and invalid_input", path, test.body, status, reply)
		}
		if h.Cloud.Generation() != before {
			t.Errorf("%s with %s has changed something", path, test.body)
		}
	}
}
