package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// cloud is a client of the API.
type cloud struct {
	endpoint, token string
	http            http.Client
}

// What the API answers with, and is asked.
type (
	instanceType struct {
		Name         string  `json:"name"`
		CPU          int     `json:"cpu"`
		MemoryGiB    float64 `json:"memoryGiB"`
		DiskGB       int     `json:"diskGB"`
		Architecture string  `json:"architecture"` // as Kubernetes calls it
		Offers       []offer `json:"offers"`
	}
	offer struct {
		Zone         string  `json:"zone"`
		CapacityType string  `json:"capacityType"`
		Price        float64 `json:"price"` // by the hour
	}
	instance struct {
		Name         string            `json:"name"`
		Type         string            `json:"type"`
		Zone         string            `json:"zone"`
		CapacityType string            `json:"capacityType"`
		Image        string            `json:"image"`
		State        string            `json:"state,omitempty"`
		Created      time.Time         `json:"created,omitzero"`
		Tags         map[string]string `json:"tags"`
		UserData     string            `json:"userData,omitempty"`
	}
	interruption struct {
		Instance instance  `json:"instance"`
		At       time.Time `json:"at"` // when it is taken back
	}
	image struct {
		Name         string `json:"name"`
		Architecture string `json:"architecture"`
	}
)

// refusal is what the cloud says to a call that it does not carry out.
type refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%s, HTTP %d)", r.Message, r.Code, r.Status) }

// refused tells whether the cloud has refused with one of the codes.
func refused(err error, codes ...string) bool {
	r := &refusal{}
	if !errors.As(err, &r) {
		return false
	}
	for _, code := range codes {
		if r.Code == code {
			return true
		}
	}
	return false
}

const (
	// callTimeout is that of AWS' clients in Go: none of their own; a call that hangs ends with
	// the connection. Karpenter would wait for ever, so a minute stands for that.
	callTimeout = time.Minute
	// maxAnswer is more than any answer has, in bytes.
	maxAnswer = 64 << 20
)

func (c *cloud) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("User-Agent", "karpenter")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	if resp.StatusCode >= 400 {
		r := &refusal{Status: resp.StatusCode}
		if json.Unmarshal(text, r) != nil || r.Message == "" {
			r.Code, r.Message = "unknown", fmt.Sprintf("%.200s", bytes.TrimSpace(text))
		}
		return r
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	return nil
}

func (c *cloud) types(ctx context.Context) (all []instanceType, err error) {
	err = c.call(ctx, http.MethodGet, "/types", nil, &all)
	return all, err
}

func (c *cloud) images(ctx context.Context) (all []image, err error) {
	err = c.call(ctx, http.MethodGet, "/images", nil, &all)
	return all, err
}

func (c *cloud) instances(ctx context.Context) (all []instance, err error) {
	err = c.call(ctx, http.MethodGet, "/instances", nil, &all)
	return all, err
}

func (c *cloud) interruptions(ctx context.Context) (all []interruption, err error) {
	err = c.call(ctx, http.MethodGet, "/interruptions", nil, &all)
	return all, err
}

func (c *cloud) instance(ctx context.Context, name string) (i *instance, err error) {
	err = c.call(ctx, http.MethodGet, "/instances/"+url.PathEscape(name), nil, &i)
	return i, err
}

// launch creates an instance. Its name is its owner's token: one of that name that is there
// already is what an earlier try has launched, whose answer was lost.
func (c *cloud) launch(ctx context.Context, wanted instance) (i *instance, err error) {
	err = c.call(ctx, http.MethodPost, "/instances", wanted, &i)
	if refused(err, "uniqueness_error") {
		return c.instance(ctx, wanted.Name)
	}
	return i, err
}

func (c *cloud) terminate(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "/instances/"+url.PathEscape(name), nil, nil)
}
