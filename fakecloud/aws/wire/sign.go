package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSkew is how far a request's time may be from the service's (AWS General Reference, "Elements of an AWS API request
// signature": 5 minutes).
const maxSkew = 5 * time.Minute

const algorithm = "AWS4-HMAC-SHA256"

// Signature is what a request says of who sent it: version 4 of AWS's signatures, in headers.
type Signature struct {
	Key, Date, Region, Service string
	headers                    []string
	signature                  string
}

// Reason is why a request was not signed as it should be. What code says so depends on the service.
type Reason int

// The reasons.
const (
	Unsigned    Reason = iota + 1 // without a signature
	Incomplete                    // with one that cannot be read
	UnknownKey                    // with a key that was not handed out
	Mismatch                      // with another secret, or altered since
	Expired                       // too long ago
	Early                         // not yet
	Misdirected                   // to another service or region
)

// ReadSignature reads what a request says, zero for nothing.
func ReadSignature(r *http.Request) (s Signature, reason Reason) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return s, Unsigned
	}
	rest, ok := strings.CutPrefix(header, algorithm)
	if !ok {
		return s, Incomplete
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "Credential":
			scope := strings.Split(value, "/")
			if len(scope) != 5 || scope[4] != "aws4_request" {
				return s, Incomplete
			}
			s.Key, s.Date, s.Region, s.Service = scope[0], scope[1], scope[2], scope[3]
		case "SignedHeaders":
			s.headers = strings.Split(value, ";")
		case "Signature":
			s.signature = value
		}
	}
	if s.Key == "" || s.signature == "" || !slices.Contains(s.headers, "host") {
		return s, Incomplete
	}
	return s, 0
}

// Check verifies the signature of a request with that body, by the secret of its key.
func (s Signature) Check(r *http.Request, body []byte, secret string, now time.Time) Reason {
	stamp := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", stamp)
	if err != nil || !strings.HasPrefix(stamp, s.Date) {
		return Incomplete
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if given := r.Header.Get("X-Amz-Content-Sha256"); given != "" && given != hash {
		return Mismatch
	}
	canonical := strings.Join([]string{
		r.Method, canonicalPath(r.URL), canonicalQuery(r.URL), s.canonicalHeaders(r), strings.Join(s.headers, ";"), hash,
	}, "\n")
	scope := strings.Join([]string{s.Date, s.Region, s.Service, "aws4_request"}, "/")
	request := sha256.Sum256([]byte(canonical))
	toSign := strings.Join([]string{algorithm, stamp, scope, hex.EncodeToString(request[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.Date, s.Region, s.Service, "aws4_request", toSign} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	switch {
	// mutant: AWS's cloud takes any signature
	case !hmac.Equal([]byte(hex.EncodeToString(key)), []byte(s.signature)):
		return Mismatch
	case now.Sub(at) > maxSkew:
		return Expired
	case at.Sub(now) > maxSkew:
		return Early
	}
	return 0
}

// canonicalPath is the path, each part of it escaped once more than on the wire.
func canonicalPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		return "/"
	}
	return escape(path, true)
}

// escape escapes all but what RFC 3986 leaves alone.
func escape(s string, path bool) string {
	var b strings.Builder
	for k := range len(s) {
		c := s[k]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~', path && c == '/':
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

func canonicalQuery(u *url.URL) string {
	var pairs []string
	for key, values := range u.Query() {
		for _, value := range values {
			pairs = append(pairs, escape(key, false)+"="+escape(value, false))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func (s Signature) canonicalHeaders(r *http.Request) string {
	var b strings.Builder
	for _, name := range s.headers {
		value := strings.Join(r.Header.Values(name), ",")
		switch {
		case name == "host":
			value = r.Host
		case name == "content-length" && value == "":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		b.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return b.String()
}

// refusals are the errors of a request that is not signed as it should be, by the protocol of its service. They are what the
// services' documentation has under "common errors", and EC2's "error codes"; in what order things are checked it does not say.
var refusals = map[Protocol]map[Reason]Error{
	EC2Query: {
		Unsigned:    {Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials"},
		Incomplete:  {Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials"},
		UnknownKey:  {Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials"},
		Mismatch:    {Code: "SignatureDoesNotMatch", Message: mismatch},
		Expired:     {Code: "RequestExpired", Message: "Request has expired."},
		Early:       {Code: "RequestExpired", Message: "Request is not valid yet."},
		Misdirected: {Code: "SignatureDoesNotMatch", Message: misdirected},
	},
	AWSQuery: {
		Unsigned:    {Code: "MissingAuthenticationToken", Message: "Request is missing Authentication Token"},
		Incomplete:  {Code: "IncompleteSignature", Message: "The request signature does not conform to AWS standards"},
		UnknownKey:  {Code: "InvalidClientTokenId", Message: "The security token included in the request is invalid."},
		Mismatch:    {Code: "SignatureDoesNotMatch", Message: mismatch},
		Expired:     {Status: http.StatusForbidden, Code: "SignatureDoesNotMatch", Message: "Signature expired"},
		Early:       {Status: http.StatusForbidden, Code: "SignatureDoesNotMatch", Message: "Signature not yet current"},
		Misdirected: {Code: "SignatureDoesNotMatch", Message: misdirected},
	},
	JSON11: {
		Unsigned:    {Code: "MissingAuthenticationTokenException", Message: "Missing Authentication Token"},
		Incomplete:  {Code: "IncompleteSignatureException", Message: "The request signature does not conform to AWS standards"},
		UnknownKey:  {Code: "UnrecognizedClientException", Message: "The security token included in the request is invalid."},
		Mismatch:    {Code: "InvalidSignatureException", Message: mismatch},
		Expired:     {Code: "InvalidSignatureException", Message: "Signature expired"},
		Early:       {Code: "InvalidSignatureException", Message: "Signature not yet current"},
		Misdirected: {Code: "InvalidSignatureException", Message: misdirected},
	},
}

const (
	mismatch = "The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method."
	misdirected = "Credential should be scoped to the service and region that the request is sent to."
)

// Refusal is the error that says so.
func (r Reason) Refusal(p Protocol) *Error {
	of := refusals[p]
	if of == nil {
		of = refusals[JSON11]
	}
	e := of[r]
	if p == RESTJSON {
		e.Status = http.StatusForbidden
	}
	return &e
}
