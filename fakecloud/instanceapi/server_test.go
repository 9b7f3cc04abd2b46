package instanceapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/fakecloud/jsonapi"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// rig is a cloud that is served.
type rig struct {
	t     *testing.T
	cloud *fakecloud.Cloud
	log   *history.Log
	url   string
}

func serve(t *testing.T) *rig {
	t.Helper()
	log := history.New(time.Now(), clock.RealClock{})
	cloud, err := fakecloud.New(fakecloud.Config{
		Clock: clock.RealClock{}, Recorder: log, Catalogue: instanceapi.Catalogue(),
		Durations: map[string]time.Duration{"create_server": time.Millisecond, "start_server": time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cloud.Close)
	s, err := instanceapi.API.Serve(t.Context(), jsonapi.Config{Cloud: cloud, Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &rig{t, cloud, log, s.URL()}
}

// call returns the status, zero if there was no answer, and what was answered.
func (r *rig) call(ctx context.Context, method, path, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token")
	req.Header.Set("User-Agent", "tester/1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (r *rig) inject(f fault.Fault) {
	r.t.Helper()
	if err := cloudfault.Check(f, instanceapi.API.Operations()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.cloud.Inject(f); err != nil {
		r.t.Fatal(err)
	}
}

func spec(name, zone, capacityType string) string {
	return `{"name":"` + name + `","type":"c-4x-amd64-linux","zone":"` + zone + `","capacityType":"` + capacityType + `","image":"linux","tags":{"a":"b"},"userData":"x"}`
}

func TestLife(t *testing.T) {
	r := serve(t)
	status, text := r.call(t.Context(), "POST", "/instances", spec("one", "test-zone-a", "spot"))
	var got struct {
		Name, Type, Zone, CapacityType, Image, State string
		Tags                                         map[string]string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 201 {
		t.Fatalf("launching: %d %s (%v)", status, text, err)
	}
	if got.Name != "one" || got.Zone != "test-zone-a" || got.CapacityType != "spot" || got.Image != "linux" || got.State != "creating" ||
		got.Tags["a"] != "b" {
		t.Errorf("launched %+v", got)
	}
	if strings.Contains(text, "userData") {
		t.Errorf("an answer has user data: %s", text)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/instances", spec("one", "test-zone-b", "spot"), 409, "uniqueness_error"},
		{"POST", "/instances", spec("two", "test-zone-z", "spot"), 400, "invalid_input"},
		{"POST", "/instances", spec("two", "test-zone-a", "reserved"), 400, "capacity type"},
		{"POST", "/instances", spec("../two", "test-zone-a", "spot"), 400, "no name of an instance"},
		{"POST", "/instances", strings.Replace(spec("two", "test-zone-a", "spot"), "c-4x", "z-4x", 1), 400, "no instance type"},
		{"POST", "/instances", strings.Replace(spec("two", "test-zone-a", "spot"), `"linux"`, `"dos"`, 1), 400, "no image"},
		{"POST", "/instances", `{"size": 1}`, 400, "size"},
		{"GET", "/instances/one", "", 200, `"one"`},
		{"GET", "/instances", "", 200, `"one"`},
		{"GET", "/instances/two", "", 404, "not_found"},
		{"GET", "/images", "", 200, "linux-next"},
		{"DELETE", "/instances/two", "", 404, "not_found"},
		{"DELETE", "/instances/one", "", 202, "deleting"},
		{"DELETE", "/instances/one", "", 202, "deleting"},
	} {
		if status, text := r.call(t.Context(), c.method, c.path, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %s: %d %s, want %d and %q", c.method, c.path, c.body, status, text, c.status, c.says)
		}
	}
	req, err := http.NewRequest("GET", r.url+"/instances", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "karpenter/1.7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("without the token: %d", resp.StatusCode)
	}
	calls := r.log.Since(0)
	if slices.ContainsFunc(calls, func(c history.Entry) bool { return c.Actor == "karpenter" || c.Code == 401 }) ||
		!slices.ContainsFunc(calls, func(c history.Entry) bool { return c.Verb == history.Uninvited }) {
		t.Errorf("a stranger is not just counted: %v", calls)
	}
	if !slices.ContainsFunc(calls, func(c history.Entry) bool {
		return c.Verb == "LaunchInstance" && c.Actor == "tester" && c.Code == 201 && c.Object.Name == "one" && c.Source == history.Cloud
	}) {
		t.Errorf("no launch in the history: %v", calls)
	}
}

// What costs what, as Karpenter's provider kwok has it.
func TestTypes(t *testing.T) {
	_, text := serve(t).call(t.Context(), "GET", "/types", "")
	var types []struct {
		Name   string
		Offers []struct {
			Zone, CapacityType string
			Price              float64
		}
	}
	if err := json.Unmarshal([]byte(text), &types); err != nil {
		t.Fatal(err)
	}
	if len(types) != 72 {
		t.Errorf("%d types, want 72", len(types))
	}
	for _, kind := range types {
		if kind.Name != "c-4x-amd64-linux" {
			continue
		}
		if len(kind.Offers) != 8 {
			t.Errorf("%d offers, want 2 in each of 4 zones", len(kind.Offers))
		}
		for _, o := range kind.Offers {
			if want := map[string]float64{"on-demand": 0.108589934592,
				"spot": 0.0760129542144}[o.CapacityType]; o.Price < want*0.999999 || o.Price > want*1.000001 {
				t.Errorf("%s in %s costs %v, want %v", o.CapacityType, o.Zone, o.Price, want)
			}
		}
		return
	}
	t.Error("there is no c-4x-amd64-linux")
}

func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault  fault.Fault
		status int
		says   string
		there  bool // the instance, after the call
	}{
		"refused": {fault.Fault{Match: cloudfault.Match{Operation: "LaunchInstance"},
			Effect: cloudfault.Refuse{Code: "resource_limit_exceeded"}}, 403,
			"resource limit exceeded", false},
		"proxy":   {fault.Fault{Effect: cloudfault.Refuse{Status: 502}}, 502, "Bad Gateway", false},
		"another": {fault.Fault{Match: cloudfault.Match{Instance: "two"}, Effect: cloudfault.Refuse{Status: 502}}, 201, "one", true},
		"limited": {fault.Fault{Effect: cloudfault.RateLimit{}}, 429, "rate_limit", false},
		"late":    {fault.Fault{Effect: cloudfault.Delay{By: strict.Duration(time.Millisecond)}}, 201, "one", true},
		"lost":    {fault.Fault{Effect: cloudfault.LoseReply{}}, 0, "", true},
		"denied":  {fault.Fault{Effect: cloudfault.RefuseReply{Code: "server_error"}}, 500, `{"code":"server_error"`, true},
		"altered": {fault.Fault{Effect: cloudfault.AlterReply{Omit: []string{"zone"}}}, 201, `"name":"one"`, true},
		"hang":    {fault.Fault{Effect: cloudfault.Hang{}}, 0, "", false},
		"out":     {fault.Fault{Effect: cloudfault.Unavailable{Type: "c-4x-amd64-linux", Capacity: "spot"}}, 412, "resource_unavailable", false},
		"other":   {fault.Fault{Effect: cloudfault.Unavailable{Type: "c-4x-amd64-linux", Capacity: "on-demand"}}, 201, "one", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t)
			test.fault.Name = name
			r.inject(test.fault)
			ctx := t.Context()
			if name == "hang" { // the client does not wait for ever
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			status, text := r.call(ctx, "POST", "/instances", spec("one", "test-zone-a", "spot"))
			if status != test.status || !strings.Contains(text, test.says) {
				t.Errorf("%d %s, want %d and %q", status, text, test.status, test.says)
			}
			if there := len(r.cloud.Instances()) == 1; there != test.there {
				t.Errorf("the instance is there: %v, want %v", there, test.there)
			}
			if unmet := r.cloud.Unmet(); len(unmet) > 0 != (name == "another" || name == "other") {
				t.Errorf("unmet: %v", unmet)
			}
		})
	}
}

// A listing can be behind.
func TestListing(t *testing.T) {
	r := serve(t)
	r.inject(fault.Fault{Name: "missing", Match: cloudfault.Match{Operation: "DescribeInstances"}, Effect: cloudfault.Missing{}})
	r.call(t.Context(), "POST", "/instances", spec("one", "test-zone-a", "on-demand"))
	if _, text := r.call(t.Context(), "GET", "/instances", ""); text != "[]" {
		t.Errorf("listed %s", text)
	}
	if status, _ := r.call(t.Context(), "GET", "/instances/one", ""); status != 200 {
		t.Errorf("asked for by name: %d", status)
	}
}

// Interruptions are announced until they come true.
func TestInterruptions(t *testing.T) {
	r := serve(t)
	r.inject(fault.Fault{Name: "interrupted", Match: cloudfault.Match{Instance: "one"},
		Effect: cloudfault.Interrupted{Notice: strict.Duration(time.Hour)}})
	r.call(t.Context(), "POST", "/instances", spec("one", "test-zone-a", "spot"))
	r.call(t.Context(), "POST", "/instances", spec("two", "test-zone-a", "spot"))
	var announced []struct {
		Instance struct{ Name, Zone, CapacityType string }
		At       time.Time
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(announced) == 0 { // until it runs
		status, text := r.call(ctx, "GET", "/interruptions", "")
		if status == 0 {
			t.Fatal("nothing is announced")
		}
		if err := json.Unmarshal([]byte(text), &announced); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if a := announced[0]; len(announced) != 1 || a.Instance.Name != "one" || a.Instance.Zone != "test-zone-a" ||
		a.Instance.CapacityType != "spot" || time.Until(a.At) < time.Minute {
		t.Errorf("announced: %+v", announced)
	}
}

func TestCall(t *testing.T) {
	for words, want := range map[string]string{"launch instances": "LaunchInstance", "describe interruptions": "DescribeInterruptions",
		"describe instances": "DescribeInstances", "launch rockets": ""} {
		got, known := instanceapi.API.Call(words)
		if got != want || (want == "") != (len(known) > 0) {
			t.Errorf("%q is %q (known %v), want %q", words, got, known, want)
		}
	}
}
