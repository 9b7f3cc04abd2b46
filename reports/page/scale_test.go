package page_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

// large writes a history of so many events, as a day of scaling up and down
// makes them: every pod is created, found unschedulable, bound, runs and goes;
// every tenth has a machine of its own; Nodes report and are tainted; the
// autoscaler logs.
func large(t testing.TB, events int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.ndjson")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	seq := 0
	event := func(at time.Duration, source, verb, resource, namespace, name, actor string, code int, detail string) {
		if seq++; seq > events {
			return
		}
		fmt.Fprintf(out, `{"seq":%d,"virtual":%d,"real":%d,"source":%q,"verb":%q,"object":{"resource":%q,"namespace":%q,"name":%q},"actor":%q,"code":%d,"detail":%s}`+"\n",
			seq, at, at/40+time.Duration(seq%7)*time.Microsecond, source, verb, resource, namespace, name, actor, code, detail)
	}
	event(0, "step", "passed", "", "", "", "godog", 0, `{"kind":"Context","text":"a cluster"}`)
	event(time.Second, "step", "passed", "", "", "", "godog", 0, `{"kind":"Action","text":"pods come and go"}`)
	for n := 0; seq < events; n++ {
		at := time.Duration(n)*87*time.Millisecond + time.Duration(n%13)*time.Microsecond
		pod, node := fmt.Sprintf("web-%07d-%x", n, n*7919%65521), fmt.Sprintf("node-%06d", n/10)
		machine := fmt.Sprintf("default-%05x", n/10)
		event(at, "api", "create", "pods", "default", pod, "replicaset-controller", 201, `{"owner":"ReplicaSet/web"}`)
		event(at+time.Millisecond, "api", "patch", "pods", "default", pod, "kube-scheduler", 200,
			`{"subresource":"status","reason":"Unschedulable","message":"0/`+strconv.Itoa(n%4000)+` nodes are available: `+strconv.Itoa(n%4000)+` Insufficient cpu. preemption: 0 nodes are available."}`)
		if n%10 == 0 {
			event(at+time.Second, "log", "log", "", "", "", "karpenter", 0, `{"level":"INFO","message":"found provisionable pod(s)","Pods":"default/`+pod+`","controller":"provisioner"}`)
			event(at+time.Second, "api", "create", "nodeclaims", "", machine, "karpenter", 201, `{"nodePool":"default"}`)
			event(at+time.Second, "log", "log", "", "", "", "karpenter", 0, `{"level":"INFO","message":"created nodeclaim","NodeClaim":{"name":"`+machine+`"},"controller":"provisioner"}`)
			event(at+2*time.Second, "cloud", "POST /servers", "servers", "", node, "karpenter", 201, `{"type":"cx22"}`)
			event(at+3*time.Second, "cloud", "created", "instances", "", node, "", 0, `{"hourlyEUR":0.006}`)
			event(at+20*time.Second, "cloud", "running", "instances", "", node, "", 0, `{}`)
			event(at+30*time.Second, "api", "create", "nodes", "", node, "karpenter", 201, `{"providerID":"kwok://`+node+`","ready":"False: KubeletNotReady","taints":["node.kubernetes.io/not-ready:NoSchedule"],"added":["node.kubernetes.io/not-ready:NoSchedule"]}`)
			event(at+31*time.Second, "api", "patch", "nodeclaims", "", machine, "karpenter", 200, `{"providerID":"kwok://`+node+`","subresource":"status","conditions":{"Launched":"True","Registered":"True"}}`)
			event(at+40*time.Second, "node", "ready", "nodes", "", node, "sim-node", 0, `{"reason":"KubeletReady"}`)
			event(at+41*time.Second, "api", "patch", "nodes", "", node, "node-controller", 200, `{"ready":"True: KubeletReady","removed":["node.kubernetes.io/not-ready:NoSchedule"]}`)
		}
		event(at+42*time.Second, "api", "create", "pods", "default", pod, "kube-scheduler", 201, `{"subresource":"binding","node":"`+node+`"}`)
		event(at+44*time.Second, "node", "running", "pods", "default", pod, "sim-node", 0, `{"ip":"10.`+strconv.Itoa(n>>16&255)+`.`+strconv.Itoa(n>>8&255)+`.`+strconv.Itoa(n&255)+`","node":"`+node+`"}`)
		event(at+50*time.Second, "api", "patch", "nodes", "", node, "sim-node", 200, `{"subresource":"status"}`)
		event(at+10*time.Minute, "api", "delete", "pods", "default", pod, "replicaset-controller", 200, `{"gracePeriodSeconds":30}`)
		event(at+10*time.Minute+time.Second, "node", "terminated", "pods", "default", pod, "sim-node", 0, `{"exitCode":0,"node":"`+node+`","reason":"Completed"}`)
		if n%10 == 9 {
			event(at+11*time.Minute, "cloud", "DELETE /servers", "servers", "", node, "karpenter", 200, `{}`)
			event(at+11*time.Minute, "api", "delete", "nodes", "", node, "karpenter", 200, `{}`)
			event(at+12*time.Minute, "cloud", "deleted", "instances", "", node, "", 0, `{}`)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fromFile does what `nodestorm report` does with a run's folder.
func fromFile(t testing.TB, history_, to string) {
	t.Helper()
	file, err := os.Open(history_)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := story.NewBuilder(story.Run{ID: "large", Title: "A day of scaling", Target: "karpenter@v1.6.4", Autoscaler: "karpenter"})
	history.Scan(file, b.Add)
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	if err := page.Write(buffered, page.Run{Story: b.Story()}); err != nil {
		t.Fatal(err)
	}
	if err := buffered.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// memory is the highest resident size of this process since forget, in MiB.
func memory(t testing.TB) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc: the memory cannot be measured")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}

// processor is the processor time of this process so far, in seconds: on a busy
// machine it says more than the clock.
func processor(t testing.TB) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func forget() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) } // without it the figure is too high, never too low

// go test ./reports/page -run '^$' -bench Write -benchtime 1x
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			from, to := large(b, n), filepath.Join(b.TempDir(), "report.html")
			forget()
			used := processor(b)
			for b.Loop() {
				fromFile(b, from, to)
			}
			info, err := os.Stat(to)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
			b.ReportMetric(memory(b), "MiB-RSS")
			b.ReportMetric(processor(b)-used, "CPU-s")
		})
	}
}

