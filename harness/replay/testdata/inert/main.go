// Command inert stands in for Cluster Autoscaler, for Karpenter and for Cluster API, and does nothing
// of use: it answers --help and every health check. Linked with -X main.logs=yes it also logs a round
// every ten seconds, in the words of one that found nothing to do. Linked with -X main.does=KIND it is
// deaf: it never listens; echoing: it answers with what it is asked, and logs that and all that it was
// started with; crashing: it ends after a while; slow: it listens late, and answers late. Linked with
// -X main.without=FLAG it does not know that flag.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

var logs, does, without string

// flags are those that the harness, records and manifests may ask a Cluster Autoscaler for.
var flags = []string{
	"address", "cloud-config", "cloud-provider", "cordon-node-before-terminating", "cores-total", "drain-priority-config",
	"enable-dynamic-resource-allocation", "enforce-node-group-min-size", "expander", "force-delete-unregistered-nodes", "kubeconfig",
	"kubernetes", "leader-elect", "leader-elect-resource-name", "logtostderr", "max-bulk-soft-taint-count", "max-inactivity",
	"max-node-provision-time", "max-nodes-total", "namespace", "node-delete-delay-after-taint", "node-group-auto-discovery", "nodes",
	"scale-down-delay-after-add", "scale-down-delay-after-delete", "scale-down-delay-after-failure", "scale-down-enabled",
	"scale-down-unneeded-time", "scale-down-unready-time", "scan-interval", "skip-nodes-with-local-storage",
	"skip-nodes-with-system-pods", "stderrthreshold", "unremovable-node-recheck-timeout", "v",
}

// variables are those that records and manifests give a target, which has to ask for them.
var variables = []string{
	"BATCH_IDLE_DURATION", "BATCH_MAX_DURATION", "CAPI_VERSION", "FEATURE_GATES", "HCLOUD_CLOUD_INIT", "HCLOUD_CLUSTER_CONFIG",
	"HCLOUD_CLUSTER_CONFIG_FILE", "HCLOUD_ENDPOINT", "HCLOUD_FIREWALL", "HCLOUD_IMAGE", "HCLOUD_NETWORK",
	"HCLOUD_PUBLIC_IPV4", "HCLOUD_PUBLIC_IPV6", "HCLOUD_SERVER_CREATION_TIMEOUT", "HCLOUD_SSH_KEY", "HCLOUD_TOKEN",
}

func main() {
	for _, name := range variables {
		os.Getenv(name)
	}
	address := "127.0.0.1:" + os.Getenv("HEALTH_PROBE_PORT") // Karpenter's
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch name {
		case "help":
			for _, f := range flags {
				if f == without {
					continue
				}
				fmt.Printf("      --%s string   as Cluster Autoscaler has it\n", f)
			}
			return
		case "address", "health-addr": // the latter is Cluster API's
			address = value
		}
	}
	if logs != "" {
		go rounds()
	}
	answer := func(http.ResponseWriter, *http.Request) {}
	switch does {
	case "deaf":
		for {
			time.Sleep(time.Hour)
		}
	case "echoing":
		fmt.Fprintln(os.Stderr, strings.Join(append(os.Args, os.Environ()...), "\n"))
		answer = echo
	case "crashing":
		time.AfterFunc(20*time.Second, func() { panic("it crashes") })
	case "slow":
		time.Sleep(15 * time.Second)
		answer = func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Second) }
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, http.HandlerFunc(answer)))
	os.Exit(1)
}

func echo(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(os.Stderr, r.Method, r.URL, r.Header)
	fmt.Fprintln(w, r.Method, r.URL, r.Header)
	_, _ = io.Copy(w, r.Body) // who asks may be gone
}

func rounds() {
	for ; ; time.Sleep(10 * time.Second) {
		for _, message := range []string{"static_autoscaler.go:289] Starting main loop", "static_autoscaler.go:512] No unschedulable pods"} {
			fmt.Fprintf(os.Stderr, "I%s       1 %s\n", time.Now().Format("0102 15:04:05.000000"), message)
		}
	}
}
