// Package vcenter serves a fake cloud on the API of a vCenter: govmomi's own simulator
// (vcsim), whose virtual machines are the cloud's instances. The cloud is the truth:
// what happens to an instance shows in the inventory, and powering on, powering off and
// destroying a virtual machine through the API is done to the instance, with its times
// and faults.
//
// One data centre stands for all, with a cluster for each of the cloud's locations.
// They carry tags of the categories k8s-region and k8s-zone, as the documentation of
// vSphere's cloud provider has it: the location's network zone and its name.
//
// Other changes through the API (creating, cloning, reconfiguring) are vcsim's own, and
// no instance knows of them.
package vcenter

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vapi/rest"
	_ "github.com/vmware/govmomi/vapi/simulator" // the API of tags
	"github.com/vmware/govmomi/vapi/tags"

	"nodestorm/fakecloud"
	"nodestorm/sim/history"
)

// Categories of the tags.
const (
	RegionCategory = "k8s-region"
	ZoneCategory   = "k8s-zone"
)

// Datacenter is the name of the only one.
const Datacenter = "DC0"

// Config says what to serve. All fields are required.
type Config struct {
	Cloud          *fakecloud.Cloud
	User, Password string
}

// Server is a vCenter on loopback. Its certificate is vcsim's own: clients cannot
// check it.
type Server struct {
	cloud   *fakecloud.Cloud
	model   *simulator.Model
	server  *simulator.Server
	client  *govmomi.Client
	folder  *object.Folder
	pools   map[string]*object.ResourcePool // by location
	network object.NetworkReference

	user, password string
	others         *history.Strangers

	unwatch func()
	kick    chan struct{}
	cancel  context.CancelFunc
	ended   chan struct{}

	machines map[int64]*machine // by instance; the reconciler's
}

// Serve starts a vCenter with what the cloud has now. Close it.
func Serve(ctx context.Context, cfg Config) (_ *Server, err error) {
	if cfg.Cloud == nil || cfg.User == "" || cfg.Password == "" {
		return nil, errors.New("vsphere: Config wants a Cloud, a User and a Password")
	}
	locations := cfg.Cloud.Catalogue().Locations
	model := simulator.VPX()
	model.Host, model.Machine = 0, 0
	model.Cluster, model.ClusterHost = len(locations), 1
	s := &Server{
		cloud: cfg.Cloud, model: model, pools: map[string]*object.ResourcePool{}, machines: map[int64]*machine{},
		kick: make(chan struct{}, 1), ended: make(chan struct{}), user: cfg.User, password: cfg.Password,
		others: history.CountStrangers(cfg.Cloud.Recorder(), "the vCenter"),
	}
	if err := model.Create(); err != nil {
		return nil, fmt.Errorf("making a vCenter: %w", err)
	}
	model.Service.Listen = &url.URL{Host: "127.0.0.1:0", User: url.UserPassword(cfg.User, cfg.Password)}
	model.Service.TLS = &tls.Config{}
	model.Service.RegisterEndpoints = true
	s.shut(model.Service)
	s.server = model.Service.NewServer()
	defer func() {
		if err != nil {
			s.server.Close()
			model.Remove()
		}
	}()
	if s.client, err = govmomi.NewClient(ctx, s.server.URL, true); err != nil {
		return nil, fmt.Errorf("logging in to the vCenter: %w", err)
	}
	if err := s.arrange(ctx, locations); err != nil {
		return nil, fmt.Errorf("arranging the vCenter: %w", err)
	}
	run, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.unwatch = cfg.Cloud.Watch(func(fakecloud.Change) {
		select {
		case s.kick <- struct{}{}:
		default:
		}
	})
	if err := s.reconcile(ctx); err != nil {
		s.unwatch()
		cancel()
		return nil, err
	}
	go s.run(run)
	return s, nil
}

// arrange finds where machines go, and tags the places.
func (s *Server) arrange(ctx context.Context, locations []fakecloud.Location) error {
	finder := find.NewFinder(s.client.Client)
	dc, err := finder.Datacenter(ctx, Datacenter)
	if err != nil {
		return err
	}
	finder.SetDatacenter(dc)
	folders, err := dc.Folders(ctx)
	if err != nil {
		return err
	}
	s.folder = folders.VmFolder
	if s.network, err = finder.Network(ctx, Datacenter+"_DVPG0"); err != nil {
		return err
	}
	web := rest.NewClient(s.client.Client)
	if err := web.Login(ctx, s.server.URL.User); err != nil {
		return err
	}
	defer func() { _ = web.Logout(ctx) }() // its session ends with the server
	tag := tagger{tags.NewManager(web), map[string]string{}}
	for i, l := range locations {
		cluster, err := finder.ClusterComputeResource(ctx, fmt.Sprintf("%s_C%d", Datacenter, i))
		if err != nil {
			return err
		}
		if s.pools[l.Name], err = cluster.ResourcePool(ctx); err != nil {
			return err
		}
		if err := errors.Join(tag.put(ctx, RegionCategory, l.NetworkZone, cluster), tag.put(ctx, ZoneCategory, l.Name, cluster)); err != nil {
			return err
		}
	}
	return nil
}

// tagger makes categories and tags as they are needed.
type tagger struct {
	*tags.Manager
	made map[string]string // IDs by name
}

func (t tagger) put(ctx context.Context, category, name string, on object.Reference) (err error) {
	if t.made[category] == "" {
		if t.made[category], err = t.CreateCategory(ctx, &tags.Category{Name: category, Cardinality: "SINGLE"}); err != nil {
			return err
		}
	}
	key := category + "/" + name
	if t.made[key] == "" {
		if t.made[key], err = t.CreateTag(ctx, &tags.Tag{Name: name, CategoryID: t.made[category]}); err != nil {
			return err
		}
	}
	return t.AttachTag(ctx, t.made[key], on)
}

// Host is the server's host and port.
func (s *Server) Host() string { return s.server.URL.Host }

// Close ends the server, and removes what vcsim has on disk.
func (s *Server) Close() error {
	s.unwatch()
	s.cancel()
	<-s.ended
	s.server.Close()
	s.model.Remove()
	return s.others.Close()
}

// UUID is the BIOS UUID of an instance's virtual machine, which its provider ID names.
func UUID(id int64) string { return fmt.Sprintf("42000000-0000-4000-8000-%012x", id) }
