package externalgrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/externalgrpc/protocol"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// intercept is one call, with what faults have in store for it.
func (s *Server) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	var about cloudfault.Call
	s.cloud.View(func(tx *fakecloud.Tx) { about = callAbout(tx, path.Base(info.FullMethod), request) })
	reply, err := s.answer(ctx, request, about, handle)
	s.record(ctx, about, named(request), err)
	return reply, err
}

func (s *Server) answer(ctx context.Context, request any, about cloudfault.Call, handle grpc.UnaryHandler) (any, error) {
	if hit := s.cloud.Faults().First(cloudfault.Before, about); hit != nil {
		c := &faultyCall{s: s, ctx: ctx, hit: hit}
		if !hit.Effect.(cloudfault.BeforeCall).BeforeCall(c) {
			return nil, c.err
		}
	}
	reply, err := handle(ctx, request)
	if err != nil {
		return nil, statusOf(err)
	}
	if hit := s.cloud.Faults().First(cloudfault.After, about); hit != nil {
		c := &faultyCall{s: s, ctx: ctx, hit: hit, reply: reply}
		hit.Effect.(cloudfault.AfterCall).AfterCall(c)
		return c.reply, c.err
	}
	return reply, nil
}

// faultyCall is a call that a fault acts on, and its answer.
type faultyCall struct {
	s     *Server
	ctx   context.Context
	hit   *cloudfault.Hit
	reply any
	err   error
}

// Refuse implements cloudfault.Caller and cloudfault.Reply.
func (c *faultyCall) Refuse(e cloudfault.Refuse) {
	c.hit.Effective()
	code, err := codeOf(e)
	if err != nil {
		c.err = status.Error(codes.Internal, err.Error())
		return
	}
	c.err = status.Error(code, cmp.Or(e.Message, strings.ToLower(code.String())))
}

// RateLimit implements cloudfault.Caller.
func (c *faultyCall) RateLimit(time.Duration) {
	c.hit.Effective()
	c.err = status.Error(codes.ResourceExhausted, "too many calls")
}

// Hang implements cloudfault.Caller.
func (c *faultyCall) Hang() {
	c.hit.Effective()
	<-c.ctx.Done()
	c.err = status.FromContextError(c.ctx.Err()).Err()
}

// Delay implements cloudfault.Caller. The call is carried out, whether or not its client still waits.
func (c *faultyCall) Delay(by time.Duration) {
	c.hit.Effective()
	timer := c.s.cloud.Clock().NewTimer(by)
	defer timer.Stop()
	<-timer.C()
}

// Lose implements cloudfault.Reply.
func (c *faultyCall) Lose(hang bool) {
	c.reply = nil
	if hang {
		c.Hang()
		return
	}
	c.hit.Effective()
	c.err = status.Error(codes.Unavailable, "transport is closing")
}

// Alter implements cloudfault.Reply.
func (c *faultyCall) Alter(change func(map[string]any) bool) {
	changed, err := alter(change, c.reply.(proto.Message))
	if err != nil {
		c.reply, c.err = nil, status.Error(codes.Internal, fmt.Sprintf("fault %q: %v", c.hit.Name(), err))
	}
	if changed {
		c.hit.Effective()
	}
}

// alter has a message say something else, by its form as JSON.
func alter(change func(map[string]any) bool, m proto.Message) (changed bool, err error) {
	text, err := protojson.MarshalOptions{EmitUnpopulated: false}.Marshal(m)
	if err != nil {
		return false, err
	}
	body, err := decode(text)
	if err != nil || !change(body) {
		return false, err
	}
	altered, err := encode(body)
	if err != nil {
		return false, err
	}
	// mutant: an altered reply is the old one
	return true, protojson.Unmarshal(altered, m)
}

// codeOf is the code of a refusal: its name as "unavailable", or the one that belongs to an HTTP status.
func codeOf(e cloudfault.Refuse) (code codes.Code, err error) {
	if e.Code == "" {
		switch e.Status {
		case http.StatusBadRequest:
			return codes.Internal, nil
		case http.StatusUnauthorized:
			return codes.Unauthenticated, nil
		case http.StatusForbidden:
			return codes.PermissionDenied, nil
		case http.StatusNotFound:
			return codes.Unimplemented, nil
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return codes.Unavailable, nil
		}
		return codes.Unknown, nil
	}
	if err := code.UnmarshalJSON([]byte(strconv.Quote(strings.ToUpper(e.Code)))); err != nil || code == codes.OK {
		return 0, fmt.Errorf("%q is no code of gRPC: want one such as unavailable, internal, resource_exhausted, unimplemented", e.Code)
	}
	return code, nil
}

