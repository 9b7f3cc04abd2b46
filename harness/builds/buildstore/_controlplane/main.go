// Command nodestorm is the control plane of a released Kubernetes in one program: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler with their own commands, flags
// and defaults, chosen by the name it is called by. It is compiled within the release's
// module, with that's own dependencies, and imports nothing of nodestorm.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	_ "time/tzdata" // time zones of CronJobs, as in the released kube-apiserver

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		fmt.Fprintln(os.Stderr, "call me by the name of a program of the control plane")
		os.Exit(2)
	}
}
