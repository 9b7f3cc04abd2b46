package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/wire/wiretest"
	"nodestorm/fakecloud/statefile"
)

func TestCloudRefuses(t *testing.T) {
	t.Setenv("HCLOUD_TOKEN", "")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, empty := write("token", "x\n"), write("empty", "")
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"no token", nil, []string{"HCLOUD_TOKEN", "--token-file"}},
		{"no such token file", []string{"--token-file", "nothing"}, []string{"--token-file", "no such file"}},
		{"two tokens", []string{"--token-file", write("two", "secret-a secret-b")}, []string{"two", "want one word"}},
		{"all addresses", []string{"--token-file", good, "--listen", "0.0.0.0:0"}, []string{"--listen 0.0.0.0:0", "loopback", "--everywhere"}},
		{"unknown operation", []string{"--check", "--faults", write("op", "faults: [{name: a, match: {operation: GET /pods}, hang: {}}]")}, []string{"op", `fault "a"`, "match.operation", "GET /servers"}},
		{"unknown field", []string{"--check", "--faults", write("field", "faults: [{name: a, limits: 1, hang: {}}]")}, []string{"field", "limits", "limit"}},
		{"no effect", []string{"--check", "--faults", write("none", "faults: [{name: a}]")}, []string{"none", `fault "a"`, "loseReply"}},
		{"wrong duration", []string{"--check", "--faults", write("time", "faults: [{name: a, for: 10, hang: {}}]")}, []string{"time", "duration"}},
		{"empty state", []string{"--check", "--state", empty}, []string{"empty"}},
		{"corrupt state", []string{"--check", "--state", write("state", `{"Version":1,"Instances":[`)}, []string{"state", "no state of a fake cloud", "move it away"}},
		{"no folder", []string{"--check", "--state", filepath.Join(dir, "x", "state")}, []string{"no folder"}},
		{"rate limit", []string{"--token-file", good, "--rate-limit", "-1"}, []string{"--rate-limit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if status := Run(t.Context(), append([]string{"cloud", "hcloud"}, test.args...), &stdout, &stderr); status != Usage {
				t.Errorf("status %d", status)
			}
			for _, text := range test.want {
				if !strings.Contains(stderr.String(), text) {
					t.Errorf("%q, want %q in it", stderr.String(), text)
				}
			}
			if strings.Count(stderr.String(), "\n") != 1 || strings.Contains(stderr.String(), "secret") {
				t.Errorf("not one line without secrets: %q", stderr.String())
			}
		})
	}
}

// Wrong files of a cloud of node groups, each reported in a sentence.
func TestWrongNodeGroups(t *testing.T) {
	dir := t.TempDir()
	hetzner, err := fakecloud.New(fakecloud.Config{Clock: clock.RealClock{}, Seed: 1, Catalogue: fakecloud.Hetzner()})
	if err != nil {
		t.Fatal(err)
	}
	defer hetzner.Close()
	anothers := filepath.Join(dir, "hetzner.json")
	if err := statefile.Save(hetzner, anothers); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ flag, text, want string }{
		"min above max":     {"--groups", "groups: [{name: a, min: 5, max: 2}]", "from 5 to 2 instances"},
		"no name of a host": {"--groups", "groups: [{name: A_b, max: 2}]", `group "A_b": want a name of 1 to 52 small letters`},
		"no such type":      {"--groups", "groups: [{name: a, max: 2, type: none}]", `there is no instance type "none"`},
		"no such zone":      {"--groups", "groups: [{name: a, max: 2, zone: none}]", `not offered in "none"`},
		"target above max":  {"--groups", "groups: [{name: a, max: 2, target: 7}]", "a target of 7 is above its maximum of 2"},
		"too many":          {"--groups", "groups: [{name: a, max: 2000000000, target: 2000000000}]", "want 0 to 100000"},
		"twice":             {"--groups", "groups: [{name: a, max: 2}, {name: a, max: 3}]", `group "a" is there twice`},
		"wrong taint":       {"--groups", "groups: [{name: a, max: 2, taints: [x]}]", `taint "x"`},
		"wrong label":       {"--groups", "groups: [{name: a, max: 2, labels: {x: y z}}]", `group "a": labels`},
		"wrong option":      {"--groups", "groups: [{name: a, max: 2, options: {x: 5m}}]", `there is no option "x"`},
		"another's state":   {"--state", "", "the state of another cloud"},
		"unknown call":      {"--faults", "faults: [{name: x, match: {operation: NodeGroupFoo}, hang: {}}]", `"NodeGroupFoo" fits nothing`},
		"unknown fault":     {"--faults", "faults: [{name: x, explode: {}}]", "explode"},
		"unknown code":      {"--faults", "faults: [{name: x, refuse: {code: sorry}}]", `"sorry" is no code of gRPC`},
	} {
		file := filepath.Join(dir, "file")
		if test.text == "" {
			file = anothers
		} else if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr strings.Builder
		if status := Run(t.Context(), []string{"cloud", "externalgrpc", "--check", test.flag, file}, &stdout, &stderr); status != Usage {
			t.Errorf("%s: status %d", name, status)
		}
		if !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %q, want a line with %q", name, stderr.String(), test.want)
		}
	}
}

