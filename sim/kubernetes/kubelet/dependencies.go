package kubelet

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/csi"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/emptydir"
	"k8s.io/kubernetes/pkg/volume/hostpath"
	"k8s.io/kubernetes/pkg/volume/projected"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

// dependencies are the kubelet's ways to its machine. Clients, authentication and
// certificates are left to the kubelet.
func (m Machine) dependencies(ctx context.Context, s *options.KubeletServer) (*kubelet.Dependencies, error) {
	tls, err := app.InitializeTLS(ctx, &s.KubeletFlags, &s.KubeletConfiguration)
	if err != nil {
		return nil, err
	}
	resources, err := newResources(m, s)
	if err != nil {
		return nil, err
	}
	deps := &kubelet.Dependencies{
		CAdvisorInterface: cadvisor{m},
		OOMAdjuster:       oom.NewFakeOOMAdjuster(),
		OSInterface:       machineOS{machine: m},
		Mounter:           mount.NewFakeMounter(nil),
		Subpather:         &subpath.FakeSubpath{},
		HostUtil:          hostutil.NewFakeHostUtil(nil),
		VolumePlugins:     volumePlugins(),
		TLSOptions:        tls,
		Options:           []kubelet.Option{m.rewire},
	}
	quiet := &quietOOMWatcher{TracerProvider: noop.NewTracerProvider(), deps: deps}
	resources.beforeWatcher = quiet.begin
	deps.ContainerManager, deps.TracerProvider = resources, quiet
	return deps, nil
}

// volumePlugins are those that need no device and no program of the host's. A
// hostPath is neither looked for nor made: the container runtime does that, on the
// machine.
func volumePlugins() (all []volume.VolumePlugin) {
	for _, plugins := range [][]volume.VolumePlugin{
		emptydir.ProbeVolumePlugins(),
		hostpath.FakeProbeVolumePlugins(volume.VolumeConfig{}),
		secret.ProbeVolumePlugins(),
		downwardapi.ProbeVolumePlugins(),
		configmap.ProbeVolumePlugins(),
		projected.ProbeVolumePlugins(),
		csi.ProbeVolumePlugins(),
	} {
		all = append(all, plugins...)
	}
	return all
}

// machineOS is the real one, with the only folder below the machine's folder that
// the kubelet has as a constant in more than one place.
type machineOS struct {
	kubecontainer.RealOS
	machine Machine
}

const legacyLogs = kubelet.DefaultContainerLogsDir + "/"

func (o machineOS) at(path string) string {
	if strings.HasPrefix(path, legacyLogs) {
		return o.machine.path(path)
	}
	return path
}

func (o machineOS) Stat(path string) (os.FileInfo, error) { return o.RealOS.Stat(o.at(path)) }
func (o machineOS) Remove(path string) error              { return o.RealOS.Remove(o.at(path)) }
func (o machineOS) Symlink(target, link string) error     { return o.RealOS.Symlink(target, o.at(link)) }
func (o machineOS) Glob(pattern string) ([]string, error) { return filepath.Glob(o.at(pattern)) }

// rewire changes what the kubelet has no dependency for.
func (m Machine) rewire(k *kubelet.Kubelet) {
	// It compares --node-ip with this host's interfaces; the machine has others.
	*private[func(net.IP) error](k, "nodeIPValidator") = func(ip net.IP) error {
		if ip.IsUnspecified() || ip.IsLoopback() || ip.IsMulticast() {
			return fmt.Errorf("nodeIP %s is no address of a machine", ip)
		}
		return nil
	}
	probes := private[prober.Manager](k, "probeManager")
	*probes = newProbes(*probes, m.Probes)
}

// private is a field of the kubelet's; its type is checked when the kubelet starts.
func private[T any](k *kubelet.Kubelet, name string) *T {
	field := reflect.ValueOf(k).Elem().FieldByName(name)
	if want := reflect.TypeFor[T](); !field.IsValid() || field.Type() != want {
		panic(fmt.Sprintf("the kubelet has no field %s of type %s", name, want))
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr()))
}

// quietOOMWatcher keeps the kubelet from reading the kernel's log, where it would
// find this host's out-of-memory kills or, without the right to read it, not start. It
// does so for a FakeRecorder only (pkg/kubelet/oom, NewWatcher). So it gets one for
// the moment, between two calls of ours that surround that one in NewMainKubelet.
type quietOOMWatcher struct {
	trace.TracerProvider
	deps     *kubelet.Dependencies
	recorder record.EventRecorderLogger // the real one, in between
	once     sync.Once
}

func (q *quietOOMWatcher) begin() {
	q.once.Do(func() { q.recorder, q.deps.Recorder = q.deps.Recorder, &record.FakeRecorder{} })
}

func (q *quietOOMWatcher) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	if q.recorder != nil {
		q.deps.Recorder, q.recorder = q.recorder, nil
	}
	return q.TracerProvider.Tracer(name, options...)
}
