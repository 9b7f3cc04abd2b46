package pki

import (
	"bytes"
	"crypto/x509"
	"os"
	"testing"
	"time"
)

func TestIssue(t *testing.T) {
	now := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC) // a world's time
	ca, err := NewAuthority("ours", now)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewAuthority("ours", now)
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Issue("admin", []string{"system:masters"})
	if err != nil {
		t.Fatal(err)
	}
	server, err := ca.Issue("proxy", nil, "127.0.0.1", "api.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		of    Pair
		by    *Authority
		host  string
		usage x509.ExtKeyUsage
		at    time.Time
		ok    bool
	}{
		"a client":              {of: client, by: ca, usage: x509.ExtKeyUsageClientAuth, at: now, ok: true},
		"a client as a server":  {of: client, by: ca, usage: x509.ExtKeyUsageServerAuth, at: now},
		"an address":            {of: server, by: ca, host: "127.0.0.1", usage: x509.ExtKeyUsageServerAuth, at: now, ok: true},
		"a name":                {of: server, by: ca, host: "api.example", usage: x509.ExtKeyUsageServerAuth, at: now, ok: true},
		"another name":          {of: server, by: ca, host: "b.example", usage: x509.ExtKeyUsageServerAuth, at: now},
		"another authority":     {of: client, by: other, usage: x509.ExtKeyUsageClientAuth, at: now},
		"a year later":          {of: client, by: ca, usage: x509.ExtKeyUsageClientAuth, at: now.AddDate(1, 0, 0), ok: true},
		"before there were any": {of: client, by: ca, usage: x509.ExtKeyUsageClientAuth, at: now.AddDate(0, 0, -2)},
	} {
		pair, err := test.of.TLS()
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(test.by.Cert) {
			t.Fatal("the authority's certificate is no PEM")
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host, CurrentTime: test.at, KeyUsages: []x509.ExtKeyUsage{test.usage}})
		if (err == nil) != test.ok {
			t.Errorf("%s: accepted %t, want %t: %v", name, err == nil, test.ok, err)
		}
	}
}

func TestWrite(t *testing.T) {
	ca, err := NewAuthority("ours", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := ca.Write(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{cert: ca.Cert, key: ca.Key} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, want) || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, %d bytes, want %d", path, err, info.Mode(), len(text), len(want))
		}
	}
}
