// Command kubernetes-node is what a machine needs to be a node of a real cluster: the
// released kubelet and kubeadm, with their own commands, flags and defaults. One program
// instead of two, because they share most of their packages.
//
// Which of them it is, is the name it is called by (a symlink). The control plane comes
// from sim/kubernetes, whose kubelet is no use here: it runs on a machine that is a folder.
//
// It is a module of its own, so that Kubernetes' dependencies stay as the release names
// them, and it imports nothing of nodestorm.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmutil "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kubeadm":
		kubeadmutil.HandleError(kubeadm.Run())
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	default:
		fmt.Fprintf(os.Stderr, "%s: call me kubeadm or kubelet\n", name)
		os.Exit(2)
	}
}
