package externalgrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc/protocol"
)

func decode(text []byte) (body map[string]any, err error) { return body, json.Unmarshal(text, &body) }
func encode(body map[string]any) ([]byte, error)          { return json.Marshal(body) }

// NodeGroupTemplateNodeInfo implements the RPC.
func (s *Server) NodeGroupTemplateNodeInfo(_ context.Context,
	q *protocol.NodeGroupTemplateNodeInfoRequest) (r *protocol.NodeGroupTemplateNodeInfoResponse, err error) {
	s.cloud.View(func(tx *fakecloud.Tx) {
		var g *fakecloud.Group
		if g, err = group(tx, q.GetId()); err != nil {
			return
		}
		node := Template(g, s.cloud.Catalogue().ServerType(g.Type))
		var text []byte
		if text, err = node.Marshal(); err == nil {
			r = &protocol.NodeGroupTemplateNodeInfoResponse{NodeInfo: text, NodeBytes: text}
		}
	})
	return r, err
}

// Reserved is what a kubelet keeps for itself of a machine's memory, in bytes, and the part of its disk:
// its defaults for --eviction-hard.
const (
	reservedMemory = 100 << 20
	reservedDisk   = 0.1
	// usableMemory is the part of the nominal memory that Linux has.
	usableMemory = 0.95
	maxPods      = 110
)

// Template is a node of a group, as it will be once an instance has joined.
func Template(g *fakecloud.Group, t *fakecloud.ServerType) *corev1.Node {
	arch := map[string]string{"arm": "arm64", "x86": "amd64"}[t.Architecture]
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: g.Name + "-template", Labels: map[string]string{
			corev1.LabelArchStable: arch, corev1.LabelOSStable: "linux", corev1.LabelHostname: g.Name + "-template",
			corev1.LabelInstanceTypeStable: t.Name, corev1.LabelTopologyZone: g.Location,
		}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		}},
	}
	for name, value := range g.NodeLabels {
		n.Labels[name] = value
	}
	for _, text := range g.Taints {
		rest, effect, _ := strings.Cut(text, ":")
		key, value, _ := strings.Cut(rest, "=")
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	memory, disk := int64(float64(t.MemoryGB)*usableMemory*(1<<30)), int64(t.DiskGB)*1_000_000_000
	n.Status.Capacity = resources(t.Cores, memory, disk)
	n.Status.Allocatable = resources(t.Cores, memory-reservedMemory, disk-int64(float64(disk)*reservedDisk))
	return n
}

func resources(cores int, memory, disk int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(cores), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(disk, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(maxPods, resource.DecimalSI),
	}
}

// NodeGroupGetOptions implements the RPC: of a group with options of its own, those over the client's
// defaults, as far as the client's release sends them. Of others it says that there are none.
func (s *Server) NodeGroupGetOptions(_ context.Context,
	q *protocol.NodeGroupAutoscalingOptionsRequest) (r *protocol.NodeGroupAutoscalingOptionsResponse, err error) {
	s.cloud.View(func(tx *fakecloud.Tx) {
		var g *fakecloud.Group
		if g, err = group(tx, q.GetId()); err != nil {
			return
		}
		r = &protocol.NodeGroupAutoscalingOptionsResponse{}
		if len(g.Options) == 0 {
			return
		}
		r.NodeGroupAutoscalingOptions = q.GetDefaults()
		if r.NodeGroupAutoscalingOptions == nil {
			r.NodeGroupAutoscalingOptions = &protocol.NodeGroupAutoscalingOptions{}
		}
		for name, value := range g.Options {
			if err = options[name](r.NodeGroupAutoscalingOptions, value); err != nil {
				err = fmt.Errorf("option %s: %w", name, err)
				return
			}
		}
	})
	return r, err
}

// options are what a group can have of its own, by the protocol's names. Durations are in both of the
// forms that releases read.
var options = map[string]func(o *protocol.NodeGroupAutoscalingOptions, value string) error{
	"scaleDownUtilizationThreshold": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.ScaleDownUtilizationThreshold, err = strconv.ParseFloat(value, 64)
		return err
	},
	"scaleDownGpuUtilizationThreshold": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.ScaleDownGpuUtilizationThreshold, err = strconv.ParseFloat(value, 64)
		return err
	},
	"scaleDownUnneededTime": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.ScaleDownUnneededTime, o.ScaleDownUnneededDuration, err = duration(value)
		return err
	},
	"scaleDownUnreadyTime": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.ScaleDownUnreadyTime, o.ScaleDownUnreadyDuration, err = duration(value)
		return err
	},
	"maxNodeProvisionTime": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.MaxNodeProvisionTime, o.MaxNodeProvisionDuration, err = duration(value)
		return err
	},
	"zeroOrMaxNodeScaling": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.ZeroOrMaxNodeScaling, err = strconv.ParseBool(value)
		return err
	},
	"ignoreDaemonSetsUtilization": func(o *protocol.NodeGroupAutoscalingOptions, value string) (err error) {
		o.IgnoreDaemonSetsUtilization, err = strconv.ParseBool(value)
		return err
	},
}

func duration(text string) (*protocol.Duration, *durationpb.Duration, error) {
	d, err := time.ParseDuration(text)
	return &protocol.Duration{Duration: int64(d)}, durationpb.New(d), err
}

// CheckOptions says what is wrong with options of a group.
func CheckOptions(given map[string]string) error {
	for name, value := range given {
		set, known := options[name]
		if !known {
			return fmt.Errorf("there is no option %q (there is %s)", name, strings.Join(OptionNames(), ", "))
		}
		if err := set(&protocol.NodeGroupAutoscalingOptions{}, value); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	return nil
}

// OptionNames are those that a group can have of its own.
func OptionNames() (names []string) {
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// GetAvailableGPUTypes implements the RPC.
func (s *Server) GetAvailableGPUTypes(context.Context, *protocol.GetAvailableGPUTypesRequest) (*protocol.GetAvailableGPUTypesResponse,
	error) {
	r := &protocol.GetAvailableGPUTypesResponse{GpuTypes: map[string]*anypb.Any{}}
	for _, t := range s.cfg.GPUTypes {
		r.GpuTypes[t] = &anypb.Any{}
	}
	return r, nil
}
