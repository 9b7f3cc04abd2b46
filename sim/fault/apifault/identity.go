package apifault

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"nodestorm/sim/pki"
)

// forwarder carries calls to the API server: with the client's certificate those of
// a client that has shown it, without one the others.
type forwarder struct {
	certified, plain http.RoundTripper
	clientCert       []byte // DER; nil: the client has none
}

func newOnward(cfg *rest.Config) (*forwarder, error) {
	config, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, err
	}
	if config == nil {
		return nil, fmt.Errorf("%s is not reached over TLS: the proxy is for https only", cfg.Host)
	}
	o := &forwarder{plain: newTransport(config)}
	if cfg.CertFile == "" && len(cfg.CertData) == 0 {
		return o, nil
	}
	if config.GetClientCertificate == nil {
		return nil, errors.New("the client's certificate cannot be read")
	}
	pair, err := config.GetClientCertificate(nil)
	if err != nil {
		return nil, fmt.Errorf("reading the client's certificate: %w", err)
	}
	o.clientCert = pair.Certificate[0]
	o.certified = o.plain
	anonymous := config.Clone()
	anonymous.GetClientCertificate, anonymous.Certificates = nil, nil
	o.plain = newTransport(anonymous)
	return o, nil
}

// newTransport passes encodings on as they are, and finds dead connections as
// client-go's transport does.
func newTransport(config *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig:     config,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// RoundTrip implements http.RoundTripper.
func (o *forwarder) RoundTrip(r *http.Request) (*http.Response, error) {
	if o.clientCert != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		return o.certified.RoundTrip(r)
	}
	return o.plain.RoundTrip(r)
}

// servingConfig is the proxy's own side of TLS: a certificate for loopback, made
// now, and of clients' certificates only the one that is known. clientCert nil
// accepts none. With it comes the CA that clients have to trust.
func servingConfig(clientCert []byte) (*tls.Config, []byte, error) {
	ca, err := pki.NewAuthority("nodestorm fault proxy", time.Now())
	if err != nil {
		return nil, nil, err
	}
	issued, err := ca.Issue("nodestorm fault proxy", nil, "localhost", "127.0.0.1", "::1")
	if err != nil {
		return nil, nil, err
	}
	pair, err := issued.TLS()
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clientCert != nil {
		config.ClientAuth = tls.RequestClientCert
		// On resumed sessions too. That the client has the key, TLS has made sure.
		config.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) > 0 && !bytes.Equal(state.PeerCertificates[0].Raw, clientCert) {
				return errors.New("not the certificate of the client that this proxy is for")
			}
			return nil
		}
	}
	return config, ca.Cert, nil
}

// ClientConfig is how the client reaches the API server through the proxy.
func (p *Proxy) ClientConfig() *rest.Config {
	cfg := rest.CopyConfig(p.cfg.Client)
	cfg.Host = p.URL()
	cfg.CAFile, cfg.CAData = "", p.certPEM
	cfg.ServerName, cfg.Insecure = "", false
	cfg.Proxy = nil
	return cfg
}

// Kubeconfig turns the client's kubeconfig into one that goes through the proxy:
// its current context only, everything in the one file, the client's own
// credentials.
func (p *Proxy) Kubeconfig(original clientcmdapi.Config) ([]byte, error) {
	config := *original.DeepCopy()
	if err := clientcmdapi.MinifyConfig(&config); err != nil {
		return nil, fmt.Errorf("reading the client's kubeconfig: %w", err)
	}
	if err := clientcmdapi.FlattenConfig(&config); err != nil {
		return nil, fmt.Errorf("reading the files of the client's kubeconfig: %w", err)
	}
	for _, cluster := range config.Clusters { // the one that is left
		cluster.Server = p.URL()
		cluster.CertificateAuthority, cluster.CertificateAuthorityData = "", p.certPEM
		cluster.TLSServerName, cluster.InsecureSkipTLSVerify, cluster.ProxyURL = "", false, ""
	}
	return clientcmd.Write(config)
}
