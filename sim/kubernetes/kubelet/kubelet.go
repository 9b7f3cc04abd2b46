// Package kubelet runs the released kubelet on a machine that is a folder: its
// command line, its files, certificates, heartbeats and pod workers are its own;
// containers are those of a runtime behind a CRI socket, and mounts, cgroups and the
// machine's resources are said, not real (the way of Kubernetes' hollow nodes,
// pkg/kubemark). Everything it serves is on loopback.
//
// What of the machine a kubelet would ask the kernel for is in the environment
// variable NODESTORM_MACHINE, see [Machine]. Absolute paths on the command line and in
// configuration files are those of the machine, that is, below its folder.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
)

// NewCommand is the kubelet's, with the flags and the order of precedence of
// cmd/kubelet/app.NewKubeletCommand: defaults, then the file in --config, then flags.
// --config-dir is not known to it.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubelet",
		DisableFlagParsing: true, // flags are parsed twice, around the file
		SilenceUsage:       true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(genericapiserver.SetupSignalContext(), args)
		},
	}
}

func run(ctx context.Context, args []string) error {
	server, err := parse(args)
	if err != nil {
		return err
	}
	machine, err := machineOf(os.Getenv(MachineEnv))
	if err != nil {
		return err
	}
	if err := machine.load(ctx, server, args); err != nil {
		return err
	}
	gates := utilfeature.DefaultMutableFeatureGate
	if err := gates.SetFromMap(server.FeatureGates); err != nil {
		return fmt.Errorf("setting feature gates: %w", err)
	}
	logs.InitLogs()
	if err := logsapi.ValidateAndApply(&server.Logging, gates); err != nil {
		return fmt.Errorf("initialising logging: %w", err)
	}
	server.FailCgroupV1 = false // which cgroups this host has is none of the machine's business, it has none
	if err := validation.ValidateKubeletConfiguration(&server.KubeletConfiguration, gates); err != nil {
		return fmt.Errorf("validating the configuration: %w", err)
	}
	machine.confine(server)
	deps, err := machine.dependencies(ctx, server)
	if err != nil {
		return err
	}
	return app.Run(ctx, server, deps, gates)
}

// parse reads the command line for the first time.
func parse(args []string) (*options.KubeletServer, error) {
	server, err := options.NewKubeletServer()
	if err != nil {
		return nil, err
	}
	fs := flags("kubelet")
	server.AddFlags(fs)
	options.AddGlobalFlags(fs)
	if err := fs.Parse(args); err != nil {
		return nil, fmt.Errorf("parsing flags: %w", err)
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unknown command %q", fs.Arg(0))
	}
	if server.KubeletDropinConfigDirectory != "" {
		return nil, errors.New("--config-dir is not known here: put its settings into the file of --config")
	}
	if err := options.ValidateKubeletFlags(&server.KubeletFlags); err != nil {
		return nil, fmt.Errorf("validating flags: %w", err)
	}
	verflag.PrintAndExitIfRequested() // last, so that --version tells whether the others are right
	return server, nil
}

func flags(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	return fs
}

// load reads the file of --config and puts the flags over it again.
func (m Machine) load(ctx context.Context, server *options.KubeletServer, args []string) error {
	if server.KubeletConfigFile == "" {
		return nil
	}
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, m.path(server.KubeletConfigFile))
	if err != nil {
		return err
	}
	config, err := loader.Load(ctx)
	if err != nil {
		return fmt.Errorf("loading the file of --config, %s: %w", server.KubeletConfigFile, err)
	}
	if config.EvictionHard == nil {
		config.EvictionHard = eviction.DefaultEvictionHard
	}
	if err := flagsOver(config, args); err != nil {
		return err
	}
	server.KubeletConfiguration = *config
	return nil
}

// flagsOver parses those flags again that are also settings of the file.
func flagsOver(config *kubeletconfig.KubeletConfiguration, args []string) error {
	gates := config.FeatureGates
	config.FeatureGates = nil
	fs := flags("kubelet")
	fs.ParseErrorsAllowlist.UnknownFlags = true
	fs.SetOutput(io.Discard) // what is deprecated has been said
	options.AddKubeletConfigFlags(fs, config)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if config.FeatureGates == nil {
		config.FeatureGates = map[string]bool{}
	}
	for gate, on := range gates {
		if _, given := config.FeatureGates[gate]; !given {
			config.FeatureGates[gate] = on
		}
	}
	return nil
}
