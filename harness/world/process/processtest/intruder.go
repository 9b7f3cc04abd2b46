package processtest

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// intruder is in all that an intruder writes, and stands for the name of any program.
const intruder = "intruder"

// writes are what a stranger without credentials sends to be in a history, or to change what there is: requests up to their headers,
// and bodies.
var writes = [][2]string{
	{"GET / HTTP/1.1\r\nHost: " + foreign + "\r\nOrigin: http://" + foreign}, // a page of another site
	{"CONNECT " + intruder + ".example:443 HTTP/1.1\r\nHost: " + intruder + ".example:443"},
	{"GET http://" + intruder + ".example/ HTTP/1.1\r\nHost: " + intruder + ".example"},
	{"POST /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json",
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + intruder + `"}}`},
	{"POST /api/v1/namespaces/default/pods/" + intruder + "/eviction HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json",
		`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + intruder + `"}}`},
	{"PATCH /api/v1/nodes/" + intruder + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/merge-patch+json", `{}`},
	{"PUT /api/v1/nodes/" + intruder + "/status HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", `{}`},
	{"DELETE /api/v1/nodes HTTP/1.1\r\nHost: localhost"},
	{"INTRUDE /api/v1/nodes/" + intruder + " HTTP/1.1\r\nHost: localhost"},
	{"POST /v1/servers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", `{"name":"` + intruder + `"}`},
	{"POST /instances HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", `{"name":"` + intruder + `"}`},
	{"POST /sdk HTTP/1.1\r\nHost: localhost", `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header><Security><Assertion>` +
		`<Subject><NameID>` + intruder + `</NameID></Subject></Assertion></Security></Header><Body><LoginByToken xmlns="urn:vim25">` +
		`<_this type="SessionManager">SessionManager</_this></LoginByToken></Body></Envelope>`},
	{"POST /rest/com/vmware/cis/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: SIGN " + intruder},
	{"PUT /folder/" + intruder + "?dcPath=DC0&dsName=LocalDS_0 HTTP/1.1\r\nHost: localhost", intruder},
	{"POST /exec/default/" + intruder + "/a?command=true HTTP/1.1\r\nHost: localhost"}, // kubelets
	{"POST /events HTTP/1.1\r\nHost: localhost", intruder},
}

// guesses are headers by which one could pass for a user.
var guesses = []string{
	"", "\r\nAuthorization: Bearer " + intruder, "\r\nAuthorization: Basic dXNlcjppbnRydWRlcg==",
	"\r\nProxy-Authorization: Basic d29ybGQ6aW50cnVkZXI=", "\r\nX-Remote-User: system:admin\r\nX-Remote-Group: system:masters",
}

// Intrude writes without credentials to all that listens, of the programs of the worlds in dir and of this process: in
// HTTP, in TLS, and in TLS with a certificate of their own. None of it may succeed. What the history has of it CheckIntruded looks at.
func Intrude(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	certificate, err := unknown()
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, p := range append(ProcessesUnder(dir), Process{PID: os.Getpid()}) {
		addresses, err := Listening(p.PID)
		if err != nil {
			t.Error(err)
		}
		for _, address := range addresses {
			for _, config := range []*tls.Config{
				nil, {InsecureSkipVerify: true}, {InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}},
			} {
				answered += intrude(ctx, t, p, address, config)
			}
		}
	}
	if ctx.Err() != nil || answered < 100 {
		t.Errorf("%d requests were answered, %v", answered, context.Cause(ctx))
	}
}

// intrude writes by one way to one address.
func intrude(ctx context.Context, t *testing.T, p Process, address netip.AddrPort, config *tls.Config) (answered int) {
	t.Helper()
	for _, write := range writes {
		for _, guess := range guesses {
			head := fmt.Sprintf("%s\r\nUser-Agent: %s/1.0%s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", write[0], intruder, guess,
				len(write[1]))
			resp, err := send(ctx, address, config, head+write[1])
			if err != nil {
				continue
			}
			answered++
			if resp < 300 && !strings.HasPrefix(write[0], "GET / ") {
				program, _, _ := strings.Cut(p.Command, " ")
				t.Errorf("%q at %s lets an intruder: %d to %q", program, address, resp, head)
			}
		}
	}
	return answered
}

// send returns the status of what is answered to a request.
func send(ctx context.Context, address netip.AddrPort, config *tls.Config, request string) (status int, err error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address.String())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if config != nil {
		conn = tls.Client(conn, config)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// CheckIntruded looks through what a history has since an Intrude began, of which a few counts are to be there and nothing else.
func CheckIntruded(t *testing.T, events []history.Entry) {
	t.Helper()
	counted := map[string]int{}
	for _, r := range events {
		if r.Source == history.Harness && r.Verb == history.Uninvited {
			counted[r.Object.Name]++
		}
		if r.Actor == "anonymous" || r.Source == history.Harness && r.Verb == history.Unreadable || strings.Contains(fmt.Sprint(r), intruder) {
			t.Errorf("an intruder has written: %+v", r)
		}
	}
	if len(counted) == 0 {
		t.Error("intruders are not counted")
	}
	for where, events := range counted {
		if events > 20 {
			t.Errorf("intruders have %d events at %s", events, where)
		}
	}
}
