package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"nodestorm/sim/oneline"
)

// UnreachableError says that a registry gave no answer at all: there is no network, or no
// way through it.
type UnreachableError struct {
	Host string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be reached (%v)", e.Host, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// NotThere reports whether an error means that a registry has nothing under that name.
func NotThere(err error) bool {
	var said *transport.Error
	return errors.As(err, &said) && said.StatusCode == http.StatusNotFound
}

// refused adds what may help where a registry says no, or nothing.
func refused(ref string, err error) error {
	host, _, _ := strings.Cut(ref, "/")
	if parsed, bad := name.ParseReference(ref); bad == nil {
		host = parsed.Context().RegistryStr()
	}
	var said *transport.Error
	var asked *url.Error
	switch {
	case errors.As(err, &said) && (said.StatusCode == http.StatusUnauthorized || said.StatusCode == http.StatusForbidden):
		err = fmt.Errorf("the registry refuses (%w); it is asked with docker's credentials: %s", err,
			oneline.Command("docker", "login", host))
	case errors.As(err, &said), errors.Is(err, errPlain), errors.Is(err, context.Canceled):
	case brokeOff(err):
		err = fmt.Errorf("the registry broke off (%w); try again", err)
	case errors.As(err, &asked):
		err = &UnreachableError{Host: host, Err: asked.Err}
	}
	if hidden := secretsFor(host).in(err.Error()); hidden != err.Error() {
		return concealed{error: err, text: hidden}
	}
	return err
}

func brokeOff(err error) bool {
	for _, end := range []error{io.ErrUnexpectedEOF, io.EOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, errSilent} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// concealed is an error whose words held credentials.
type concealed struct {
	error
	text string
}

func (c concealed) Error() string { return c.text }

func (c concealed) Unwrap() error { return c.error }

// secrets are what docker keeps for a registry: its answers may quote what we have sent it.
type secrets []string

func secretsFor(host string) secrets {
	reg, err := name.NewRegistry(host)
	if err != nil {
		return nil
	}
	of, err := authn.DefaultKeychain.Resolve(reg)
	if err != nil {
		return nil
	}
	config, err := authn.Authorization(context.Background(), of)
	if err != nil {
		return nil
	}
	all := secrets{config.Password, config.Auth, config.IdentityToken, config.RegistryToken}
	if config.Password != "" {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(config.Username+":"+config.Password)))
	}
	return all
}

func (s secrets) in(text string) string {
	for _, secret := range s {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return text
}

// options are how registries are asked.
func options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithTransport(wire),
		remote.WithUserAgent("nodestorm")}
}

// wire is how bytes come from registries, and go to them.
var wire http.RoundTripper = resuming{guarded{impatient()}}

// dialing is how long a registry may take to be connected to; the library waits three times
// as long, thrice.
const dialing = 10 * time.Second

func impatient() http.RoundTripper {
	of, is := remote.DefaultTransport.(*http.Transport)
	if !is {
		return remote.DefaultTransport
	}
	of = of.Clone()
	of.DialContext = (&net.Dialer{Timeout: dialing, KeepAlive: 30 * time.Second}).DialContext
	return of
}

// guarded speaks plain HTTP with this machine only: the library would with all private
// addresses, and follow a registry that leads to such a place.
type guarded struct{ http.RoundTripper }

var errPlain = errors.New("which is done on loopback only")

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	// mutant: registries elsewhere are asked without TLS
	if r.URL.Scheme != "https" && !loopback(r.URL.Hostname()) {
		return nil, fmt.Errorf("%s would be asked without TLS, %w", r.URL.Host, errPlain)
	}
	return g.RoundTripper.RoundTrip(r)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
