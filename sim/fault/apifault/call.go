package apifault

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// call is one request of the client, on its way through the proxy.
type call struct {
	proxy *Proxy
	req   *http.Request
	info  *request.RequestInfo
	agent string
	known bool   // whether it is the client's, and not another program's
	rule  *armed // that takes it; nil for none
	turn  int    // see claim
}

type callKey struct{}

// callOf is the call that a request to the API server belongs to.
func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

var infos = request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

func (p *Proxy) newCall(r *http.Request) *call {
	c := &call{proxy: p, agent: r.UserAgent(), known: p.client.shownBy(r)}
	var err error
	if c.info, err = infos.NewRequestInfo(r); err != nil {
		c.info.IsResourceRequest = false // the API server will say what is wrong with it
	}
	c.req = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	return c
}

// claim finds the rule that takes the call.
func (c *call) claim() {
	if c.known && c.info.IsResourceRequest {
		c.rule, c.turn = c.proxy.claim(c.info, c.agent)
	}
}

// finish ends the part that a rule had in the call.
func (c *call) finish() {
	if c.rule != nil {
		c.proxy.finished(c.rule)
	}
}

// errLost is returned by replied if the client is to get no reply.
var errLost = errors.New("the reply is lost")

// begin does what the rule does before the API server sees the call, and reports
// whether it is to see it at all.
func (c *call) begin(w http.ResponseWriter) bool {
	e, ok := c.rule.does.(beforehand)
	return !ok || e.before(c, w)
}

// replied does what the rule does between the API server's reply and the client.
func (c *call) replied(resp *http.Response) error {
	if !c.known {
		return nil
	}
	if c.info.IsResourceRequest && c.info.Verb == "watch" && resp.StatusCode == http.StatusOK {
		return c.proxy.open(c, resp)
	}
	if c.rule != nil {
		return c.after(c.rule, resp)
	}
	return nil
}

// after does what a rule does with a reply. The error errLost is that the client gets none.
func (c *call) after(by *armed, resp *http.Response) error {
	if e, ok := by.does.(afterwards); ok {
		e.after(c, by, resp)
	}
	if _, lost := by.does.(losing); lost {
		return errLost
	}
	return nil
}

// wait lets d of virtual time pass, for ever if d is zero. It ends early with
// over, the call, or the proxy.
func (c *call) wait(d time.Duration, over <-chan struct{}) {
	var passed <-chan time.Time
	if d > 0 {
		timer := c.proxy.cfg.Clock.NewTimer(d)
		defer timer.Stop()
		passed = timer.C()
	}
	select {
	case <-passed:
	case <-over:
	case <-c.req.Context().Done():
	case <-c.proxy.ctx.Done():
	}
}