// Wrong files of AWS, each reported in a line that names the file, and a port that is taken.
func TestWrongAccounts(t *testing.T) {
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for name, test := range map[string]struct{ flag, text, want string }{
		"a subnet of no zone":      {"--state", "subnets: [{name: a, zone: us-west-2x, range: 10.0.0.0/24}]", `there is no zone "us-west-2x"`},
		"no such type":             {"--state", "types: [m5.huge]", `type "m5.huge" does not exist`},
		"no such field":            {"--state", "subnet: []", `did you mean "subnets"?`},
		"a saved project":          {"--state", `{"Version":1,"ID":1000}`, "unknown field"},
		"unknown call":             {"--faults", "faults: [{name: x, match: {operation: POST /servers}, hang: {}}]", `"POST /servers" fits nothing`},
		"a port that is taken":     {"--port", "", "127.0.0.1:" + port + " is taken by another program"},
		"a port beside an address": {"--listen", "", "--port and --listen both say"},
	} {
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"cloud", "aws", "--check", test.flag, file}
		switch test.flag {
		case "--port":
			args = []string{"cloud", "aws", "--port", port}
		case "--listen":
			args = []string{"cloud", "aws", "--port", port, "--listen", "127.0.0.1:0"}
		}
		var stdout, stderr strings.Builder
		if status := Run(t.Context(), args, &stdout, &stderr); status != Usage {
			t.Errorf("%s: status %d", name, status)
		}
		if !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %q, want a line with %q", name, stderr.String(), test.want)
		}
	}
}

// AWS is served with a key of the run's, and refuses who has another. Its secret is in no history.
func TestCloudServesAWS(t *testing.T) {
	dir := t.TempDir()
	state, record := filepath.Join(dir, "account.yaml"), filepath.Join(dir, "history.ndjson")
	if err := os.WriteFile(state, []byte("region: eu-west-1\naccount: \"210987654321\""), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr lockedBuilder
	status := make(chan int, 1)
	go func() {
		status <- Run(ctx, []string{"cloud", "aws", "--json", "--port", "0", "--state", state, "--history", record}, &stdout, &stderr)
	}()
	var up struct {
		Endpoint    string
		Environment map[string]string
	}
	for json.Unmarshal([]byte(stdout.String()), &up) != nil {
		select {
		case got := <-status:
			t.Fatalf("status %d: %s", got, stderr.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	secret := up.Environment["AWS_SECRET_ACCESS_KEY"]
	ask := func(secret string) (int, string) {
		const body = "Action=GetCallerIdentity&Version=2011-06-15"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, up.Environment["AWS_ENDPOINT_URL"]+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		wiretest.Sign(r, body, up.Environment["AWS_ACCESS_KEY_ID"], secret, "sts", up.Environment["AWS_REGION"], time.Now())
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(text)
	}
	if code, text := ask(secret); code != http.StatusOK || !strings.Contains(text, "<Account>210987654321</Account>") {
		t.Errorf("%d %s", code, text)
	}
	if code, text := ask("another"); code != http.StatusForbidden || !strings.Contains(text, "SignatureDoesNotMatch") {
		t.Errorf("with another secret: %d %s", code, text)
	}
	cancel()
	if got := <-status; got != AsExpected {
		t.Errorf("status %d: %s", got, stderr.String())
	}
	history, err := os.ReadFile(record)
	if err != nil || strings.Count(string(history), "GetCallerIdentity") != 1 || strings.Contains(string(history), secret) || len(secret) < 30 {
		t.Errorf("the history is %s, %v", history, err)
	}
}

// The project outlives the command, and a fault that made no difference is reported.
func TestCloudServes(t *testing.T) {
	t.Setenv("HCLOUD_TOKEN", "x")
	dir := t.TempDir()
	state, record := filepath.Join(dir, "project.json"), filepath.Join(dir, "history.ndjson")
	serve := func(use func(*api.Client), args ...string) (int, string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stdout, stderr lockedBuilder
		status := make(chan int)
		go func() {
			status <- Run(ctx, append([]string{"cloud", "hcloud", "--json", "--state", state}, args...), &stdout, &stderr)
		}()
		var up struct{ Endpoint string }
		for json.Unmarshal([]byte(stdout.String()), &up) != nil {
			select {
			case got := <-status:
				t.Fatalf("status %d: %s", got, stderr.String())
			case <-time.After(10 * time.Millisecond):
			}
		}
		use(api.NewClient(api.WithEndpoint(up.Endpoint), api.WithToken("x")))
		cancel()
		return <-status, stderr.String()
	}
	status, text := serve(func(c *api.Client) {
		if _, _, err := c.PlacementGroup.Create(t.Context(), api.PlacementGroupCreateOpts{Name: "g", Type: api.PlacementGroupTypeSpread}); err != nil {
			t.Fatal(err)
		}
	}, "--history", record)
	if status != AsExpected || text != "" {
		t.Errorf("status %d: %s", status, text)
	}
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), "POST /placement_groups") {
		t.Errorf("the history lacks the call: %v", err)
	}
	faults := filepath.Join(dir, "faults.yaml")
	if err := os.WriteFile(faults, []byte("faults:\n- {name: never, match: {operation: DELETE /servers/*}, hang: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, text = serve(func(c *api.Client) {
		if g, _, err := c.PlacementGroup.GetByName(t.Context(), "g"); g == nil || err != nil {
			t.Errorf("the placement group is gone: %v", err)
		}
	}, "--faults", faults)
	if status != Inconclusive || !strings.Contains(text, `"never" made no difference`) {
		t.Errorf("status %d: %s", status, text)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%d files are left, want 3: %v", len(left), err)
	}
}

// lockedBuilder is a strings.Builder for two goroutines.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
