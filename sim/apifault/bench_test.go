package apifault

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// source is an API server that has nothing but a watch: events at a steady rate,
// each with the time at which it was sent.
func source(b *testing.B, events int, perSecond float64) *rest.Config {
	b.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := http.NewResponseController(w)
		_ = flush.Flush()
		filler := fmt.Sprintf("%0900d", 0) // an event of about 1 KB, as a small Node's is
		began := time.Now()
		for n := 0; n < events; {
			due := int(time.Since(began).Seconds() * perSecond)
			if n >= due {
				time.Sleep(100 * time.Microsecond)
				continue
			}
			if _, err := fmt.Fprintf(w, "{\"type\":\"MODIFIED\",\"object\":{\"sent\":\"%d\",\"filler\":%q}}\n", time.Now().UnixNano(), filler); err != nil {
				return
			}
			if flush.Flush() != nil {
				return
			}
			n++
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// follow reads a watch to its end and returns how old each event was on arrival.
func follow(b *testing.B, cfg *rest.Config) []time.Duration {
	b.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Get(cfg.Host + "/api/v1/nodes?watch=true")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var ages []time.Duration
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		now := time.Now().UnixNano()
		var event struct{ Object struct{ Sent string } }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			b.Fatal(err)
		}
		sent, _ := strconv.ParseInt(event.Object.Sent, 10, 64)
		ages = append(ages, time.Duration(now-sent))
	}
	return ages
}

// BenchmarkWatchDelay tells what the proxy adds to the age of events on arrival, at
// 1,000 a second. Run it with -benchtime 1x.
func BenchmarkWatchDelay(b *testing.B) {
	const events = 5000
	upstream := source(b, events, 1000)
	p, err := Start(Config{Client: upstream})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		direct, proxied := follow(b, upstream), follow(b, p.ClientConfig())
		if len(direct) != events || len(proxied) != events {
			b.Fatalf("%d and %d of %d events", len(direct), len(proxied), events)
		}
		for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
			slices.Sort(direct)
			slices.Sort(proxied)
			at := int(q * (events - 1))
			b.ReportMetric(float64(direct[at].Microseconds()), name+"-direct-µs")
			b.ReportMetric(float64((proxied[at] - direct[at]).Microseconds()), name+"-added-µs")
		}
	}
}

// BenchmarkWatchRate tells how many events a second come through, of as many as the
// source can send, and how much the heap has grown by then.
func BenchmarkWatchRate(b *testing.B) {
	const events = 100_000
	upstream := source(b, events, 1e9)
	p, err := Start(Config{Client: upstream})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		before := heap()
		began := time.Now()
		if got := len(follow(b, p.ClientConfig())); got != events {
			b.Fatalf("%d of %d events", got, events)
		}
		b.ReportMetric(events/time.Since(began).Seconds(), "events/s")
		b.ReportMetric(float64(heap()-before)/1e6, "heap-growth-MB")
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
