package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// byHand is the user agent of AWS's command line, whose calls the history has as those of its product.
const byHand = "aws-cli/2.31.0"

// CallAsOwner makes a call of a service of forms, as the owner of the account does with AWS's command line: form has its parameters.
// Faults act on it as on other calls. The error is what AWS answers, if that is one.
func (h *Handler) CallAsOwner(ctx context.Context, service string, form url.Values) error {
	k := slices.IndexFunc(h.Services, func(s Service) bool { return s.Name == service })
	if k < 0 {
		return fmt.Errorf("there is no service %q", service)
	}
	of := &h.Services[k]
	form.Set("Version", of.Version)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+of.Hosts[0]+"/", nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", byHand)
	c := &Call{
		Handler: h, Service: of, Request: r, op: &unknownAction, id: h.requestID(), byHost: true, notes: map[string]any{},
		body: []byte(form.Encode()),
	}
	in, err := c.read()
	if err != nil {
		return err
	}
	var got kept
	c.carryOut(&got, in)
	if got.status != http.StatusOK {
		return errors.New(got.String())
	}
	return nil
}

// kept is an answer that is read by us.
type kept struct {
	bytes.Buffer
	status int
	header http.Header
}

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header {
	if k.header == nil {
		k.header = http.Header{}
	}
	return k.header
}

// WriteHeader implements http.ResponseWriter.
func (k *kept) WriteHeader(status int) { k.status = status }
