package apifault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/fault"
)

// StaleList answers lists with what was there when the rule became active: the API
// server is asked for that resource version. Its etcd forgets it after 5 to 10
// minutes and then answers 410. Clients that list by watching (sendInitialEvents)
// send no list.
type StaleList struct{}

var _ = lists.Add("staleList", StaleList{}, fault.Say("gets a list that is frozen from the start of the fault")).Called("stale list")

// Check implements fault.Checker.
func (StaleList) Check(f fault.Fault) error { return onlyVerbs(f, "staleList", "list") }

func (StaleList) asksItself() {}

func (StaleList) before(c *call, _ http.ResponseWriter) (goesOn bool) {
	c.askForThePast()
	return true
}

func (StaleList) after(c *call, _ *armed, resp *http.Response) { c.compare(resp) }

// frozenList is what a StaleList serves. Its fields are valid once known is closed.
type frozenList struct {
	known   chan struct{}
	version string // resource version
	err     error
}

// answerWithin is how long the API server may take to return its newest resource version.
const answerWithin = 10 * time.Second

// ask asks for the newest resource version. All resources have one etcd,
// and so one count of versions.
func (StaleList) ask(p *Proxy, a *armed) {
	defer close(a.past.known)
	ctx, cancel := context.WithTimeout(p.ctx, answerWithin)
	defer cancel()
	list, err := p.metadata(ctx, "/api/v1/namespaces", url.Values{"limit": {"1"}})
	a.past.version = list.ResourceVersion
	if err != nil {
		a.past.err = fmt.Errorf("asking for the newest resource version: %w", err)
	}
}

// askForThePast makes a list one of the resource version from when the rule
// became active.
func (c *call) askForThePast() {
	select {
	case <-c.rule.past.known:
	case <-c.req.Context().Done():
		return
	}
	query := c.req.URL.Query()
	if c.rule.past.err != nil || query.Get("continue") != "" {
		return // see compare
	}
	query.Set("resourceVersion", c.rule.past.version)
	query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	c.req = c.req.Clone(c.req.Context())
	c.req.URL.RawQuery = query.Encode()
}

// compare reports whether the list that the client gets differs from what is there
// now.
func (c *call) compare(resp *http.Response) {
	if err := c.differs(resp); err != nil {
		c.proxy.ineffective(c, c.rule, err.Error())
		return
	}
	c.proxy.tookEffect(c, c.rule, map[string]any{"resourceVersion": c.rule.past.version})
}

func (c *call) differs(resp *http.Response) error {
	query := c.req.URL.Query()
	switch {
	case c.rule.past.err != nil:
		return c.rule.past.err
	case query.Get("continue") != "":
		return errors.New("a further page is of its first page's version")
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the API server answers %s", resp.Status)
	}
	selected := url.Values{"labelSelector": query["labelSelector"], "fieldSelector": query["fieldSelector"]}
	now, err := c.proxy.metadata(c.proxy.ctx, objectPath(c.info), selected)
	if err != nil {
		return err
	}
	selected["resourceVersion"], selected["resourceVersionMatch"] = query["resourceVersion"], query["resourceVersionMatch"]
	then, err := c.proxy.metadata(c.proxy.ctx, objectPath(c.info), selected)
	if err != nil {
		return err
	}
	if maps.Equal(versions(now), versions(then)) {
		return errors.New("nothing has changed since")
	}
	return nil
}

func versions(list *metav1.PartialObjectMetadataList) map[string]string {
	found := map[string]string{}
	for _, item := range list.Items {
		found[item.Namespace+"/"+item.Name] = item.ResourceVersion
	}
	return found
}

// metadata lists what is at path, by its metadata.
func (p *Proxy) metadata(ctx context.Context, path string, query url.Values) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	header := http.Header{"Accept": {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}}
	reply, err := p.writer.do(ctx, http.MethodGet, path, query, header, nil)
	if err == nil {
		err = json.Unmarshal(reply, list)
	}
	return list, err
}
