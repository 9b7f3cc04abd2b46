// Command ccm is a cloud controller manager for the Hetzner Cloud API: the released
// controllers of k8s.io/cloud-provider (node, node lifecycle, route) with a provider
// that dials the API through hcloud-go. It initialises Nodes, deletes those whose
// server is gone, marks those whose server is off, and keeps routes to pods.
//
// It takes the flags of every cloud controller manager and the environment of the
// released hcloud-cloud-controller-manager as far as it goes, so that either can stand
// in for the other:
//
//	HCLOUD_TOKEN                      of the project, required
//	HCLOUD_ENDPOINT                   of the API; empty: the public one
//	HCLOUD_NETWORK                    name or ID: internal addresses and routes
//	HCLOUD_NETWORK_ROUTES_ENABLED     false: no routes, in spite of HCLOUD_NETWORK
//	HCLOUD_INSTANCES_ADDRESS_FAMILY   ipv4 (default), ipv6 or dualstack
//
// There are no load balancers and no dedicated (Robot) servers.
//
// It is a module of its own, so that Kubernetes' dependencies stay as the release
// names them, and it imports nothing of nodestorm.
package main

import (
	"context"
	"os"

	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"
)

func main() {
	o, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.ErrorS(err, "Cannot make the options")
		os.Exit(1)
	}
	o.KubeCloudShared.CloudProvider.Name = providerName
	command := app.NewCloudControllerManagerCommand(o, provider, app.DefaultInitFuncConstructors,
		names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop)
	os.Exit(cli.Run(command))
}

// provider is the cloud of the environment. The command has no way to hand an error
// on, so it ends here.
func provider(cfg *config.CompletedConfig) cloudprovider.Interface {
	c, err := newCloud(context.Background(), os.Getenv)
	if err != nil {
		klog.ErrorS(err, "Cannot use the cloud")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	c.nodes = cfg.SharedInformers.Core().V1().Nodes().Lister()
	return c
}
