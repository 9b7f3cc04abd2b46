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
	known bool   // it is the client's, and not somebody else's
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
	if c.known && c.info.IsResourceRequest {
		c.rule, c.turn = p.claim(c.info, c.agent)
	}
	return c
}

// done ends the part that a rule had in the call.
func (c *call) done() {
	if c.rule != nil {
		c.proxy.finished(c.rule)
	}
}

// errLost is how replied tells that the client is to get no reply.
var errLost = errors.New("the reply is lost")

// begin does what the rule does before the API server sees the call, and reports
// whether it is to see it at all.
func (c *call) begin(w http.ResponseWriter) bool {
	p, a := c.proxy, c.rule
	switch act := a.action.(type) {
	case *Delay:
		p.tookEffect(c, a, nil)
		c.wait(time.Duration(act.By), a.over)
	case *Answer:
		p.tookEffect(c, a, map[string]any{"code": act.Code})
		if time.Duration(act.After) > 0 {
			c.wait(time.Duration(act.After), a.over)
		}
		writeStatus(w, c.req, act.status(c.info))
		return false
	case *Drop:
		p.tookEffect(c, a, nil)
		hangUp(c.req)
	case *OtherWriter:
		if c.info.Verb != "get" {
			c.interfere(act)
		}
	case *StaleList:
		c.askForThePast()
	}
	return true
}

// replied does what the rule does between the API server's reply and the client.
func (c *call) replied(resp *http.Response) error {
	p, a := c.proxy, c.rule
	if !c.known {
		return nil
	}
	if c.info.IsResourceRequest && c.info.Verb == "watch" && resp.StatusCode == http.StatusOK {
		return p.open(c, resp)
	}
	if a == nil {
		return nil
	}
	code := map[string]any{"code": resp.StatusCode}
	switch act := a.action.(type) {
	case *Hold:
		p.tookEffect(c, a, code)
		c.wait(time.Duration(act.For), a.over)
	case *Lose:
		p.tookEffect(c, a, code)
		return errLost
	case *OtherWriter:
		if c.info.Verb == "get" {
			if resp.StatusCode != http.StatusOK {
				p.ineffective(c, a, resp.Status)
				return nil
			}
			c.interfere(act)
		}
	case *StaleList:
		c.compare(resp)
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
