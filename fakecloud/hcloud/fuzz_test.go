package hcloud

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
)

var realClock = clock.RealClock{}

// furnished is a handler whose cloud has one of everything, until the test ends. IDs begin at 1001.
func furnished(t testing.TB) *rest.Handler {
	t.Helper()
	h := furnish(t)
	t.Cleanup(h.Cloud.Close)
	return h
}

// furnish is furnished without an end: the cloud is to be closed.
func furnish(t testing.TB) *rest.Handler {
	t.Helper()
	durations := fakecloud.DefaultDurations()
	for command := range durations {
		durations[command] = 0
	}
	cloud, err := fakecloud.New(fakecloud.Config{Clock: realClock, Durations: durations})
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHandler(Config{Cloud: cloud, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{
		{"networks", `{"name":"n","ip_range":"10.0.0.0/8","subnets":[{"type":"cloud","network_zone":"eu-central","ip_range":"10.0.0.0/24"}],"routes":[{"destination":"10.1.0.0/24","gateway":"10.0.0.2"}]}`},
		{"placement_groups", `{"name":"g","type":"spread"}`},
		{"ssh_keys", `{"name":"k","public_key":"ssh-ed25519 AAAA"}`},
		{"firewalls", `{"name":"f","apply_to":[{"type":"label_selector","label_selector":{"selector":"a=b"}}]}`},
		{"certificates", `{"name":"c","type":"managed","domain_names":["a.example"]}`},
		{"primary_ips", `{"name":"p","type":"ipv4","location":"fsn1"}`},
		{"floating_ips", `{"name":"i","type":"ipv6","home_location":"fsn1"}`},
		{"volumes", `{"name":"v","size":10,"location":"fsn1"}`},
		{"servers", `{"name":"s","server_type":"cx22","image":"debian-12","networks":[1001],"labels":{"a":"b"},"placement_group":1002}`},
		{"servers", `{"name":"off","server_type":"cx22","image":"debian-12","start_after_create":false}`},
		{"load_balancers", `{"name":"l","load_balancer_type":"lb11","location":"fsn1","network":1001,"services":[{"protocol":"http"}],"targets":[{"type":"label_selector","label_selector":{"selector":"a"}}]}`},
	} {
		if status, body := serve(h, "POST", "/v1/"+call[0], call[1]); status != 201 {
			t.Fatalf("creating %s: %d %s", call[0], status, body)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		_, body := serve(h, "GET", "/v1/servers?name=s", "")
		if strings.Contains(body, `"status":"running"`) {
			return h
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not run: %s", body)
		}
	}
}

func serve(h *rest.Handler, method, target, body string) (int, string) {
	r := httptest.NewRequest(method, "/v1", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Requests that ask for trouble, and some that are good.
var (
	badBodies = []string{
		"", "{", "null", "[]", `"x"`, "1", "{}{}", `{"name":1}`, `{"name":null,"labels":[]}`, `{"labels":{"a b":"c"}}`, `{"id":-1}`,
		`{"ip":"::"}`,
		`{"name":"x","server_type":"cx22","image":"debian-12","networks":[1001],"ssh_keys":["k"],"firewalls":[{"firewall":1004}],"volumes":[1008]}`,
		`{"name":"y","server_type":104,"image":114690387,"public_net":{"enable_ipv4":false,"ipv4":1006},"start_after_create":false}`,
		`{"server_type":"cpx51","upgrade_disk":true}`, `{"image":"ubuntu-24.04"}`, `{"iso":8637}`,
		`{"network":1001,"ip":"10.0.0.77","alias_ips":["10.0.0.78",null]}`,
		`{"network":1001,"alias_ips":[]}`, `{"delete":true,"rebuild":true}`, `{"ip_range":"0.0.0.0/0"}`, `{"ip_range":"10.0.0.0/8"}`,
		`{"type":"cloud","network_zone":"eu-central"}`,
		`{"destination":"10.9.0.0/16","gateway":"10.0.0.9"}`, `{"type":"server","server":{"id":1009},"use_private_ip":true}`,
		`{"type":"ip","ip":{"ip":"192.0.2.1"}}`,
		`{"protocol":"https","http":{"certificates":[1005]}}`, `{"listen_port":80,"destination_port":70000}`,
		`{"listen_port":80,"http":{"timeout_idle":1}}`,
		`{"apply_to":[{"type":"server","server":{"id":1009}}]}`, `{"remove_from":[{"type":"server"}]}`,
		`{"rules":[{"direction":"in","protocol":"tcp","port":"80","source_ips":["::/0"]}]}`,
		`{"size":100000000000000000000}`, `{"size":20}`, `{"server":1010}`, `{"assignee_id":1010,"assignee_type":"server"}`,
		`{"ip":"198.18.0.1","dns_ptr":null}`,
		`{"placement_group":1002}`, `{"type":"backup","labels":{"a":"b"}}`,
		`{"name":"c2","certificate":"-----BEGIN CERTIFICATE-----","private_key":"x"}`, strings.Repeat("[", 10_000),
	}
	badQueries = []string{
		"", "?page=0", "?page=16777216&per_page=16777216", "?per_page=-1", "?sort=name:desc&sort=id", "?sort=x",
		"?label_selector=a+in+(b,c),!d", "?label_selector=((", "?name=%00",
		"?id=1001&id=x", "?id=1001&id=1002", "?type=cpu&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z", "?start=x", "?%zz=1",
		"?status=running&status=off",
	}
	badIDs = []string{"1009", "1001", "0", "-1", "99999999999999999999", "..", "%2e%2e", "actions", ""}
)

// answered checks that a handler answers every request with an error of the API's, or does what it
// says: no panic, no 500, nothing but JSON.
func answered(t *testing.T, h *rest.Handler, op, id, query, body string) {
	method, path, _ := strings.Cut(op, " ")
	path = strings.NewReplacer("{id}", id, "{action}", id).Replace(path)
	status, reply := serve(h, method, rest.Prefix+path+query, body)
	if status >= 500 || status == 0 {
		t.Errorf("%s %s%s with %q: %d %s", method, path, query, body, status, reply)
	}
	if reply != "" && !json.Valid([]byte(reply)) {
		t.Errorf("%s %s%s with %q: no JSON: %s", method, path, query, body, reply)
	}
	if method == "GET" || status >= 400 {
		return
	}
	// Whatever has been done, the project can be shown.
	for _, list := range []string{"/servers", "/networks", "/load_balancers", "/firewalls"} {
		if status, reply := serve(h, "GET", rest.Prefix+list, ""); status != 200 {
			t.Errorf("after %s %s%s with %q: GET %s: %d %s", method, path, query, body, list, status, reply)
		}
	}
}

func TestTrouble(t *testing.T) {
	for _, op := range operations() {
		h := furnished(t)
		for k := range max(len(badBodies), len(badQueries)) {
			for _, id := range []string{"1009", "1001", badIDs[k%len(badIDs)]} {
				answered(t, h, op.Name, id, badQueries[k%len(badQueries)], badBodies[k%len(badBodies)])
			}
		}
	}
}

func FuzzHandler(f *testing.F) {
	ops := operations()
	for n := range max(len(ops), len(badBodies)) {
		f.Add(uint16(n), badIDs[n%2], badQueries[n%len(badQueries)], badBodies[n%len(badBodies)])
	}
	h := furnish(f)
	f.Cleanup(func() { h.Cloud.Close() })
	rounds := 0
	f.Fuzz(func(t *testing.T, op uint16, id, query, body string) {
		if rounds++; rounds%500 == 0 { // or the cloud grows without end
			h.Cloud.Close()
			h = furnish(t)
		}
		answered(t, h, ops[int(op)%len(ops)].Name, id, query, body)
	})
}

// Any method and any path get an answer.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"/", "/v1", "/v1/", "/v1//servers", "/v1/servers/", "/v1/../v1/servers", "/v1/servers/1009/actions/",
		"/v1/servers/actions/actions", "\x00", "/v1/servers/\xff", "*"} {
		f.Add("GET", path)
		f.Add("PATCH", path)
	}
	h := furnished(f)
	f.Fuzz(func(t *testing.T, method, path string) {
		if strings.ContainsAny(method, " \t\r\n") || method == "" || strings.ContainsFunc(method,
			func(r rune) bool { return r < 'A' || r > 'Z' }) {
			t.Skip() // net/http refuses it before us
		}
		if status, reply := serve(h, method, path, ""); status >= 500 || reply != "" && !json.Valid([]byte(reply)) {
			t.Errorf("%s %q: %d %s", method, path, status, reply)
		}
	})
}

// A selector that is taken selects the same when it is read again, and never panics.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{"", "a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b)", "a/b=c,d", "a=b,,", "(", "a in (",
		"a=b)c,d", "hcloud/node-group=pool1", ","} {
		f.Add(text, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		s, err := rest.ParseSelector(text)
		if err != nil {
			return
		}
		s.Matches(map[string]string{key: value})
		if len(s) == 1 && s[0].Values != nil && s.Matches(map[string]string{}) != s[0].Not {
			t.Errorf("%q: a label that is not there is selected %v", text, !s[0].Not)
		}
	})
}

func TestSelector(t *testing.T) {
	labels := map[string]string{"env": "prod", "hcloud/node-group": "pool1", "empty": ""}
	for text, want := range map[string]bool{
		"": true, "env": true, "!env": false, "none": false, "!none": true, "env=prod": true, "env==prod": true, "env!=prod": false,
		"none!=x": true, "none=x": false,
		"env in (dev,prod)": true, "env in (dev)": false, "env notin (dev)": true, "env notin (prod)": false, "none notin (x)": true,
		"none in (x)":                      false,
		"env=prod,hcloud/node-group=pool1": true, "env=prod,hcloud/node-group=pool2": false, "empty=": true, " env = prod , !none ": true,
	} {
		s, err := rest.ParseSelector(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.Matches(labels); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{",", "a b", "=x", "a=b c", "a in b", "a in (b", "-a", "a=(b)"} {
		if s, err := rest.ParseSelector(text); err == nil {
			t.Errorf("%q is taken as %v, want an error", text, s)
		}
	}
}

// Bodies that are too large are refused before anything is done.
func TestHugeBody(t *testing.T) {
	h := furnished(t)
	if status, _ := serve(h, "POST", "/v1/servers", `{"name":"`+strings.Repeat("x", 2<<20)+`"}`); status != 413 {
		t.Errorf("got %d, want 413", status)
	}
}
