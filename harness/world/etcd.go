package world

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"nodestorm/harness/process"
)

// etcd is a running etcd. Who has no certificate of its authority, which is for
// nothing else, gets nothing from it: of other programs of the world only
// kube-apiserver has one.
type etcd struct {
	url       *url.URL
	ca        *authority
	cert, key string // files of kube-apiserver's certificate
}

// newEtcd makes what the cluster's etcd needs, and says how it starts.
func (c *local) newEtcd() (*etcd, component, error) {
	w := c.World
	data, certs := filepath.Join(c.Dir, "etcd"), filepath.Join(c.Dir, "etcd-certs")
	for _, dir := range []string{data, certs} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, component{}, err
		}
	}
	var e etcd
	var err error
	if e.ca, err = newAuthority(certs, "etcd-ca"); err != nil {
		return nil, component{}, err
	}
	serverCert, serverKey, err := e.ca.issueFiles("server", "etcd", nil, "127.0.0.1")
	if err != nil {
		return nil, component{}, err
	}
	if e.cert, e.key, err = e.ca.issueFiles("client", apiServer, nil); err != nil {
		return nil, component{}, err
	}
	var urls [2]string // for clients, for peers, of which there are none
	for i := range urls {
		port, err := FreePort()
		if err != nil {
			return nil, component{}, err
		}
		urls[i] = "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	if e.url, err = url.Parse(urls[0]); err != nil {
		return nil, component{}, err
	}
	ready, err := e.ready()
	if err != nil {
		return nil, component{}, err
	}
	return &e, component{Spec: process.Spec{
		Name: c.program("etcd"),
		Path: filepath.Join(w.cfg.controlDir(), "etcd"),
		Env:  w.inside([]string{fewerCollections, fewerProcessors}),
		Args: []string{
			"--data-dir=" + data,
			"--listen-client-urls=" + urls[0], "--advertise-client-urls=" + urls[0],
			"--listen-peer-urls=" + urls[1], "--initial-advertise-peer-urls=" + urls[1], "--initial-cluster=default=" + urls[1],
			"--cert-file=" + serverCert, "--key-file=" + serverKey, "--trusted-ca-file=" + e.ca.certFile, "--client-cert-auth",
			"--peer-cert-file=" + serverCert, "--peer-key-file=" + serverKey, "--peer-trusted-ca-file=" + e.ca.certFile, "--peer-client-cert-auth",
			"--enable-grpc-gateway=false",
			"--cors=" + urls[0], // the default is any page
			// One member waits for up to one election timeout before it serves: half a
			// second in place of one. Data goes with the world, so nothing is synced.
			"--heartbeat-interval=100", "--election-timeout=500",
			"--unsafe-no-fsync",
		},
		Ready: ready,
	}}, nil
}

// ready asks etcd, and nobody else who may have its port, for its health.
func (e *etcd) ready() (func(context.Context) error, error) {
	pair, err := tls.LoadX509KeyPair(e.cert, e.key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate for etcd: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(e.ca.Cert)
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, DisableKeepAlives: true,
	}}
	return healthy(client, e.url.JoinPath("health").String()), nil
}
