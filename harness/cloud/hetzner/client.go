package hetzner

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Client is a client of the project's, by the endpoint.
func (p *Project) Client() *hcloud.Client {
	return hcloud.NewClient(hcloud.WithEndpoint(p.server.URL()), hcloud.WithToken(p.token), hcloud.WithApplication("nodestorm", ""))
}

// ClientByName is a client that knows no endpoint but the real one: it goes through
// the proxy, and trusts the proxy's authority in the world's time.
func (p *Project) ClientByName() (*hcloud.Client, error) {
	env := map[string]string{}
	for _, pair := range p.egress.Env() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	through, err := url.Parse(env["HTTPS_PROXY"])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if text, err := os.ReadFile(env["SSL_CERT_FILE"]); err != nil {
		return nil, err
	} else if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", env["SSL_CERT_FILE"])
	}
	transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{RootCAs: roots, Time: p.Clock().Now}}
	return hcloud.NewClient(hcloud.WithToken(p.token), hcloud.WithApplication("nodestorm", ""),
		hcloud.WithHTTPClient(&http.Client{Transport: transport})), nil
}
