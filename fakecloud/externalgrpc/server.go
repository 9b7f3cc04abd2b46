// Package externalgrpc serves a fakecloud.Cloud on the protocol by which Cluster Autoscaler speaks to a cloud
// provider that is none of its own (its provider externalgrpc), as releases from 1.27 on have it. The
// cloud's groups are the node groups.
//
// It decides nothing about the cloud: that is fakecloud's.
//
// Every call goes to the history, with source "cloud", the RPC's name as verb ("NodeGroupIncreaseSize"), and as code
// the HTTP status that belongs to that of gRPC: 200 for OK, 503 for Unavailable.
package externalgrpc

//go:generate sh -c "cd protocol && go run github.com/bufbuild/buf/cmd/buf@v1.57.2 generate"

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/externalgrpc/protocol"
	"nodestorm/fakecloud/loopback"
)

// Scheme is that of the provider IDs: an instance's is "externalgrpc://NAME".
const Scheme = "externalgrpc://"

// Config says what a Server works with.
type Config struct {
	// Cloud is what it serves. Required.
	Cloud *fakecloud.Cloud
	// TLS is what clients are shown, and asked for. Nil means that connections are in clear.
	TLS *tls.Config
	// Listener is one of loopback, unless Everywhere is set. Nil means 127.0.0.1 and a free port.
	Listener   net.Listener
	Everywhere bool
	// GPULabel is the label of nodes with GPUs, and GPUTypes are the types that there are. Empty: none.
	GPULabel string
	GPUTypes []string
}

// Server is an API that is being served.
type Server struct {
	protocol.UnimplementedCloudProviderServer
	cfg      Config
	cloud    *fakecloud.Cloud
	listener net.Listener
	server   *grpc.Server
	served   chan struct{}
	stop     func() bool
}

// Calls are the names of all calls, as the history has them.
func Calls() (names []string) {
	for _, method := range protocol.CloudProvider_ServiceDesc.Methods {
		names = append(names, method.MethodName)
	}
	return names
}

// Operations are what faults match: all calls, and the commands of actions that instances of groups see.
func Operations() []string {
	return append(Calls(), "create_server", "start_server", "delete_server")
}

// Serve serves the API until Close or the end of ctx.
func Serve(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Cloud == nil {
		return nil, errors.New("externalgrpc: Config wants a Cloud")
	}
	l, err := cfg.Listener, error(nil)
	if l == nil || !cfg.Everywhere {
		l, err = loopback.Listener(l)
	}
	if err != nil {
		return nil, fmt.Errorf("externalgrpc: %w", err)
	}
	creds := insecure.NewCredentials()
	if cfg.TLS != nil {
		// mutant: anybody's certificate opens the cloud of node groups
		creds = credentials.NewTLS(cfg.TLS)
	}
	s := &Server{cfg: cfg, cloud: cfg.Cloud, listener: l, served: make(chan struct{})}
	s.server = grpc.NewServer(grpc.Creds(creds), grpc.UnaryInterceptor(s.intercept), grpc.MaxRecvMsgSize(maxCall))
	protocol.RegisterCloudProviderServer(s.server, s)
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // ErrServerStopped
	}()
	s.stop = context.AfterFunc(ctx, s.server.Stop)
	return s, nil
}

// maxCall is more than any call needs, in bytes: one about a thousand nodes with all their labels.
const maxCall = 4 << 20

// Addr is HOST:PORT.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the server and its connections.
func (s *Server) Close() error {
	s.stop()
	s.server.Stop()
	<-s.served
	return nil
}

// group is the one with that ID, as the protocol calls its name.
func group(tx *fakecloud.Tx, id string) (*fakecloud.Group, error) {
	if g := tx.Groups.Named(id); g != nil {
		return g, nil
	}
	return nil, fakecloud.NotFound("group", id)
}

