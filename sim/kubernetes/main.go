// Command nodestorm-kubernetes is Kubernetes in one program: the released etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and kubectl, with their own
// commands, flags and defaults, and the kubelet on a machine that is a folder (see
// package kubelet). One program instead of six, because they share most of their
// packages: it is linked once.
//
// Which face it shows is chosen by the name it is called by (a symlink), or by
// the first argument:
//
//	kube-apiserver --version
//	nodestorm-kubernetes kube-apiserver --version
//
// It is a module of its own, so that Kubernetes' dependencies stay as the
// release names them, and it imports nothing of nodestorm.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "time/tzdata" // time zones of CronJobs, as in the released kube-apiserver

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"nodestorm/sim/kubernetes/kubelet"
)

// faces are run with os.Args as if each were the program of that name.
var faces = map[string]func() int{
	"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubelet":                 func() int { return cli.Run(kubelet.NewCommand()) },
	"kubectl":                 runKubectl,
}

func main() {
	face, args := choose(os.Args)
	if face == nil {
		fmt.Fprintf(os.Stderr, "nodestorm-kubernetes: call me by the name of one of my faces, or give it as the first argument: %s\n",
			strings.Join(names(), ", "))
		os.Exit(2)
	}
	os.Args = args
	os.Exit(face())
}

// choose returns the face that args ask for, nil for none, and the arguments
// that the face is to see, its own name first.
func choose(args []string) (face func() int, rest []string) {
	for i := range min(len(args), 2) {
		if face := faces[filepath.Base(args[i])]; face != nil {
			return face, args[i:]
		}
	}
	return nil, nil
}

func names() []string {
	var names []string
	for name := range faces {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// runKubectl sets the log level first: kubectl reads its plugins and its
// preferences while the command is being made, before flags are parsed.
func runKubectl() int {
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) // a bad level is reported when the flags are parsed
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}
