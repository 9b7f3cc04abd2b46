package apifault

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"nodestorm/sim/strict"
)

// credential is what the proxy's client shows of itself: a certificate, or else a
// header. Rules act on calls that come with it and on no others: those of another program that reaches
// the proxy would use them up, or be taken for the client in the history.
type credential struct {
	cert          []byte // DER; nil: the client has none
	authorization string // empty: the client is anonymous
	tokenFile     string // where the token is renewed
	tokens        bool   // beside the certificate, any token is the client's
}

func newCredential(cfg *rest.Config, cert []byte) (*credential, error) {
	c := &credential{cert: cert, tokenFile: cfg.BearerTokenFile}
	if cert != nil {
		return c, nil
	}
	if cfg.ExecProvider != nil || cfg.AuthProvider != nil {
		return nil, errors.New("a program gives the client its token, so that the proxy cannot distinguish the client's calls from others': " +
			"want a kubeconfig with a certificate or a token, such as of kubectl create token")
	}
	catch := catchHeader{}
	wrapped, err := rest.HTTPWrappersForConfig(rest.CopyConfig(cfg), &catch)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodGet, cfg.Host, nil)
	if err != nil {
		return nil, err
	}
	if _, err := wrapped.RoundTrip(req); !errors.Is(err, errCaught) { //nolint:bodyclose // nothing is sent, and nothing comes
		return nil, err
	}
	c.authorization = catch.authorization
	return c, nil
}

var errCaught = errors.New("nothing is sent")

// catchHeader sends no request, but looks at how the client authenticates.
type catchHeader struct{ authorization string }

func (c *catchHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	c.authorization = r.Header.Get("Authorization")
	return nil, errCaught
}

// shownBy reports whether a request comes with the credential. That the sender of a
// certificate has its key, and that it is the client's, TLS has made sure of.
func (c *credential) shownBy(r *http.Request) bool {
	certified := r.TLS != nil && len(r.TLS.PeerCertificates) > 0
	given := r.Header.Get("Authorization")
	if c.cert != nil || certified {
		// mutant: a controller's calls with its own token are not those of kube-controller-manager
		return certified || c.tokens && strings.HasPrefix(given, "Bearer ")
	}
	if equalSecrets(given, c.authorization) {
		return true
	}
	if c.tokenFile == "" {
		return false
	}
	token, err := strict.ReadFile(c.tokenFile, 1<<20)
	return err == nil && equalSecrets(given, "Bearer "+strings.TrimSpace(string(token)))
}

func equalSecrets(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
