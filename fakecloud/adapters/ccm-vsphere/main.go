// Command ccm-vsphere is a cloud controller manager for vSphere: the released
// controllers of k8s.io/cloud-provider (node, node lifecycle) with a provider that asks
// a vCenter through govmomi. It initialises Nodes, deletes those whose virtual machine
// is gone, and marks those whose virtual machine is off.
//
// It takes the flags of every cloud controller manager, and in --cloud-config the
// vsphere.conf (INI) of the released cloud-provider-vsphere as far as it goes, so that
// either can stand in for the other:
//
//	[Global]                     user, password, port, insecure-flag
//	[VirtualCenter "HOST"]       user, password, port, datacenters: the first is used
//	[Labels]                     region, zone: categories of tags; empty: no zones
//
// There are no load balancers, and credentials in a Secret of the cluster (secret-name)
// are not read.
//
// It is a module of its own, so that Kubernetes' dependencies stay as the release
// names them, and it imports nothing of nodestorm.
package main

import (
	"io"
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

const providerName = "vsphere"

func main() {
	cloudprovider.RegisterCloudProvider(providerName, func(config io.Reader) (cloudprovider.Interface, error) {
		return newCloud(config)
	})
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

// provider is the cloud of the configuration. The command has no way to hand an error
// on, so it ends here.
func provider(cfg *config.CompletedConfig) cloudprovider.Interface {
	provider := cfg.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(provider.Name, provider.CloudConfigFile)
	if err != nil {
		klog.ErrorS(err, "Cannot use the cloud")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	return cloud
}