func groupMessage(g *fakecloud.Group) *protocol.NodeGroup {
	return &protocol.NodeGroup{
		Id: g.Name, MinSize: int32(g.Min), MaxSize: int32(g.Max),
		Debug: fmt.Sprintf("%s: %s in %s, from %d to %d, target %d", g.Name, g.Type, g.Location, g.Min, g.Max, g.Target),
	}
}

// NodeGroups implements the RPC: here faults in the listing act.
func (s *Server) NodeGroups(context.Context, *protocol.NodeGroupsRequest) (*protocol.NodeGroupsResponse, error) {
	r := &protocol.NodeGroupsResponse{}
	s.cloud.View(func(tx *fakecloud.Tx) {
		about := cloudfault.Call{Operation: "NodeGroups"}
		all := fakecloud.LeaveOut(tx, tx.Groups.All(), func(g *fakecloud.Group) (cloudfault.Call, time.Time) {
			return cloudfault.Call{Operation: about.Operation, Group: g.Name}, g.Created
		})
		for _, g := range fakecloud.CutShort(tx, all, about) {
			r.NodeGroups = append(r.NodeGroups, groupMessage(g))
		}
	})
	return r, nil
}

// NodeGroupForNode implements the RPC. Of a node that is no instance of a group it says that it is not the
// autoscaler's.
func (s *Server) NodeGroupForNode(_ context.Context, q *protocol.NodeGroupForNodeRequest) (*protocol.NodeGroupForNodeResponse, error) {
	r := &protocol.NodeGroupForNodeResponse{NodeGroup: &protocol.NodeGroup{}}
	s.cloud.View(func(tx *fakecloud.Tx) {
		if i := tx.Instances.Named(instanceName(q.GetNode())); i != nil {
			if g := tx.Groups.Named(tx.Group(i.Labels)); g != nil {
				r.NodeGroup = groupMessage(g)
			}
		}
	})
	return r, nil
}

// NodeGroupTargetSize implements the RPC.
func (s *Server) NodeGroupTargetSize(_ context.Context, q *protocol.NodeGroupTargetSizeRequest) (r *protocol.NodeGroupTargetSizeResponse,
	err error) {
	s.cloud.View(func(tx *fakecloud.Tx) {
		var g *fakecloud.Group
		if g, err = group(tx, q.GetId()); err == nil {
			r = &protocol.NodeGroupTargetSizeResponse{TargetSize: int32(g.Target)}
		}
	})
	return r, err
}

// NodeGroupIncreaseSize implements the RPC. Instances are created after it.
func (s *Server) NodeGroupIncreaseSize(_ context.Context,
	q *protocol.NodeGroupIncreaseSizeRequest) (*protocol.NodeGroupIncreaseSizeResponse, error) {
	delta := int(q.GetDelta())
	return &protocol.NodeGroupIncreaseSizeResponse{}, s.cloud.Update(func(tx *fakecloud.Tx) error {
		g, err := group(tx, q.GetId())
		switch {
		case err != nil:
			return err
		case delta <= 0:
			return fakecloud.Errorf("invalid_input", "a delta of %d: want more than zero", delta)
		case g.Target+delta > g.Max:
			return fakecloud.Errorf("invalid_input", "a target of %d and %d more are above the maximum of %d", g.Target, delta, g.Max)
		}
		tx.SetTarget(g.ID, g.Target+delta)
		return nil
	})
}

// NodeGroupDecreaseTargetSize implements the RPC. It deletes nothing.
func (s *Server) NodeGroupDecreaseTargetSize(_ context.Context,
	q *protocol.NodeGroupDecreaseTargetSizeRequest) (*protocol.NodeGroupDecreaseTargetSizeResponse, error) {
	delta := int(q.GetDelta())
	return &protocol.NodeGroupDecreaseTargetSizeResponse{}, s.cloud.Update(func(tx *fakecloud.Tx) error {
		g, err := group(tx, q.GetId())
		switch {
		case err != nil:
			return err
		case delta >= 0:
			return fakecloud.Errorf("invalid_input", "a delta of %d: want less than zero", delta)
		}
		return tx.Forgo(g.ID, -delta)
	})
}

