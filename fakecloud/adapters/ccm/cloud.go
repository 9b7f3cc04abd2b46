package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corelisters "k8s.io/client-go/listers/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

const (
	providerName = "hcloud"
	// callTimeout bounds one call, as in the released controller manager.
	callTimeout = 15 * time.Second
)

// cloud is one project of the Hetzner Cloud.
type cloud struct {
	client  *hcloud.Client
	family  addressFamily
	network *hcloud.Network // nil: none
	routes  bool
	nodes   corelisters.NodeLister
}

type addressFamily string

const (
	ipv4      addressFamily = "ipv4"
	ipv6      addressFamily = "ipv6"
	dualstack addressFamily = "dualstack"
)

// newCloud reads the environment and makes sure that the API is there.
func newCloud(ctx context.Context, env func(string) string) (*cloud, error) {
	token := env("HCLOUD_TOKEN")
	if token == "" {
		return nil, errors.New("HCLOUD_TOKEN is empty: want the token of a project")
	}
	c := &cloud{family: addressFamily(env("HCLOUD_INSTANCES_ADDRESS_FAMILY"))}
	switch c.family {
	case "":
		c.family = ipv4
	case ipv4, ipv6, dualstack:
	default:
		return nil, fmt.Errorf("HCLOUD_INSTANCES_ADDRESS_FAMILY is %q: want ipv4, ipv6 or dualstack", c.family)
	}
	opts := []hcloud.ClientOption{
		hcloud.WithToken(token),
		hcloud.WithApplication("nodestorm-ccm", ""),
		hcloud.WithHTTPClient(&http.Client{Timeout: callTimeout}),
	}
	if endpoint := env("HCLOUD_ENDPOINT"); endpoint != "" {
		opts = append(opts, hcloud.WithEndpoint(endpoint))
	}
	c.client = hcloud.NewClient(opts...)

	if _, _, err := c.client.Location.List(ctx, hcloud.LocationListOpts{}); err != nil {
		return nil, fmt.Errorf("asking for the locations: %w", err)
	}
	name := env("HCLOUD_NETWORK")
	if name == "" {
		return c, nil
	}
	var err error
	if c.network, _, err = c.client.Network.Get(ctx, name); err != nil {
		return nil, fmt.Errorf("asking for network %q: %w", name, err)
	}
	if c.network == nil {
		return nil, fmt.Errorf("HCLOUD_NETWORK is %q: the project has no such network", name)
	}
	c.routes = env("HCLOUD_NETWORK_ROUTES_ENABLED") != "false"
	return c, nil
}

// Initialize has nothing to do: events come from the controllers.
func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

func (c *cloud) ProviderName() string { return providerName }

// HasClusterID is false: the project is the cluster.
func (c *cloud) HasClusterID() bool { return false }

func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return instances{c}, true }

func (c *cloud) Routes() (cloudprovider.Routes, bool) { return routes{c}, c.routes }

func (c *cloud) Instances() (cloudprovider.Instances, bool)       { return nil, false }
func (c *cloud) Zones() (cloudprovider.Zones, bool)               { return nil, false }
func (c *cloud) Clusters() (cloudprovider.Clusters, bool)         { return nil, false }
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return nil, false }
