// Command inert stands in for Cluster Autoscaler and for Karpenter, and does nothing: it
// answers --help and every health check. Linked with -X main.logs=yes it also logs a
// round every ten seconds, in the words of one that found nothing to do.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

var logs string

// flags are those that the harness may ask a Cluster Autoscaler for.
var flags = []string{
	"address", "cloud-config", "cloud-provider", "cordon-node-before-terminating", "enforce-node-group-min-size", "expander",
	"kubeconfig", "kubernetes", "leader-elect", "logtostderr", "namespace", "node-group-auto-discovery", "nodes", "scan-interval", "v",
}

// variables are those that records give a Cluster Autoscaler, which has to ask for them.
var variables = []string{"CAPI_VERSION", "HCLOUD_SERVER_CREATION_TIMEOUT"}

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
				fmt.Printf("      --%s string   as Cluster Autoscaler has it\n", f)
			}
			return
		case "address":
			address = value
		}
	}
	if logs != "" {
		go rounds()
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	os.Exit(1)
}

func rounds() {
	for ; ; time.Sleep(10 * time.Second) {
		for _, message := range []string{"static_autoscaler.go:289] Starting main loop", "static_autoscaler.go:512] No unschedulable pods"} {
			fmt.Fprintf(os.Stderr, "I%s       1 %s\n", time.Now().Format("0102 15:04:05.000000"), message)
		}
	}
}
