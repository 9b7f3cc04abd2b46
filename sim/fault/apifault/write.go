package apifault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// writerAgent is the user agent of the proxy's own calls.
const writerAgent = "nodestorm-other-writer"

// asks is a client of the API server that is not the proxy's.
type asks struct {
	client *http.Client
	base   *url.URL
}

func newAsks(cfg *rest.Config) (*asks, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = writerAgent
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the other writer's client: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	return &asks{client, base}, err
}

// do returns the reply's body; an error names the call.
func (a *asks) do(ctx context.Context, method, path string, query url.Values, header http.Header, body []byte) ([]byte, error) {
	target := a.base.JoinPath(path)
	target.RawQuery = query.Encode()

	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("User-Agent", writerAgent)
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return reply, err
}

// objectPath is the path of the object that a call is about, without a
// subresource; of a list that of its collection.
func objectPath(info *request.RequestInfo) string {
	path := "/" + info.APIPrefix
	if info.APIGroup != "" {
		path += "/" + info.APIGroup
	}
	path += "/" + info.APIVersion
	if info.Namespace != "" && info.Resource != "namespaces" {
		path += "/namespaces/" + info.Namespace
	}
	path += "/" + info.Resource
	if info.Name != "" && info.Verb != "list" {
		path += "/" + info.Name
	}
	return path
}
