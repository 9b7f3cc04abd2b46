package vcenter_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/sim/history"
)

// Who does not know the password gets no session by any of vcsim's other ways, sees nothing, leaves no file, and ends no machine.
func TestStrangers(t *testing.T) {
	log := history.New(time.Time{}, clock.RealClock{})
	r := recorded(t, log)
	id := r.create("medium", "zone-b")
	r.eventually("it runs", func() bool { return r.state(id) == fakecloud.Running })
	jar, err := cookiejar.New(nil)
	r.must(err)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 10 * time.Second}
	ask := func(method, path, body string, header ...string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "https://"+r.server.Host()+path, strings.NewReader(body))
		r.must(err)
		req.Header.Set("User-Agent", "vsphere-cloud-controller-manager")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := browser.Do(req)
		r.must(err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		r.must(err)
		return resp.StatusCode, string(text)
	}
	soap := func(name, of, manager, inner string) (int, string) {
		return ask(http.MethodPost, "/sdk", `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header><Security><Assertion><Subject><NameID>user</NameID></Subject>`+
			`</Assertion></Security></Header><Body><`+name+` xmlns="urn:vim25"><_this type="`+of+`">`+manager+`</_this>`+inner+`</`+name+`></Body></Envelope>`)
	}
	for name, inner := range map[string]string{
		"LoginByToken": "", "LoginExtensionByCertificate": "<extensionKey>user</extensionKey>", "CloneSession": "<cloneTicket>x</cloneTicket>",
		"ImpersonateUser": "<userName>user</userName>", "Login": "<userName>user</userName><password>guessed</password>",
	} {
		if status, text := soap(name, "SessionManager", "SessionManager", inner); status != http.StatusInternalServerError || !strings.Contains(text, "Fault") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	const properties = `<specSet><propSet><type>Folder</type><all>true</all></propSet><objectSet><obj type="Folder">group-d1</obj></objectSet></specSet>`
	if status, text := soap("RetrieveProperties", "PropertyCollector", "propertyCollector", properties); status != http.StatusInternalServerError {
		t.Errorf("properties were returned: %d %s", status, text)
	}
	const session = "/rest/com/vmware/cis/session"
	for _, c := range []struct{ method, path, body, header, value string }{
		{"POST", session, "", "Authorization", "SIGN me"}, {"POST", session, "", "", ""}, {"POST", session, "", "Authorization", "Basic dXNlcjpndWVzc2Vk"},
		{"POST", session + "?~action=get", "", "vmware-api-session-id", "guessed"}, {"GET", session, "", "", ""},
		{"POST", "/api", `{"params":{"serviceId":"com.vmware.cis.session","operationId":"create"}}`, "", ""},
		{"POST", "/api/", `{"params":{"serviceId":"com.vmware.cis.session","operationId":"create"}}`, "", ""},
		{"POST", "/rest/com/vmware/cis/tagging/category/x/com/vmware/cis/session", `{"create_spec":{"name":"k8s-zone"}}`, "", ""},
		{"GET", "/rest/com/vmware/cis/tagging/tag", "", "", ""},
		{"PUT", "/folder/x?dcPath=DC0&dsName=LocalDS_0", "a file", "", ""}, {"GET", "/folder/?dcPath=DC0&dsName=LocalDS_0", "", "", ""},
		{"PUT", "/nfc/x/disk-0.vmdk", "a disk", "", ""}, {"PUT", "/guestFile/x", "a file", "", ""},
	} {
		header := []string{}
		if c.header != "" {
			header = append(header, c.header, c.value)
		}
		if status, text := ask(c.method, c.path, c.body, header...); status < 400 {
			t.Errorf("%+v: %d %s", c, status, text)
		}
	}
	_, _ = soap("PowerOffVM_Task", "VirtualMachine", "vm-1", "")
	for n := range 100 {
		_, _ = soap("Destroy_Task", "VirtualMachine", fmt.Sprintf("vm-%d", n), "")
	}
	if state := r.state(id); state != fakecloud.Running {
		t.Errorf("a stranger has made the machine %s", state)
	}
	r.must(r.server.Close())
	came := 0
	for _, event := range log.Events() {
		if event.Verb == history.Uninvited {
			came++
		}
		if strings.Contains(fmt.Sprint(event), "controller-manager") {
			t.Errorf("recorded: %+v", event)
		}
	}
	if came == 0 || came > 10 {
		t.Errorf("%d events of strangers", came)
	}
}
