package world_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"nodestorm/harness/world"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/time/clock"
)

// BenchmarkProxyGet compares GETs of one object through the proxy with GETs over
// direct TLS, taken in turns so that both meet the same machine: what the proxy
// adds to the median and to the 99th percentile. Run it with -benchtime 1x.
func BenchmarkProxyGet(b *testing.B) {
	const warm, calls = 200, 4000
	defer debug.SetGCPercent(debug.SetGCPercent(apifault.GCPercent)) // as `nodestorm proxy` does
	w, err := world.Start(b.Context(), world.Config{Kubernetes: programs(b), Out: b.TempDir(), Clock: clock.Real, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Stop(); err != nil {
			b.Error(err)
		}
	})
	user, err := w.Plane().User("bench", "system:masters")
	if err != nil {
		b.Fatal(err)
	}
	for _, rules := range []int{0, 20} {
		b.Run(fmt.Sprintf("rules=%d", rules), func(b *testing.B) {
			var armed []fault.Fault
			for n := range rules {
				armed = append(armed, fault.Fault{
					Name: fmt.Sprint(n), Match: apifault.Match{Resource: "namespaces", Verbs: []string{"get"}, Name: fmt.Sprintf("other-%d-*", n)},
					Effect: apifault.Drop{},
				})
			}
			p, err := apifault.Start(apifault.Config{Client: user, Writer: w.Admin(), History: w.History()}, armed...)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			direct, proxied := getter(b, user), getter(b, p.ClientConfig())
			for b.Loop() {
				var times [2][]time.Duration
				for n := range warm + calls {
					for i, get := range []func() time.Duration{direct, proxied} {
						if took := get(); n >= warm {
							times[i] = append(times[i], took)
						}
					}
				}
				for _, q := range []struct {
					name string
					at   float64
				}{{"p50", 0.5}, {"p99", 0.99}} {
					with, without := quantile(times[1], q.at), quantile(times[0], q.at)
					b.ReportMetric(float64(without.Microseconds()), q.name+"-direct-µs")
					b.ReportMetric(float64((with - without).Microseconds()), q.name+"-added-µs")
				}
			}
		})
	}
}

// getter returns a function that reads one object and returns how long that took.
func getter(b *testing.B, cfg *rest.Config) func() time.Duration {
	b.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	url, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	at := url.JoinPath("/api/v1/namespaces/default").String()
	return func() time.Duration {
		began := time.Now()
		resp, err := client.Get(at)
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		took := time.Since(began)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
			b.Fatal(resp.Proto, resp.Status, err)
		}
		return took
	}
}

func quantile(times []time.Duration, q float64) time.Duration {
	slices.Sort(times)
	return times[int(q*float64(len(times)-1))]
}
