package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/vapi/rest"
	"gopkg.in/gcfg.v1"
	cloudprovider "k8s.io/cloud-provider"
)

// callTimeout bounds what one question of the controllers asks of the vCenter.
const callTimeout = 30 * time.Second

// vcenter is a section of the configuration.
type vcenter struct {
	User        string
	Password    string
	Port        string
	Datacenters string
}

// configuration is vsphere.conf.
type configuration struct {
	Global struct {
		vcenter
		InsecureFlag bool   `gcfg:"insecure-flag"`
		SecretName   string `gcfg:"secret-name"`
	}
	VirtualCenter map[string]*vcenter
	Labels        struct{ Region, Zone string }
}

// cloud is one vCenter.
type cloud struct {
	url          *url.URL
	insecure     bool
	region, zone string // categories of tags

	mu     sync.Mutex
	client *govmomi.Client // nil: not logged in
	web    *rest.Client
}

// newCloud reads the configuration and makes sure that the vCenter is there.
func newCloud(text io.Reader) (*cloud, error) {
	if text == nil {
		return nil, errors.New("--cloud-config is missing: want a vsphere.conf")
	}
	var cfg configuration
	if err := gcfg.FatalOnly(gcfg.ReadInto(&cfg, text)); err != nil {
		return nil, fmt.Errorf("reading --cloud-config: %w", err)
	}
	if len(cfg.VirtualCenter) == 0 {
		return nil, errors.New(`--cloud-config has no section [VirtualCenter "HOST"]`)
	}
	host := slices.Sorted(maps.Keys(cfg.VirtualCenter))[0]
	at := cfg.VirtualCenter[host]
	user, password := cmp.Or(at.User, cfg.Global.User), cmp.Or(at.Password, cfg.Global.Password)
	if user == "" || password == "" {
		return nil, fmt.Errorf("--cloud-config has no user and password for %q", host)
	}
	c := &cloud{
		url: &url.URL{
			Scheme: "https", Host: net.JoinHostPort(host, cmp.Or(at.Port, cfg.Global.Port, "443")), Path: "/sdk",
			User: url.UserPassword(user, password),
		},
		insecure: cfg.Global.InsecureFlag, region: cfg.Labels.Region, zone: cfg.Labels.Zone,
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	_, _, err := c.session(ctx)
	return c, err
}

// session is a client that is logged in.
func (c *cloud) session(ctx context.Context) (*govmomi.Client, *rest.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		if s, err := session.NewManager(c.client.Client).UserSession(ctx); err == nil && s != nil {
			return c.client, c.web, nil
		}
		c.client = nil
	}
	client, err := govmomi.NewClient(ctx, c.url, c.insecure)
	if err != nil {
		return nil, nil, fmt.Errorf("logging in to %s: %w", c.url.Host, withoutPassword(err, c.url))
	}
	web := rest.NewClient(client.Client)
	if err := web.Login(ctx, c.url.User); err != nil {
		return nil, nil, fmt.Errorf("logging in to the tags of %s: %w", c.url.Host, withoutPassword(err, c.url))
	}
	c.client, c.web = client, web
	return client, web, nil
}

// withoutPassword keeps what errors of package net/url quote out of the log.
func withoutPassword(err error, u *url.URL) error {
	password, _ := u.User.Password()
	return errors.New(strings.ReplaceAll(err.Error(), password, "…"))
}

// Initialize has nothing to do: events come from the controllers.
func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

func (c *cloud) ProviderName() string { return providerName }

// HasClusterID is true: machines are found by their UUIDs.
func (c *cloud) HasClusterID() bool { return true }

func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return instances{c}, true }

func (c *cloud) Instances() (cloudprovider.Instances, bool)       { return nil, false }
func (c *cloud) Zones() (cloudprovider.Zones, bool)               { return nil, false }
func (c *cloud) Clusters() (cloudprovider.Clusters, bool)         { return nil, false }
func (c *cloud) Routes() (cloudprovider.Routes, bool)             { return nil, false }
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return nil, false }