// CheckFault says what of a fault this API cannot do.
func CheckFault(f fault.Fault) error {
	if err := cloudfault.Check(f, Operations()); err != nil {
		return err
	}
	if e, ok := f.Effect.(cloudfault.Refuse); ok {
		if _, err := codeOf(e); err != nil {
			return fmt.Errorf("fault %q: refuse: %w", f.Name, err)
		}
	}
	return nil
}

// statusOf is a cloud's refusal in the words of gRPC.
func statusOf(err error) error {
	refused := &fakecloud.Error{}
	if !errors.As(err, &refused) {
		return err
	}
	code := codes.Internal
	switch refused.Code {
	case "not_found":
		code = codes.NotFound
	case "invalid_input":
		code = codes.InvalidArgument
	case "conflict":
		code = codes.FailedPrecondition
	case "resource_limit_exceeded":
		code = codes.ResourceExhausted
	}
	return status.Error(code, refused.Message)
}

// instanceName is the name of the instance that a node is: by its provider ID, or by the name of a node that
// has none, as have those that the autoscaler makes up for instances that never became one.
func instanceName(node *protocol.ExternalGrpcNode) string {
	for _, id := range []string{node.GetProviderID(), node.GetName()} {
		if name, ok := strings.CutPrefix(id, Scheme); ok {
			return name
		}
	}
	if node.GetProviderID() != "" {
		return ""
	}
	return node.GetName()
}

// callAbout is what faults are matched with: the group, and the first instance that the call names.
func callAbout(tx *fakecloud.Tx, rpc string, request any) cloudfault.Call {
	c := cloudfault.Call{Operation: rpc}
	if r, ok := request.(interface{ GetId() string }); ok {
		c.Group = r.GetId()
	}
	var node *protocol.ExternalGrpcNode
	switch r := request.(type) {
	case interface {
		GetNode() *protocol.ExternalGrpcNode
	}:
		node = r.GetNode()
	case *protocol.NodeGroupDeleteNodesRequest:
		if len(r.GetNodes()) > 0 {
			node = r.GetNodes()[0]
		}
	}
	if node == nil {
		return c
	}
	if i := tx.Instances.Named(instanceName(node)); i != nil {
		c.Instance = i.Name
		if c.Group == "" {
			c.Group = tx.Group(i.Labels)
		}
	}
	return c
}

// mostNamed is how many instances of one call are recorded by their names.
const mostNamed = 100

// named are the instances that a call is about together, if there are several.
func named(request any) (names []string) {
	r, is := request.(*protocol.NodeGroupDeleteNodesRequest)
	if !is || len(r.GetNodes()) < 2 {
		return nil
	}
	for _, node := range r.GetNodes()[:min(len(r.GetNodes()), mostNamed)] {
		names = append(names, instanceName(node))
	}
	return names
}

// record puts the call into the history.
func (s *Server) record(ctx context.Context, about cloudfault.Call, named []string, err error) {
	e := history.Event{At: s.cloud.Clock().Now(), Source: history.Cloud, Verb: about.Operation, Code: httpStatus(status.Code(err)),
		Actor: actor(ctx)}
	detail := map[string]any{}
	switch {
	case about.Instance != "":
		e.Object = history.Object{Resource: "instances", Name: about.Instance}
		detail["group"] = about.Group
	case about.Group != "":
		e.Object = history.Object{Resource: "nodegroups", Name: about.Group}
	}
	// mutant: of a deletion of several the history has the first
	if err == nil && named != nil {
		detail["instances"] = named
	}
	if err != nil {
		detail["error"] = history.Short(status.Convert(err).Message())
	}
	if len(detail) > 0 {
		e.Detail = detail
	}
	s.cloud.Recorder().Record(e)
}

// actor is who the client's certificate says that it is, cut short: it comes from outside.
func actor(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.PeerCertificates) > 0 {
			name := info.State.PeerCertificates[0].Subject.CommonName
			return name[:min(len(name), 64)]
		}
	}
	return ""
}

// httpStatus is the HTTP status that belongs to a code of gRPC (google.rpc.Code).
func httpStatus(code codes.Code) int {
	switch code {
	case codes.OK:
		return http.StatusOK
	case codes.InvalidArgument, codes.FailedPrecondition, codes.OutOfRange:
		return http.StatusBadRequest
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.NotFound:
		return http.StatusNotFound
	case codes.AlreadyExists, codes.Aborted:
		return http.StatusConflict
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Canceled:
		return 499
	case codes.Unimplemented:
		return http.StatusNotImplemented
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	case codes.DeadlineExceeded:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
