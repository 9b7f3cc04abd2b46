package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/aws/wire/wiretest"
)

// What the tests speak.
type (
	request struct {
		Name   string   `wire:",required,max=8"`
		Kind   string   `wire:"kind,enum=a|b"`
		Most   *int64   `wire:",min=5,max=10"`
		IDs    []string `wire:"id,max=3"`
		Tags   []pair   `wire:"tag"`
		Nested *nested
		Is     bool
		Part   float64
		At     *time.Time
	}
	pair   struct{ Key, Value string }
	nested struct {
		Inner *nested2
		Names map[string]string `wire:",omit"`
	}
	nested2 struct{ Deep int64 }
	answer  struct {
		Name    string
		Nothing string
		Count   int64
		Part    float64
		Is      bool
		At      time.Time
		Pairs   []pair `wire:"pairSet"`
		None    []pair `wire:"noneSet"`
		Left    *pair
	}
)

// codeOf is the code of an error, or empty.
func codeOf(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func decode(t *testing.T, p Protocol, form string) (request, string) {
	t.Helper()
	f, err := ParseForm([]byte(form))
	in := request{}
	if err == nil {
		err = DecodeForm(f, p, &in)
	}
	if err != nil {
		return in, codeOf(err)
	}
	return in, ""
}

func TestForm(t *testing.T) {
	in, code := decode(t, EC2Query, "Action=A&Version=1&Name=n%26&Kind=b&Most=7&Id.2=two&Id.1=one&Tag.1.Key=k&Tag.1.Value=v&Nested.Inner.Deep=3&Is=true&"+
		"Part=0.5&At=2026-01-02T03:04:05Z")
	if code != "" || in.Name != "n&" || in.Kind != "b" || *in.Most != 7 || fmt.Sprint(in.IDs) != "[one two]" || in.Tags[0] != (pair{"k", "v"}) ||
		in.Nested.Inner.Deep != 3 || !in.Is || in.Part != 0.5 || in.At.Hour() != 3 {
		t.Errorf("got %+v, %s", in, code)
	}
	if in, code = decode(t, AWSQuery, "Name=n&id.member.1=one&tag.member.1.Key=k&kind="); code != "" || in.IDs[0] != "one" || in.Tags[0].Key != "k" {
		t.Errorf("awsquery: got %+v, %s", in, code)
	}
}

// What is wrong with a form, and what that is called.
func TestWrongForms(t *testing.T) {
	long := strings.Builder{}
	for k := range maxParameters + 1 {
		fmt.Fprintf(&long, "Id.%d=x&", k+1)
	}
	for form, want := range map[string]string{
		"":                                   "MissingParameter",
		"Name=n&Other=1":                     "UnknownParameter",
		"Name=n&Nested.Other=1":              "UnknownParameter",
		"Name=n&Nested=1":                    "UnknownParameter",
		"Name=n&Name.1=1":                    "UnknownParameter",
		"Name=n&Id.x=1":                      "UnknownParameter",
		"Name=n&Id.01=1":                     "UnknownParameter",
		"Name=n&Id=1":                        "UnknownParameter",
		"Name=n&Nested.Names.a=1":            "UnknownParameter",
		"Name=n&Name=m":                      "InvalidParameterValue",
		"Name=123456789":                     "InvalidParameterValue",
		"Name=n&Kind=c":                      "InvalidParameterValue",
		"Name=n&Most=4":                      "InvalidParameterValue",
		"Name=n&Most=11":                     "InvalidParameterValue",
		"Name=n&Most=x":                      "InvalidParameterValue",
		"Name=n&Most=99999999999":            "InvalidParameterValue",
		"Name=n&Is=perhaps":                  "InvalidParameterValue",
		"Name=n&At=now":                      "InvalidParameterValue",
		"Name=n&Id.2000000000=x":             "InvalidParameterValue",
		"Name=n&Id.0=x":                      "InvalidParameterValue",
		"Name=n&Id.1=a&Id.2=b&Id.3=c&Id.4=d": "InvalidParameterValue",
		"Name=%ff":                           "MalformedQueryString",
		"Name=%":                             "MalformedQueryString",
		"Name=n&" + strings.Repeat("a.", maxDepth) + "a=1": "MalformedQueryString",
		long.String(): "MalformedQueryString",
	} {
		if _, code := decode(t, EC2Query, form); code != want {
			t.Errorf("%.60q: got %q, want %s", form, code, want)
		}
	}
}

func TestJSON(t *testing.T) {
	in := request{}
	err := DecodeJSON([]byte(`{"Name":"n","kind":"a","Most":6,"id":["x"],"tag":[{"Key":"k","Value":null}],"Nested":{"Names":{"a":"b"}},"At":1700000000.5}`), &in)
	if err != nil || in.Name != "n" || *in.Most != 6 || in.IDs[0] != "x" || in.Nested.Names["a"] != "b" || in.At.UnixMilli() != 1_700_000_000_500 {
		t.Errorf("got %+v, %v", in, err)
	}
	for body, want := range map[string]string{
		``:                             "ValidationException",
		`{"Name":"n","Other":1}`:       "UnknownParameter",
		`{"Name":"n","tag":[{"a":1}]}`: "UnknownParameter",
		`{"Name":1}`:                   "SerializationException",
		`{"Name":"n","Most":6.5}`:      "SerializationException",
		`{"Name":"n","Is":"true"}`:     "SerializationException",
		`{"Name":"n","id":"x"}`:        "SerializationException",
		`{"Name":"n","Nested":[]}`:     "SerializationException",
		`[]`:                           "SerializationException",
		`{"Name":"n"}{}`:               "SerializationException",
		"{\"Name\":\"\xff\"}":          "SerializationException",
		`{"Name":"n","Most":99}`:       "InvalidParameterValue",
		strings.Repeat("[", 100_000):   "SerializationException",
	} {
		if err := DecodeJSON([]byte(body), &request{}); codeOf(err) != want {
			t.Errorf("%.60q: got %v, want %s", body, err, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	of := answer{
		Name: "a<b>&\"\x01\xff", Count: 3, Part: 0.25, Is: true, At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Pairs: []pair{{"k", "v"}},
	}
	for p, want := range map[Protocol]string{
		EC2Query: `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<DoResponse xmlns="ns"><requestId>id</requestId><name>a&lt;b&gt;&amp;&#34;` +
			"\uFFFD\uFFFD" + `</name><count>3</count><part>0.25</part><is>true</is><at>2026-01-02T03:04:05.006Z</at>` +
			`<pairSet><item><key>k</key><value>v</value></item></pairSet><noneSet></noneSet></DoResponse>`,
		AWSQuery: `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<DoResponse xmlns="ns"><DoResult><Name>a&lt;b&gt;&amp;&#34;` + "\uFFFD\uFFFD" +
			`</Name><Count>3</Count><Part>0.25</Part><Is>true</Is><At>2026-01-02T03:04:05.006Z</At><pairSet><member><Key>k</Key><Value>v</Value></member>` +
			`</pairSet><noneSet></noneSet></DoResult><ResponseMetadata><RequestId>id</RequestId></ResponseMetadata></DoResponse>`,
	} {
		got, err := Answer{Protocol: p, Action: "Do", Namespace: "ns", RequestID: "id", Of: &of}.Write(nil)
		if err != nil || string(got) != want {
			t.Errorf("%d: got %s, %v, want %s", p, got, err, want)
		}
		tree, _ := Answer{Protocol: p, Action: "Do", Namespace: "ns", RequestID: "id", Of: Tree(p, &of)}.Write(nil)
		if len(tree) != len(got) {
			t.Errorf("%d: as a tree it is %s", p, tree)
		}
	}
	got, err := Answer{Protocol: JSON11, Of: &of}.Write(nil)
	var is map[string]any
	if err != nil || json.Unmarshal(got, &is) != nil || is["Count"] != 3.0 || is["At"] != 1767323045.006 || is["Nothing"] != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestErrorBodies(t *testing.T) {
	e := &Error{Code: "Some<Code", Message: "a & b", Query: "Old"}
	for p, want := range map[Protocol]string{
		EC2Query: "<Response><Errors><Error><Code>Some&lt;Code</Code><Message>a &amp; b</Message></Error></Errors><RequestID>id</RequestID></Response>",
		AWSQuery: "<Type>Sender</Type><Code>Some&lt;Code</Code><Message>a &amp; b</Message>",
		JSON10:   `{"__type":"Some\u003cCode","message":"a \u0026 b"}`,
		RESTJSON: `{"message":"a \u0026 b"}`,
	} {
		body, headers := WriteError(p, "ns", "id", e)
		if !strings.Contains(string(body), want) {
			t.Errorf("%d: got %s, want %s", p, body, want)
		}
		if !p.IsForm() && (headers["X-Amzn-Errortype"] != "Some<Code" || headers["X-Amzn-Query-Error"] != "Old;Sender") {
			t.Errorf("%d: got %v", p, headers)
		}
	}
	if got := Errorf("DryRunOperation", "").StatusOf(); got != 412 {
		t.Errorf("a dry run has status %d", got)
	}
}

// Signatures that are good, and what can be wrong with one.
func TestSignatures(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name   string
		change func(r *http.Request)
		body   string
		now    time.Time
		want   Reason
	}{
		{"good", func(*http.Request) {}, "body", now, 0},
		{"a little early", func(*http.Request) {}, "body", now.Add(-4 * time.Minute), 0},
		{"unsigned", func(r *http.Request) { r.Header.Del("Authorization") }, "body", now, Unsigned},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, "body", now, Incomplete},
		{"no host in it", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "host;", "", 1))
		}, "body", now, Incomplete},
		{"a short scope", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "/aws4_request", "", 1))
		}, "body", now, Incomplete},
		{"another body", func(*http.Request) {}, "other", now, Mismatch},
		{"another host", func(r *http.Request) { r.Host = "other" }, "body", now, Mismatch},
		{"another path", func(r *http.Request) { r.URL = &url.URL{Path: "/a"} }, "body", now, Mismatch},
		{"a query", func(r *http.Request) { r.URL.RawQuery = "a=b" }, "body", now, Mismatch},
		{"another hash", func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "0") }, "body", now, Mismatch},
		{"another time", func(r *http.Request) { r.Header.Set("X-Amz-Date", "20260102T030406Z") }, "body", now, Mismatch},
		{"another day", func(r *http.Request) { r.Header.Set("X-Amz-Date", "20260103T030405Z") }, "body", now, Incomplete},
		{"no time", func(r *http.Request) { r.Header.Del("X-Amz-Date") }, "body", now, Incomplete},
		{"too late", func(*http.Request) {}, "body", now.Add(6 * time.Minute), Expired},
		{"too early", func(*http.Request) {}, "body", now.Add(-6 * time.Minute), Early},
	} {
		r := httptest.NewRequest(http.MethodPost, "https://ec2.us-west-2.amazonaws.com/", strings.NewReader("body"))
		wiretest.Sign(r, "body", "KEY", "secret", "ec2", "us-west-2", now)
		test.change(r)
		s, reason := ReadSignature(r)
		if reason == 0 {
			reason = s.Check(r, []byte(test.body), "secret", test.now)
		}
		if reason != test.want {
			t.Errorf("%s: got %d, want %d", test.name, reason, test.want)
		}
	}
}

