package apifault

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"nodestorm/sim/fault"
)

// The proxies of benchmarks collect as often as that of `nodestorm proxy`.
func init() { debug.SetGCPercent(GCPercent) }

// source is an API server that has nothing but a watch: events at a steady rate, each
// with its number and the time at which it was sent. Watches begin together, when as
// many as watchers are there.
func source(b *testing.B, watchers, events int, perSecond float64) *rest.Config {
	b.Helper()
	var ready sync.WaitGroup
	ready.Add(watchers)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := http.NewResponseController(w)
		_ = flush.Flush()
		filler := fmt.Sprintf("%0900d", 0) // an event of about 1 KB, as a small Node's is
		ready.Done()
		ready.Wait()
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
func follow(cfg *rest.Config) (ages []time.Duration, err error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	resp, err := client.Get(cfg.Host + "/api/v1/nodes?watch=true")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		now := time.Now().UnixNano()
		var event struct{ Object struct{ Sent string } }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, err
		}
		sent, _ := strconv.ParseInt(event.Object.Sent, 10, 64)
		ages = append(ages, time.Duration(now-sent))
	}
	return ages, lines.Err()
}

// BenchmarkWatchDelay measures what the proxy adds to the age of events on arrival, at
// 1,000 a second: one watch through it and one over direct TLS, both at the same time.
// Run it with -benchtime 1x.
func BenchmarkWatchDelay(b *testing.B) {
	const events = 10_000
	for b.Loop() {
		upstream := source(b, 2, events, 1000)
		p, err := Start(Config{Client: upstream})
		if err != nil {
			b.Fatal(err)
		}
		var ages [2][]time.Duration
		var errs [3]error
		var both sync.WaitGroup
		for i, cfg := range []*rest.Config{upstream, p.ClientConfig()} {
			both.Go(func() { ages[i], errs[i] = follow(cfg) })
		}
		both.Wait()
		errs[2] = p.Close()
		if err := errors.Join(errs[:]...); err != nil || len(ages[0]) != events || len(ages[1]) != events {
			b.Fatalf("%d and %d of %d events: %v", len(ages[0]), len(ages[1]), events, err)
		}
		for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
			at := int(q * (events - 1))
			slices.Sort(ages[0])
			slices.Sort(ages[1])
			b.ReportMetric(float64(ages[0][at].Microseconds()), name+"-direct-µs")
			b.ReportMetric(float64((ages[1][at] - ages[0][at]).Microseconds()), name+"-added-µs")
		}
	}
}

// BenchmarkWatchRate measures how many events a second come through, of as many as the
// source can send.
func BenchmarkWatchRate(b *testing.B) {
	const events = 100_000
	for b.Loop() {
		p, err := Start(Config{Client: source(b, 1, events, 1e9)})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		ages, err := follow(p.ClientConfig())
		if len(ages) != events {
			b.Fatalf("%d of %d events: %v", len(ages), events, err)
		}
		b.ReportMetric(events/time.Since(began).Seconds(), "events/s")
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTenMinutes measures how much more memory is in use after ten minutes of events,
// a thousand a second through a rule that looks at each watch, than after one.
func BenchmarkTenMinutes(b *testing.B) {
	for b.Loop() {
		p, err := Start(Config{Client: source(b, 1, 600_000, 1000)}, fault.Fault{
			Name: "other", Match: Match{Resource: "nodes", Verbs: []string{"watch"}, Name: "another"}, Effect: Cut{},
		})
		if err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- drain(p.ClientConfig()) }()
		time.Sleep(time.Minute)
		after1 := heap()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(after1)/1e6, "MB-after-1m")
		b.ReportMetric(float64(heap()-after1)/1e6, "MB-more-after-10m")
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// drain reads a watch to its end.
func drain(cfg *rest.Config) error {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	resp, err := client.Get(cfg.Host + "/api/v1/nodes?watch=true")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// BenchmarkGet measures what the proxy itself adds to a GET, of a server that answers at
// once, over what direct TLS takes; in turns, so that both meet the same machine. Behind
// a real API server harness/world measures it.
func BenchmarkGet(b *testing.B) {
	const warm, calls = 500, 5000
	body := bytes.Repeat([]byte("x"), 1000)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	upstream := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	p, err := Start(Config{Client: upstream})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		var times [2][]time.Duration
		var clients [2]*http.Client
		hosts := []*rest.Config{upstream, p.ClientConfig()}
		for i, cfg := range hosts {
			if clients[i], err = rest.HTTPClientFor(cfg); err != nil {
				b.Fatal(err)
			}
		}
		for n := range warm + calls {
			for i, client := range clients {
				began := time.Now()
				resp, err := client.Get(hosts[i].Host + "/api/v1/namespaces/default")
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, resp.Body)
				if resp.Body.Close(); err != nil || resp.ProtoMajor != 2 {
					b.Fatal(resp.Proto, err)
				}
				if n >= warm {
					times[i] = append(times[i], time.Since(began))
				}
			}
		}
		for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
			at := int(q * (calls - 1))
			slices.Sort(times[0])
			slices.Sort(times[1])
			b.ReportMetric(float64(times[0][at].Microseconds()), name+"-direct-µs")
			b.ReportMetric(float64((times[1][at] - times[0][at]).Microseconds()), name+"-added-µs")
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
