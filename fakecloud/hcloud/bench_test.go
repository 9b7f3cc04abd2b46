package hcloud

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nodestorm/fakecloud"
)

// envServe makes the test program a server with so many instances, as a process of its own
// with one core.
const envServe = "NODESTORM_HCLOUD_BENCH_SERVERS"

const groupSize = 50

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(envServe)); err == nil {
		serveMany(n)
		return
	}
	os.Exit(m.Run())
}

// serveMany serves until standard input ends, which it does when the parent dies.
func serveMany(n int) {
	cloud, err := fakecloud.New(fakecloud.Config{Clock: realClock})
	if err != nil {
		panic(err)
	}
	for k := range n {
		err := cloud.Update(func(tx *fakecloud.Tx) error {
			_, _, _, err := tx.Create(fakecloud.Spec{
				Name: fmt.Sprintf("pool%d-%d", k/groupSize, k), Labels: map[string]string{"hcloud/node-group": fmt.Sprintf("pool%d", k/groupSize)},
				Type: cloud.Catalogue().ServerType("cx22"), Image: tx.Images.Named("debian-12"), Location: "fsn1", Start: true, IPv4: true, IPv6: true,
			})
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	s, err := Serve(context.Background(), Config{Cloud: cloud, Token: token})
	if err != nil {
		panic(err)
	}
	for slices.ContainsFunc(cloud.Instances(), func(i fakecloud.Instance) bool { return i.State != fakecloud.Running }) {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// BenchmarkListServers asks a server with one core for the servers of one node group after the
// other, as autoscalers do, over eight connections.
//
//	go test ./fakecloud/hcloud -run '^$' -bench ListServers -benchtime 20000x
func BenchmarkListServers(b *testing.B) {
	for _, test := range []struct {
		name    string
		servers int
		changes time.Duration // a server changes this often; zero: never
	}{
		{"1000", 1000, 0},
		{"1000-changing-20-a-second", 1000, 50 * time.Millisecond},
		{"10000", 10_000, 0},
	} {
		b.Run("servers="+test.name, func(b *testing.B) { benchList(b, test.servers, test.changes) })
	}
}

func benchList(b *testing.B, servers int, changes time.Duration) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), envServe+"="+strconv.Itoa(servers), "GOMAXPROCS=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = child.Wait()
	}()
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	c := benchClient{b: b, endpoint: strings.TrimSpace(endpoint), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16,
		DisableCompression: true}}}
	stop := make(chan struct{})
	defer close(stop)
	if changes > 0 {
		go c.change(changes, stop)
	}
	const connections = 8
	latencies := make([][]time.Duration, connections)
	var next atomic.Int64
	var running sync.WaitGroup
	before := cpuSeconds(b, child.Process.Pid)
	b.ResetTimer()
	for k := range connections {
		running.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				began := time.Now()
				c.get("/servers?per_page=50&label_selector=hcloud%2Fnode-group%3Dpool" + strconv.Itoa(int(n)%(servers/groupSize)))
				latencies[k] = append(latencies[k], time.Since(began))
			}
		})
	}
	running.Wait()
	b.StopTimer()
	used := cpuSeconds(b, child.Process.Pid) - before
	all := slices.Sorted(slices.Values(slices.Concat(latencies...)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(b.N)/used, "requests/cpu-s") // what a core that has nothing else to do serves
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(peakMiB(b, child.Process.Pid), "RSS-MiB")
}

type benchClient struct {
	b        *testing.B
	endpoint string
	client   *http.Client
}

func (c benchClient) get(path string) {
	r, _ := http.NewRequest("GET", c.endpoint+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip") // as Go's client does by default
	response, err := c.client.Do(r)
	if err != nil {
		c.b.Error(err)
		return
	}
	n, err := io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != 200 || n < 1000 || err != nil {
		c.b.Errorf("got %d with %d bytes, %v", response.StatusCode, n, err)
	}
}

// change changes a server now and then.
func (c benchClient) change(every time.Duration, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		r, _ := http.NewRequest("POST", c.endpoint+"/placement_groups", strings.NewReader(fmt.Sprintf(`{"name":"g%d","type":"spread"}`, n)))
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := c.client.Do(r)
		if err != nil {
			return
		}
		_ = response.Body.Close()
	}
}

// cpuSeconds is the processor time that a process has used.
func cpuSeconds(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime, proc(5)
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return float64(ticks) / 100 // USER_HZ
}

// peakMiB is the most memory that a process has had.
func peakMiB(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}
