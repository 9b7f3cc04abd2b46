package kubelet

import (
	"context"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/probe"
)

// Headers that tell the container runtime which port of which container a probe is
// for, and of what kind it is: "http", "https", "tcp" or "grpc".
const (
	probePod       = "Nodestorm-Probe-Pod" // its UID
	probeContainer = "Nodestorm-Probe-Container"
	probePort      = "Nodestorm-Probe-Port" // a number
	probeKind      = "Nodestorm-Probe-Kind"
	probeService   = "Nodestorm-Probe-Service" // of gRPC
)

// probes sends all network probes to one address on loopback, where the container
// runtime answers for its containers: pod addresses exist on the machine only. When
// and how often, and what follows from the answers, stays the kubelet's.
type probes struct {
	prober.Manager
	host string
	port intstr.IntOrString
}

func newProbes(real prober.Manager, address string) prober.Manager {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		panic("NODESTORM_MACHINE: probes: " + err.Error())
	}
	return &probes{Manager: real, host: host, port: intstr.Parse(port)}
}

func (p *probes) AddPod(ctx context.Context, pod *corev1.Pod) {
	pod = pod.DeepCopy()
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			for _, each := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
				if each != nil {
					each.ProbeHandler = p.redirect(each.ProbeHandler, pod, c)
				}
			}
		}
	}
	p.Manager.AddPod(ctx, pod)
}

func (p *probes) redirect(h corev1.ProbeHandler, pod *corev1.Pod, c *corev1.Container) corev1.ProbeHandler {
	kind, path, service := "", "/", ""
	var port intstr.IntOrString
	var headers []corev1.HTTPHeader
	switch {
	case h.HTTPGet != nil:
		kind = strings.ToLower(string(h.HTTPGet.Scheme))
		path, port, headers = h.HTTPGet.Path, h.HTTPGet.Port, h.HTTPGet.HTTPHeaders
	case h.TCPSocket != nil:
		kind, port = "tcp", h.TCPSocket.Port
	case h.GRPC != nil:
		kind, port = "grpc", intstr.FromInt32(h.GRPC.Port)
		if h.GRPC.Service != nil {
			service = *h.GRPC.Service
		}
	default: // exec goes to the container runtime anyway
		return h
	}
	number, err := probe.ResolveContainerPort(port, c)
	if err != nil {
		return h // fails as it stands
	}
	for name, value := range map[string]string{
		probeKind: kind, probePod: string(pod.UID), probeContainer: c.Name, probePort: strconv.Itoa(number), probeService: service,
	} {
		headers = append(headers, corev1.HTTPHeader{Name: name, Value: value})
	}
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Host: p.host, Port: p.port, Path: path, Scheme: corev1.URISchemeHTTP, HTTPHeaders: headers,
	}}
}
