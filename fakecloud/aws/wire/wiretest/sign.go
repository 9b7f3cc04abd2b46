// Package wiretest signs requests as AWS's SDKs do, for tests of what is served. Only tests use it.
package wiretest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Sign signs a request with that body for a service in a region, as of a time. Its path has nothing that wants escaping, and
// it has no query.
func Sign(r *http.Request, body, key, secret, service, region string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	sum := func(text string) string {
		is := sha256.Sum256([]byte(text))
		return hex.EncodeToString(is[:])
	}
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25") // what is escaped there is escaped once more
	if path == "" {
		path = "/"
	}
	canonical := strings.Join([]string{
		r.Method, path, "", "host:" + r.Host, "x-amz-date:" + stamp, "", "host;x-amz-date", sum(body),
	}, "\n")
	scope := stamp[:8] + "/" + region + "/" + service + "/aws4_request"
	toSign := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + sum(canonical)
	secretKey := []byte("AWS4" + secret)
	for _, part := range []string{stamp[:8], region, service, "aws4_request", toSign} {
		mac := hmac.New(sha256.New, secretKey)
		mac.Write([]byte(part))
		secretKey = mac.Sum(nil)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/"+scope+", SignedHeaders=host;x-amz-date, Signature="+
		hex.EncodeToString(secretKey))
}