// go test ./reports/page -run '^$' -bench Browser -benchtime 1x
//
// NODESTORM_PAGE names a page to open instead of one of a million events.
func BenchmarkBrowser(b *testing.B) {
	to := os.Getenv("NODESTORM_PAGE")
	if to == "" {
		to = filepath.Join(b.TempDir(), "report.html")
		fromFile(b, large(b, 1_000_000), to)
	}
	ctx := browser(b)
	for b.Loop() {
		open(b, ctx, to)
	}
	b.ReportMetric(eval[float64](b, ctx, "Number(document.body.dataset.drawn)"), "ms-first-picture")
	b.ReportMetric(eval[float64](b, ctx, "Number(document.body.dataset.ready)"), "ms-all-read")
	do(b, ctx, chromedp.Click(chromedp.CSS("#all")))
	// Two hundred frames, each with another window: zooming in and out, panning.
	frames, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](`(async () => {
		const took = [];
		let last = performance.now();
		for (let n = 0; n < 200; n++) {
			if (n % 20 < 7) nodestorm.zoom(.8); else if (n % 20 < 14) nodestorm.pan(.05); else nodestorm.zoom(1 / .8);
			await new Promise(requestAnimationFrame);
			const now = performance.now();
			took.push(now - last);
			last = now;
		}
		return took.sort((a, b) => a - b);
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(1000/frames[len(frames)/2], "frames/s-median")
	b.ReportMetric(frames[len(frames)*95/100], "ms-frame-p95")
	began := time.Now()
	do(b, ctx, chromedp.SendKeys(chromedp.CSS("#search"), "node-000123"))
	until(b, ctx, "/found$/.test(document.getElementById('found').textContent)")
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-search")
	shot(b, ctx, "million")
}
