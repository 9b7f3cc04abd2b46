package aws_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/fakecloud/aws/wire/wiretest"
)

// What is measured here is the server, without connections: the time of the processor, which other programs of the machine do not
// change as they change the time that passes. BENCHMARKS.md has the command.

// sink is a writer that only counts.
type sink struct {
	header        http.Header
	status, bytes int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

// measure makes a call again and again.
func (w *world) measure(b *testing.B, form string) (body int) {
	b.ReportAllocs()
	begun := processor(b)
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "https://ec2.us-west-2.amazonaws.com/", strings.NewReader(form))
		wiretest.Sign(r, form, key, secret, "ec2", "us-west-2", w.clock.Now())
		into := &sink{header: http.Header{}}
		w.server.ServeHTTP(into, r)
		if into.status != http.StatusOK {
			b.Fatalf("status %d", into.status)
		}
		body = into.bytes
	}
	b.ReportMetric(float64(b.N)/(processor(b)-begun).Seconds(), "calls/cpu-s")
	return body
}

// processor is how much time of processors the program has had.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// benchmarked is an account with 1,000 instances.
func benchmarked(b *testing.B) *world {
	w := newWorld(b)
	w.template("nodes")
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large", "TargetCapacitySpecification.TotalTargetCapacity", "1000")...)
	w.pass(time.Minute)
	return w
}

func BenchmarkDescribeInstances(b *testing.B) {
	w := benchmarked(b)
	b.ReportMetric(float64(w.measure(b, w.form("DescribeInstances", "MaxResults", "1000")))/1e6, "MB/answer")
}

func BenchmarkCreateFleet(b *testing.B) {
	w := benchmarked(b)
	w.measure(b, w.form("CreateFleet", w.fleet("nodes", "m5.large")...))
}

// What an account with all types has in memory, and what it needs to list them.
func BenchmarkTypes(b *testing.B) {
	heap := func() uint64 {
		runtime.GC()
		var is runtime.MemStats
		runtime.ReadMemStats(&is)
		return is.HeapAlloc
	}
	before := heap()
	w := newWorld(b)
	form := w.form("DescribeInstanceTypes", "MaxResults", "100")
	w.measure(b, form)
	b.ReportMetric(float64(heap()-before)/1e6, "MB-heap")
	b.ReportMetric(float64(len(w.cloud.Catalogue().ServerTypes)), "types")
	runtime.KeepAlive(w)
}
