package externalgrpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/externalgrpc/protocol"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/pki"
)

// calls are what the history has of calls.
type calls struct {
	mu  sync.Mutex
	all []history.Event
}

func (c *calls) Record(e history.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, e)
}

// last is the latest with the name.
func (c *calls) last(rpc string) (found history.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.all {
		if e.Verb == rpc {
			found = e
		}
	}
	return found
}

// rpcs are the names of the RPCs so far, each with its code.
func (c *calls) rpcs() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.all {
		if e.Code != 0 {
			names = append(names, fmt.Sprintf("%s %d %s %s", e.Verb, e.Code, e.Actor, e.Object.Name))
		}
	}
	return names
}

// rig is a cloud with the group "a" of two instances, from 1 to 5, that is being served.
type rig struct {
	cloud  *fakecloud.Cloud
	clock  *testclock.FakeClock
	seen   *calls
	server *externalgrpc.Server
	client protocol.CloudProviderClient
}

func serve(t *testing.T, cfg externalgrpc.Config, creds credentials.TransportCredentials) *rig {
	t.Helper()
	r := &rig{clock: testclock.NewFakeClock(time.Now()), seen: &calls{}}
	var err error
	r.cloud, err = fakecloud.New(fakecloud.Config{Clock: r.clock, Seed: 1, Catalogue: fakecloud.Plain(), GroupLabel: "group",
		Recorder: r.seen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.cloud.Close)
	err = r.cloud.Update(func(tx *fakecloud.Tx) error {
		_, err := tx.CreateGroup(fakecloud.Group{
			Meta: table.Meta{Name: "a"}, Min: 1, Max: 5, Target: 2, Type: "medium", Location: "zone-a", Image: fakecloud.PlainImage,
			NodeLabels: map[string]string{"pool": "a"}, Taints: []string{"x=y:NoSchedule"}, Options: map[string]string{"maxNodeProvisionTime": "3m"},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.pass(time.Minute)
	cfg.Cloud = r.cloud
	if r.server, err = externalgrpc.Serve(context.WithoutCancel(t.Context()), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.server.Close() })
	conn, err := grpc.NewClient(r.server.Addr(), grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r.client = protocol.NewCloudProviderClient(conn)
	return r
}

func (r *rig) pass(d time.Duration) { r.clock.Step(d); r.cloud.View(func(*fakecloud.Tx) {}) }

func (r *rig) target(t *testing.T) int32 {
	t.Helper()
	answer, err := r.client.NodeGroupTargetSize(t.Context(), &protocol.NodeGroupTargetSizeRequest{Id: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return answer.GetTargetSize()
}

func (r *rig) states(t *testing.T) map[string]*protocol.InstanceStatus {
	t.Helper()
	answer, err := r.client.NodeGroupNodes(t.Context(), &protocol.NodeGroupNodesRequest{Id: "a"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*protocol.InstanceStatus{}
	for _, i := range answer.GetInstances() {
		all[i.GetId()] = i.GetStatus()
	}
	return all
}

func node(name string) *protocol.ExternalGrpcNode {
	return &protocol.ExternalGrpcNode{Name: name, ProviderID: externalgrpc.Scheme + name}
}

// Every RPC, as an autoscaler calls it.
func TestCalls(t *testing.T) {
	r := serve(t, externalgrpc.Config{GPULabel: "gpu", GPUTypes: []string{"k80"}}, insecure.NewCredentials())
	ctx, c := t.Context(), r.client

	groups, err := c.NodeGroups(ctx, &protocol.NodeGroupsRequest{})
	if g := groups.GetNodeGroups(); err != nil || len(g) != 1 || g[0].GetId() != "a" || g[0].GetMinSize() != 1 || g[0].GetMaxSize() != 5 {
		t.Errorf("NodeGroups: %v, %v", groups, err)
	}
	for _, test := range []struct {
		node *protocol.ExternalGrpcNode
		want string
	}{{node("a-1"), "a"}, {&protocol.ExternalGrpcNode{Name: "a-1"}, "a"}, {node("other"), ""},
		{&protocol.ExternalGrpcNode{Name: "a-1", ProviderID: "aws:///a-1"}, ""}} {
		answer, err := c.NodeGroupForNode(ctx, &protocol.NodeGroupForNodeRequest{Node: test.node})
		if err != nil || answer.GetNodeGroup().GetId() != test.want {
			t.Errorf("NodeGroupForNode of %v: %v, %v, want %q", test.node, answer, err, test.want)
		}
	}
	if _, err := c.NodeGroupIncreaseSize(ctx, &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 1}); err != nil || r.target(t) != 3 {
		t.Errorf("NodeGroupIncreaseSize: %v, target %d", err, r.target(t))
	}
	if s := r.states(t); len(s) != 3 || s["externalgrpc://a-1"].GetInstanceState() != protocol.InstanceStatus_instanceRunning ||
		s["externalgrpc://a-3"].GetInstanceState() != protocol.InstanceStatus_instanceCreating {
		t.Errorf("NodeGroupNodes: %v", s)
	}
	if _, err := c.NodeGroupDeleteNodes(ctx, &protocol.NodeGroupDeleteNodesRequest{Id: "a",
		Nodes: []*protocol.ExternalGrpcNode{node("a-1")}}); err != nil || r.target(t) != 2 {
		t.Errorf("NodeGroupDeleteNodes: %v, target %d", err, r.target(t))
	}
	if s := r.states(t); s["externalgrpc://a-1"].GetInstanceState() != protocol.InstanceStatus_instanceDeleting {
		t.Errorf("NodeGroupNodes: %v, want a-1 to be deleting", s)
	}
	template, err := c.NodeGroupTemplateNodeInfo(ctx, &protocol.NodeGroupTemplateNodeInfoRequest{Id: "a"})
	for _, text := range [][]byte{template.GetNodeInfo(), template.GetNodeBytes()} {
		var n corev1.Node
		if err2 := n.Unmarshal(text); err != nil || err2 != nil || n.Labels["pool"] != "a" || len(n.Spec.Taints) != 1 ||
			n.Status.Capacity.Cpu().Value() != 4 {
			t.Errorf("NodeGroupTemplateNodeInfo: %v, %v, %v", err, err2, n)
		}
	}
	defaults := &protocol.NodeGroupAutoscalingOptions{ScaleDownUtilizationThreshold: 0.5}
	options, err := c.NodeGroupGetOptions(ctx, &protocol.NodeGroupAutoscalingOptionsRequest{Id: "a", Defaults: defaults})
	if o := options.GetNodeGroupAutoscalingOptions(); err != nil || o.GetScaleDownUtilizationThreshold() != 0.5 ||
		o.GetMaxNodeProvisionDuration().AsDuration() != 3*time.Minute || o.GetMaxNodeProvisionTime().GetDuration() != int64(3*time.Minute) {
		t.Errorf("NodeGroupGetOptions: %v, %v", options, err)
	}
	now := time.Now()
	medium := node("a-2")
	medium.Labels = map[string]string{corev1.LabelInstanceTypeStable: "medium", corev1.LabelTopologyZone: "zone-a"}
	hourly, _ := r.cloud.Catalogue().ServerType("medium").PriceIn("zone-a")
	price, err := c.PricingNodePrice(ctx, &protocol.PricingNodePriceRequest{Node: medium, StartTimestamp: timestamppb.New(now),
		EndTimestamp: timestamppb.New(now.Add(2 * time.Hour))})
	if err != nil || price.GetPrice() != 2*hourly.Hourly() {
		t.Errorf("PricingNodePrice: %v, %v, want %g", price, err, 2*hourly.Hourly())
	}
	older, err := c.PricingNodePrice(ctx, &protocol.PricingNodePriceRequest{Node: medium, StartTime: &protocol.Time{Seconds: now.Unix()},
		EndTime: &protocol.Time{Seconds: now.Unix() + 7200}})
	if err != nil || older.GetPrice() != price.GetPrice() {
		t.Errorf("PricingNodePrice of older releases: %v, %v", older, err)
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}}
	text, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []*protocol.PricingPodPriceRequest{{PodBytes: text}, {Pod: text}} {
		q.StartTimestamp, q.EndTimestamp = timestamppb.New(now), timestamppb.New(now.Add(time.Hour))
		price, err := c.PricingPodPrice(ctx, q)
		if want := 10.0 / 624; err != nil || price.GetPrice() < 0.99*want || price.GetPrice() > 1.01*want {
			t.Errorf("PricingPodPrice: %v, %v, want %g", price, err, want)
		}
	}
	if label, err := c.GPULabel(ctx, &protocol.GPULabelRequest{}); err != nil || label.GetLabel() != "gpu" {
		t.Errorf("GPULabel: %v, %v", label, err)
	}
	if types, err := c.GetAvailableGPUTypes(ctx, &protocol.GetAvailableGPUTypesRequest{}); err != nil || types.GetGpuTypes()["k80"] == nil {
		t.Errorf("GetAvailableGPUTypes: %v, %v", types, err)
	}
	if _, err := c.Refresh(ctx, &protocol.RefreshRequest{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Cleanup(ctx, &protocol.CleanupRequest{}); err != nil {
		t.Error(err)
	}
	// DecreaseTargetSize needs something that the cloud owes.
	if err := r.cloud.Inject(fault.Fault{Name: "owed", Effect: cloudfault.NotCreated{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.NodeGroupIncreaseSize(ctx, &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 1}); err != nil {
		t.Error(err)
	}
	if _, err := c.NodeGroupDecreaseTargetSize(ctx, &protocol.NodeGroupDecreaseTargetSizeRequest{Id: "a",
		Delta: -1}); err != nil || r.target(t) != 2 {
		t.Errorf("NodeGroupDecreaseTargetSize: %v, target %d", err, r.target(t))
	}
	seen := strings.Join(r.seen.rpcs(), "\n")
	for _, method := range protocol.CloudProvider_ServiceDesc.Methods {
		if !strings.Contains(seen, method.MethodName+" 200 ") {
			t.Errorf("%s is not in the history", method.MethodName)
		}
	}
}

// What the cloud does not do, in the words of gRPC.
func TestRefusals(t *testing.T) {
	r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
	ctx, c := t.Context(), r.client
	for name, test := range map[string]struct {
		call func() error
		want codes.Code
	}{
		"no group": {func() error {
			_, err := c.NodeGroupTargetSize(ctx, &protocol.NodeGroupTargetSizeRequest{Id: "b"})
			return err
		}, codes.NotFound},
		"above max": {func() error {
			_, err := c.NodeGroupIncreaseSize(ctx, &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 4})
			return err
		}, codes.InvalidArgument},
		"by nothing": {func() error {
			_, err := c.NodeGroupIncreaseSize(ctx, &protocol.NodeGroupIncreaseSizeRequest{Id: "a"})
			return err
		}, codes.InvalidArgument},
		"up by decreasing": {func() error {
			_, err := c.NodeGroupDecreaseTargetSize(ctx, &protocol.NodeGroupDecreaseTargetSizeRequest{Id: "a", Delta: 1})
			return err
		}, codes.InvalidArgument},
		"existing instances": {func() error {
			_, err := c.NodeGroupDecreaseTargetSize(ctx, &protocol.NodeGroupDecreaseTargetSizeRequest{Id: "a", Delta: -1})
			return err
		}, codes.FailedPrecondition},
		"no instance": {func() error {
			_, err := c.NodeGroupDeleteNodes(ctx, &protocol.NodeGroupDeleteNodesRequest{Id: "a", Nodes: []*protocol.ExternalGrpcNode{node("b-1")}})
			return err
		}, codes.NotFound},
		"below min": {func() error {
			_, err := c.NodeGroupDeleteNodes(ctx, &protocol.NodeGroupDeleteNodesRequest{Id: "a", Nodes: []*protocol.ExternalGrpcNode{node("a-1"),
				node("a-2")}})
			return err
		}, codes.FailedPrecondition},
		"no type": {func() error {
			_, err := c.PricingNodePrice(ctx, &protocol.PricingNodePriceRequest{Node: node("a-1")})
			return err
		}, codes.NotFound},
		"no pod": {func() error {
			_, err := c.PricingPodPrice(ctx, &protocol.PricingPodPriceRequest{PodBytes: []byte("x")})
			return err
		}, codes.InvalidArgument},
	} {
		if err := test.call(); status.Code(err) != test.want {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	if r.target(t) != 2 {
		t.Errorf("the target is %d after refusals only", r.target(t))
	}
}

// Faults at a call.
func TestFaults(t *testing.T) {
	increase := cloudfault.Match{Operation: "NodeGroupIncreaseSize", Group: "a"}
	for name, test := range map[string]struct {
		fault fault.Fault
		want  codes.Code
		after int32 // the target
	}{
		"refused":       {fault.Fault{Match: increase, Effect: cloudfault.Refuse{Code: "resource_exhausted"}}, codes.ResourceExhausted, 2},
		"by status":     {fault.Fault{Match: increase, Effect: cloudfault.Refuse{Status: 503}}, codes.Unavailable, 2},
		"limited":       {fault.Fault{Match: increase, Effect: cloudfault.RateLimit{}}, codes.ResourceExhausted, 2},
		"hangs":         {fault.Fault{Match: increase, Effect: cloudfault.Hang{}}, codes.DeadlineExceeded, 2},
		"reply lost":    {fault.Fault{Match: increase, Effect: cloudfault.LoseReply{}}, codes.Unavailable, 3},
		"reply refused": {fault.Fault{Match: increase, Effect: cloudfault.RefuseReply{Code: "internal"}}, codes.Internal, 3},
		"never replied": {fault.Fault{Match: increase, Effect: cloudfault.LoseReply{Hang: true}}, codes.DeadlineExceeded, 3},
		"other group":   {fault.Fault{Match: cloudfault.Match{Group: "b"}, Effect: cloudfault.Refuse{Status: 503}}, codes.OK, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
			test.fault.Name = "f"
			if err := externalgrpc.CheckFault(test.fault); err != nil {
				t.Fatal(err)
			}
			if err := r.cloud.Inject(test.fault); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if test.want == codes.DeadlineExceeded {
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			_, err := r.client.NodeGroupIncreaseSize(ctx, &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 1})
			if status.Code(err) != test.want || r.target(t) != test.after {
				t.Errorf("%v, target %d, want %v and %d", err, r.target(t), test.want, test.after)
			}
			if met := len(r.cloud.Unmet()) == 0; met != (name != "other group") {
				t.Errorf("the fault has taken effect: %v", met)
			}
		})
	}
}

// Replies that say something else.
func TestAlteredReplies(t *testing.T) {
	r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
	for _, f := range []fault.Fault{
		{Name: "no states", Match: cloudfault.Match{Operation: "NodeGroupNodes"},
			Effect: cloudfault.AlterReply{Omit: []string{"instances.status"}}},
		{Name: "a lie", Match: cloudfault.Match{Operation: "NodeGroupTargetSize"}, Plan: fault.Plan{Limit: 1},
			Effect: cloudfault.AlterReply{Set: map[string]any{"targetSize": 7}}},
		{Name: "no template", Match: cloudfault.Match{Operation: "NodeGroupTemplateNodeInfo"},
			Effect: cloudfault.AlterReply{Omit: []string{"nodeInfo",
				"nodeBytes"}}},
	} {
		if err := r.cloud.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	if s := r.states(t); len(s) != 2 || s["externalgrpc://a-1"] != nil {
		t.Errorf("%v: want two instances without status", s)
	}
	if first, second := r.target(t), r.target(t); first != 7 || second != 2 {
		t.Errorf("the target is said to be %d, then %d, want 7 once and 2", first, second)
	}
	answer, err := r.client.NodeGroupTemplateNodeInfo(t.Context(), &protocol.NodeGroupTemplateNodeInfoRequest{Id: "a"})
	if err != nil || answer.GetNodeInfo() != nil || answer.GetNodeBytes() != nil {
		t.Errorf("%v, %v: want no template", answer, err)
	}
	if unmet := r.cloud.Unmet(); len(unmet) > 0 {
		t.Errorf("%q made no difference", unmet)
	}
}

// An instance that cannot be had is shown with its error.
func TestFailedInstances(t *testing.T) {
	r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
	if err := r.cloud.Inject(fault.Fault{Name: "f", Effect: cloudfault.Unavailable{Type: "medium"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.NodeGroupIncreaseSize(t.Context(), &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 1}); err != nil {
		t.Fatal(err)
	}
	s := r.states(t)["externalgrpc://a-3"]
	if s.GetInstanceState() != protocol.InstanceStatus_instanceCreating || s.GetErrorInfo().GetErrorCode() != "resource_unavailable" ||
		s.GetErrorInfo().GetInstanceErrorClass() != 1 {
		t.Errorf("%v", s)
	}
}

// A deletion that is half done.
func TestHalfDeleted(t *testing.T) {
	for leaves, test := range map[string]struct {
		code   codes.Code
		target int32
		gone   []string // of a-2 and a-3, which are deleted
		made   bool     // another one
	}{
		cloudfault.LeavesTarget:   {codes.OK, 3, []string{"a-2", "a-3"}, true},
		cloudfault.LeavesInstance: {codes.OK, 2, []string{"a-2"}, false},
		cloudfault.LeavesRest:     {codes.Internal, 3, []string{"a-2"}, false},
	} {
		t.Run(leaves, func(t *testing.T) {
			r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
			f := fault.Fault{Name: "f", Match: cloudfault.Match{Instance: "a-3"}, Plan: fault.Plan{Limit: 1},
				Effect: cloudfault.HalfDeleted{Leaves: leaves}}
			if err := externalgrpc.CheckFault(f); err != nil {
				t.Fatal(err)
			}
			if err := r.cloud.Inject(f); err != nil {
				t.Fatal(err)
			}
			if _, err := r.client.NodeGroupIncreaseSize(t.Context(), &protocol.NodeGroupIncreaseSizeRequest{Id: "a", Delta: 2}); err != nil {
				t.Fatal(err)
			}
			r.pass(time.Minute)
			_, err := r.client.NodeGroupDeleteNodes(t.Context(), &protocol.NodeGroupDeleteNodesRequest{Id: "a",
				Nodes: []*protocol.ExternalGrpcNode{node("a-2"), node("a-3")}})
			if status.Code(err) != test.code || r.target(t) != test.target {
				t.Errorf("%v, target %d, want %v and %d", err, r.target(t), test.code, test.target)
			}
			call := r.seen.last("NodeGroupDeleteNodes")
			if names, _ := call.Detail["instances"].([]string); (err == nil) != slices.Equal(names, []string{"a-2", "a-3"}) {
				t.Errorf("the history has the deletion of %v, and the answer is %v", names, err)
			}
			for name, s := range r.states(t) {
				if deleting := s.GetInstanceState() == protocol.InstanceStatus_instanceDeleting; deleting != slices.Contains(test.gone,
					strings.TrimPrefix(name, externalgrpc.Scheme)) {
					t.Errorf("%s is %v", name, s)
				}
			}
			if made := r.states(t)["externalgrpc://a-5"] != nil; made != test.made {
				t.Errorf("another instance is created: %v", made)
			}
			if unmet := r.cloud.Unmet(); len(unmet) > 0 {
				t.Errorf("%q made no difference", unmet)
			}
		})
	}
}

// Groups that a listing does not have.
func TestListingsOfGroups(t *testing.T) {
	for _, f := range []fault.Fault{
		{Name: "partial", Match: cloudfault.Match{Operation: "NodeGroups"}, Plan: fault.Plan{Limit: 1}, Effect: cloudfault.Partial{}},
		{Name: "missing", Match: cloudfault.Match{Operation: "NodeGroups", Group: "a"}, Plan: fault.Plan{Limit: 1}, Effect: cloudfault.Missing{}},
	} {
		r := serve(t, externalgrpc.Config{}, insecure.NewCredentials())
		if err := externalgrpc.CheckFault(f); err != nil {
			t.Fatal(err)
		}
		if err := r.cloud.Inject(f); err != nil {
			t.Fatal(err)
		}
		for call, want := range []int{0, 1} {
			answer, err := r.client.NodeGroups(t.Context(), &protocol.NodeGroupsRequest{})
			if got := len(answer.GetNodeGroups()); err != nil || got != want {
				t.Errorf("%s, call %d: %d groups, %v; want %d", f.Name, call+1, got, err, want)
			}
		}
	}
}

func TestCheckFault(t *testing.T) {
	for want, f := range map[string]fault.Fault{
		"no code of gRPC":      {Name: "f", Effect: cloudfault.Refuse{Code: "server_error"}},
		"NodeGroups":           {Name: "f", Match: cloudfault.Match{Operation: "GET /servers"}, Effect: cloudfault.Hang{}},
		"leaves is \"half\"":   {Name: "f", Effect: cloudfault.HalfDeleted{Leaves: "half"}},
		"fits nothing that st": {Name: "f", Match: cloudfault.Match{Operation: "NodeGroups"}, Effect: cloudfault.Stale{}},
	} {
		if err := externalgrpc.CheckFault(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
}

func TestCheckOptions(t *testing.T) {
	if err := externalgrpc.CheckOptions(map[string]string{"scaleDownUnneededTime": "1m", "zeroOrMaxNodeScaling": "true"}); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"none": "1", "scaleDownUnneededTime": "soon", "scaleDownUtilizationThreshold": "half"} {
		if err := externalgrpc.CheckOptions(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// With certificates no other client gets in, and the history says who called.
func TestTLS(t *testing.T) {
	authority, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair := func(name string, of *pki.Authority, hosts ...string) tls.Certificate {
		issued, err := of.Issue(name, nil, hosts...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := issued.TLS()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority.Cert)
	cfg := externalgrpc.Config{TLS: &tls.Config{Certificates: []tls.Certificate{pair("cloud", authority, "127.0.0.1")}, ClientCAs: trusted,
		ClientAuth: tls.RequireAndVerifyClientCert}}
	good := credentials.NewTLS(&tls.Config{ServerName: "127.0.0.1", RootCAs: trusted, Certificates: []tls.Certificate{pair("client",
		authority)}})
	r := serve(t, cfg, good)
	r.target(t)
	if seen := r.seen.rpcs(); !slices.Contains(seen, "NodeGroupTargetSize 200 client a") {
		t.Errorf("%q", seen)
	}
	stranger, err := pki.NewAuthority("other", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	expired := cfg.TLS.Clone()
	expired.Time = func() time.Time { return time.Now().AddDate(20, 0, 0) }
	future := serve(t, externalgrpc.Config{TLS: expired}, good)
	others := x509.NewCertPool()
	others.AppendCertsFromPEM(stranger.Cert)
	mine := pair("x", authority)
	client := func(roots *x509.CertPool, pairs ...tls.Certificate) *tls.Config {
		// From 1.3 on a client learns too late that it is refused, and may have written without a reader.
		return &tls.Config{ServerName: "127.0.0.1", RootCAs: roots, Certificates: pairs, MaxVersion: tls.VersionTLS12}
	}
	elsewhere, later := client(trusted, mine), client(trusted, mine)
	elsewhere.ServerName, later.Time = "cloud.example", expired.Time
	anothers := client(trusted)
	anothers.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c := pair("x", stranger)
		return &c, nil
	}
	for name, test := range map[string]struct {
		at    *rig
		creds credentials.TransportCredentials
		want  string
	}{
		"no certificate":               {r, credentials.NewTLS(client(trusted)), "remote error: tls: "},
		"another's certificate":        {r, credentials.NewTLS(anothers), "remote error: tls: "},
		"an expired certificate":       {future, credentials.NewTLS(client(trusted, mine)), "remote error: tls: expired certificate"},
		"another's authority":          {r, credentials.NewTLS(client(others, mine)), "certificate signed by unknown authority"},
		"an expired server's":          {r, credentials.NewTLS(later), "certificate has expired"},
		"a server's with another name": {r, credentials.NewTLS(elsewhere), "certificate is not valid for any names"},
		"clear text":                   {r, insecure.NewCredentials(), ""},
	} {
		conn, err := grpc.NewClient(test.at.server.Addr(), grpc.WithTransportCredentials(test.creds))
		if err != nil {
			t.Fatal(err)
		}
		_, err = protocol.NewCloudProviderClient(conn).Refresh(t.Context(), &protocol.RefreshRequest{})
		if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %s: %v, want %q", name, err, test.want)
		}
		_ = conn.Close()
	}
}