// The canonical forms of AWS's own example ("Signature Version 4 test suite", get-vanilla-query-order-key-case and get-utf8).
func TestCanonical(t *testing.T) {
	u, err := url.Parse("https://example.amazonaws.com/%E1%88%B4?Param2=value2&Param1=value1")
	if err != nil {
		t.Fatal(err)
	}
	if got := canonicalQuery(u); got != "Param1=value1&Param2=value2" {
		t.Errorf("the query: %s", got)
	}
	if got := canonicalPath(u); got != "/%25E1%2588%25B4" {
		t.Errorf("the path: %s", got)
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte("Action=A&Name=n&Id.1=a&Tag.2.Key=b&Nested.Inner.Deep=1"))
	f.Add([]byte("Name=n&Id.2000000000=x"))
	f.Add([]byte("Name"))
	f.Add([]byte("Name."))
	f.Fuzz(func(t *testing.T, text []byte) {
		form, err := ParseForm(text)
		if err != nil {
			return
		}
		given, _ := url.ParseQuery(string(text)) // the name, which is required, may be empty
		for _, p := range []Protocol{EC2Query, AWSQuery} {
			in := request{}
			if err := DecodeForm(form, p, &in); err == nil && (in.Name == "" && !given.Has("Name") || len(in.IDs) > 3) {
				t.Errorf("%q is taken as %+v", text, in)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"Name":"n","id":["a"],"Nested":{"Inner":{"Deep":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in := request{}
		if err := DecodeJSON(text, &in); err == nil && len(in.IDs) > 3 {
			t.Errorf("%q is taken as %+v", text, in)
		}
	})
}

func FuzzSignature(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=K/20260102/r/s/aws4_request, SignedHeaders=host;x-amz-date, Signature=00")
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(""))
		r.Header.Set("Authorization", header)
		r.Header.Set("X-Amz-Date", "20260102T030405Z")
		if s, reason := ReadSignature(r); reason == 0 && s.Check(r, nil, "secret", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) == 0 {
			t.Errorf("%q is a signature", header)
		}
	})
}
