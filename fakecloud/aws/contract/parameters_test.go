package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/aws"
)

var update = flag.Bool("update", false, "write the table of parameters anew")

// table is what the table of parameters is kept in.
const table = "testdata/parameters.txt"

// TestParameters holds the table that says of each parameter which the SDK can send whether it is understood. One that is not is refused
// as unknown.
func TestParameters(t *testing.T) {
	a := start(t)
	var text strings.Builder
	text.WriteString("# What the SDK can send with the operations that are served, and whether it is understood (+) or refused (-).\n")
	for _, of := range a.operations() {
		sent := a.record(t, of)
		fmt.Fprintf(&text, "\n%s\n", of.name)
		for _, p := range slices.Sorted(maps.Keys(sent.parameters)) {
			mark := "+"
			if a.refuses(t, of, sent, p) {
				mark = "-"
			}
			fmt.Fprintf(&text, "  %s %s\n", mark, p)
		}
	}
	if *update {
		if err := os.WriteFile(table, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(table)
	if err != nil || string(is) != text.String() {
		t.Errorf("%s is not what is understood (%v): go test -run TestParameters -update writes it anew", table, err)
	}
}

// operation is one that is served, and the client that has it.
type operation struct {
	name   string
	client reflect.Value
}

func (a *account) operations() (all []operation) {
	for _, name := range aws.Calls() {
		for _, client := range []any{a.ec2, a.scaling, a.iam, a.ssm, a.sqs, a.eks, a.pricing, a.sts, a.shift} {
			if v := reflect.ValueOf(client); v.MethodByName(name).IsValid() {
				all = append(all, operation{name, v})
				break
			}
		}
	}
	return all
}

// sent is a request with all parameters.
type sent struct {
	request    *http.Request
	body       string
	parameters map[string]string // what a request with this one alone has, by its name without indices
}

// recorder keeps the request that it is given.
type recorder struct{ sent *sent }

func (r recorder) Do(request *http.Request) (*http.Response, error) {
	r.sent.request = request
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		r.sent.body = string(body)
	}
	return nil, io.ErrUnexpectedEOF
}

// record has the SDK write a request with all parameters.
func (a *account) record(t *testing.T, of operation) *sent {
	t.Helper()
	is := &sent{parameters: map[string]string{}}
	method := of.client.MethodByName(of.name)
	in := reflect.New(method.Type().In(1).Elem())
	fill(in.Elem(), 24)
	option := reflect.MakeFunc(method.Type().In(2).Elem(), func(args []reflect.Value) []reflect.Value {
		args[0].Elem().FieldByName("HTTPClient").Set(reflect.ValueOf(recorder{is}))
		return nil
	})
	said := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), in, option})
	if is.request == nil {
		t.Fatalf("%s: the SDK wrote no request: %v", of.name, said[1])
	}
	if strings.HasPrefix(is.body, "{") {
		var body map[string]any
		if err := json.Unmarshal([]byte(is.body), &body); err != nil {
			t.Fatal(err)
		}
		is.flatten(body, "", func(leaf any) any { return leaf })
		return is
	}
	form, err := url.ParseQuery(is.body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range form {
		if name != "Action" && name != "Version" {
			is.parameters[index.ReplaceAllString(name, ".N")] = url.Values{"Action": form["Action"], "Version": form["Version"], name: form[name]}.Encode()
		}
	}
	return is
}

var index = regexp.MustCompile(`\.\d+\b`)

// flatten notes each parameter of a JSON request, with a request that has it alone.
func (s *sent) flatten(value any, path string, alone func(any) any) {
	switch value := value.(type) {
	case map[string]any:
		for key, of := range value {
			s.flatten(of, strings.TrimPrefix(path+"."+key, "."), func(leaf any) any { return alone(map[string]any{key: leaf}) })
		}
	case []any:
		for _, of := range value {
			s.flatten(of, path+"[]", func(leaf any) any { return alone([]any{leaf}) })
		}
	default:
		text, _ := json.Marshal(alone(value))
		s.parameters[path] = string(text)
	}
}

// fill fills all that can be filled.
func fill(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 0)))
			return
		}
		for f := range v.Type().Fields() {
			if f.IsExported() {
				fill(v.FieldByIndex(f.Index), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth-1)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint8:
		v.SetUint('a')
	}
}

// refuses reports whether a parameter is unknown, by a request that has it alone.
func (a *account) refuses(t *testing.T, of operation, sent *sent, parameter string) bool {
	t.Helper()
	body := sent.parameters[parameter]
	r, err := http.NewRequestWithContext(t.Context(), sent.request.Method, *a.config.BaseEndpoint+sent.request.URL.Path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Content-Type", "X-Amz-Target"} {
		r.Header.Set(name, sent.request.Header.Get(name))
	}
	a.sign(r, of, body)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "Signature") {
		t.Fatalf("%s: %s", of.name, text)
	}
	return strings.Contains(string(text), "UnknownParameter")
}

// sign signs a request for the service whose client has the operation.
func (a *account) sign(r *http.Request, of operation, body string) {
	service := map[reflect.Type]string{
		reflect.TypeOf(a.ec2): "ec2", reflect.TypeOf(a.scaling): "autoscaling", reflect.TypeOf(a.iam): "iam", reflect.TypeOf(a.ssm): "ssm", reflect.TypeOf(a.sqs): "sqs",
		reflect.TypeOf(a.eks): "eks", reflect.TypeOf(a.pricing): "pricing", reflect.TypeOf(a.sts): "sts",
		reflect.TypeOf(a.shift): "arc-zonal-shift",
	}[of.client.Type()]
	region := "us-west-2"
	if service == "iam" || service == "pricing" {
		region = "us-east-1"
	}
	signAs(r, service, region, body)
}