// NodeGroupDeleteNodes implements the RPC: all of them or none.
func (s *Server) NodeGroupDeleteNodes(_ context.Context, q *protocol.NodeGroupDeleteNodesRequest) (*protocol.NodeGroupDeleteNodesResponse,
	error) {
	return &protocol.NodeGroupDeleteNodesResponse{}, s.cloud.Update(func(tx *fakecloud.Tx) error {
		g, err := group(tx, q.GetId())
		if err != nil {
			return err
		}
		var ids []int64
		for _, node := range q.GetNodes() {
			i := tx.Instances.Named(instanceName(node))
			if i == nil {
				return fakecloud.NotFound("instance", instanceName(node))
			}
			ids = append(ids, i.ID)
		}
		// mutant: nodes go below the minimum of their group
		if g.Target-len(ids) < g.Min {
			return fakecloud.Errorf("conflict", "a target of %d, less %d, is below the minimum of %d", g.Target, len(ids), g.Min)
		}
		return tx.DeleteMembers(g.ID, ids...)
	})
}

// NodeGroupNodes implements the RPC: here faults in the listing act.
func (s *Server) NodeGroupNodes(_ context.Context, q *protocol.NodeGroupNodesRequest) (r *protocol.NodeGroupNodesResponse, err error) {
	s.cloud.View(func(tx *fakecloud.Tx) {
		var g *fakecloud.Group
		if g, err = group(tx, q.GetId()); err != nil {
			return
		}
		about := callAbout(tx, "NodeGroupNodes", q)
		members := slices.DeleteFunc(tx.ListInstances(about), func(i *fakecloud.Instance) bool { return tx.Group(i.Labels) != g.Name })
		r = &protocol.NodeGroupNodesResponse{}
		for _, i := range fakecloud.CutShort(tx, members, about) {
			r.Instances = append(r.Instances, instanceMessage(i))
		}
	})
	return r, err
}

// The classes of errors that the protocol knows.
const (
	outOfResources = 1
	otherError     = 99
)

func instanceMessage(i *fakecloud.Instance) *protocol.Instance {
	status := &protocol.InstanceStatus{InstanceState: protocol.InstanceStatus_instanceRunning}
	switch i.State {
	case fakecloud.Creating, fakecloud.Starting:
		status.InstanceState = protocol.InstanceStatus_instanceCreating
	case fakecloud.Deleting:
		status.InstanceState = protocol.InstanceStatus_instanceDeleting
	}
	if why := i.Failure; why != nil {
		status.ErrorInfo = &protocol.InstanceErrorInfo{ErrorCode: why.Code, ErrorMessage: why.Message, InstanceErrorClass: otherError}
		switch why.Code {
		case "resource_unavailable", "resource_limit_exceeded", "placement_error":
			status.ErrorInfo.InstanceErrorClass = outOfResources
		}
	}
	return &protocol.Instance{Id: Scheme + i.Name, Status: status}
}

// GPULabel implements the RPC.
func (s *Server) GPULabel(context.Context, *protocol.GPULabelRequest) (*protocol.GPULabelResponse, error) {
	return &protocol.GPULabelResponse{Label: s.cfg.GPULabel}, nil
}

// Refresh implements the RPC: there is nothing to do, as nothing is remembered.
func (s *Server) Refresh(context.Context, *protocol.RefreshRequest) (*protocol.RefreshResponse, error) {
	return &protocol.RefreshResponse{}, nil
}

// Cleanup implements the RPC: there is nothing to do, as nothing is kept for a client.
func (s *Server) Cleanup(context.Context, *protocol.CleanupRequest) (*protocol.CleanupResponse, error) {
	return &protocol.CleanupResponse{}, nil
}
