package cri

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	testingclock "k8s.io/utils/clock/testing"

	"nodestorm/sim/machine/node"
)

// bench is a runtime in the test's hands, with the client that a kubelet has.
type bench struct {
	*Runtime
	runtimeapi.RuntimeServiceClient
	images   runtimeapi.ImageServiceClient
	clock    *testingclock.FakeClock
	root     string
	programs map[string]Program
	started  chan *fakeProcess
}

func newBench(t *testing.T) *bench {
	t.Helper()
	root, err := os.MkdirTemp("", "cri") // a test's own folder may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	b := &bench{clock: testingclock.NewFakeClock(time.Unix(1000, 0)), root: root, programs: map[string]Program{}, started: make(chan *fakeProcess, 10)}
	b.Runtime, err = New(Config{
		Node: "n", Root: root, Socket: filepath.Join(root, "cri.sock"), Clock: b.clock, Server: "https://127.0.0.1:6443",
		PodCIDR: netip.MustParsePrefix("10.128.0.0/29"), StopDelay: time.Second, PullDelay: 0,
		Program: func(image string) (Program, bool) { p, found := b.programs[image]; return p, found },
		Port: func() (int, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return 0, err
			}
			return l.Addr().(*net.TCPAddr).Port, l.Close()
		},
		Start: func(c Command) (Process, error) {
			p := &fakeProcess{command: c, exited: make(chan struct{})}
			b.started <- p
			return p, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("unix://"+filepath.Join(root, "cri.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	b.RuntimeServiceClient, b.images = runtimeapi.NewRuntimeServiceClient(conn), runtimeapi.NewImageServiceClient(conn)
	t.Cleanup(func() {
		_ = conn.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// network installs a network plugin.
func (b *bench) network(t *testing.T) {
	t.Helper()
	file := filepath.Join(b.root, NetworkFolder, "10-test.conflist")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run starts a pod of one container.
func (b *bench) run(t *testing.T, annotations map[string]string, config *runtimeapi.ContainerConfig) string {
	t.Helper()
	id := b.create(t, annotations, config)
	if _, err := b.RuntimeServiceClient.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	return id
}

// create makes a pod of one container, which does not run yet.
func (b *bench) create(t *testing.T, annotations map[string]string, config *runtimeapi.ContainerConfig) string {
	t.Helper()
	ctx := t.Context()
	pod := &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "p", Namespace: "default", Uid: "uid"}, Annotations: annotations, LogDirectory: filepath.Join(b.root, "logs"),
	}
	s, err := b.RuntimeServiceClient.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: pod})
	if err != nil {
		t.Fatal(err)
	}
	config.Metadata, config.LogPath = &runtimeapi.ContainerMetadata{Name: "c"}, "c/0.log"
	if config.Image == nil {
		config.Image = &runtimeapi.ImageSpec{Image: "pause"}
	}
	c, err := b.RuntimeServiceClient.CreateContainer(ctx, &runtimeapi.CreateContainerRequest{PodSandboxId: s.GetPodSandboxId(), Config: config, SandboxConfig: pod})
	if err != nil {
		t.Fatal(err)
	}
	return c.GetContainerId()
}

func (b *bench) status(t *testing.T, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	s, err := b.RuntimeServiceClient.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return s.GetStatus()
}

// eventually waits, in real time, for what other goroutines bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after 10 s: %s", what)
		}
	}
}

// step lets time pass once a timer waits for it.
func (b *bench) step(t *testing.T, d time.Duration) {
	t.Helper()
	eventually(t, "a timer waits for the clock", b.clock.HasWaiters)
	b.clock.Step(d)
}

type fakeProcess struct {
	command Command
	mu      sync.Mutex
	signals []syscall.Signal
	deaf    bool // to SIGTERM
	code    int
	exited  chan struct{}
}

func (p *fakeProcess) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signals = append(p.signals, s)
	if s == syscall.SIGKILL || !p.deaf {
		p.code = 128 + int(s)
		close(p.exited)
	}
	return nil
}
func (p *fakeProcess) Exited() <-chan struct{} { return p.exited }
func (p *fakeProcess) Code() int               { return p.code }

func TestNetworkFollowsTheFolder(t *testing.T) {
	b := newBench(t)
	ready := func() *runtimeapi.RuntimeCondition {
		s, err := b.RuntimeServiceClient.Status(t.Context(), &runtimeapi.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return s.GetStatus().GetConditions()[1]
	}
	if c := ready(); c.GetStatus() || c.GetReason() != "NetworkPluginNotReady" {
		t.Errorf("without configuration: %v", c)
	}
	_, err := b.RuntimeServiceClient.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{}})
	if err == nil || !strings.Contains(err.Error(), "failed to setup network for sandbox") {
		t.Errorf("a pod without a network: %v", err)
	}
	b.network(t)
	if c := ready(); !c.GetStatus() {
		t.Errorf("with configuration: %v", c)
	}
}

// The range has six addresses of hosts, and the bridge takes the first.
func TestAddresses(t *testing.T) {
	b := newBench(t)
	b.network(t)
	seen := map[string]bool{}
	var err error
	for err == nil {
		var s *runtimeapi.RunPodSandboxResponse
		if s, err = b.RuntimeServiceClient.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{}}); err == nil {
			got, _ := b.RuntimeServiceClient.PodSandboxStatus(t.Context(), &runtimeapi.PodSandboxStatusRequest{PodSandboxId: s.GetPodSandboxId()})
			seen[got.GetStatus().GetNetwork().GetIp()] = true
		}
	}
	if len(seen) != 6 || !seen["10.128.0.2"] || !strings.Contains(err.Error(), "no IP addresses available") {
		t.Errorf("%v, then %v", seen, err)
	}
}

func TestStopWithGrace(t *testing.T) {
	for _, test := range []struct {
		name        string
		annotations map[string]string
		grace       int64
		passes      time.Duration
		code        int32
		reason      string
	}{
		{"within its grace", nil, 30, time.Second, 0, "Completed"},
		{"deaf to SIGTERM", map[string]string{node.StopAfterAnnotation: "1h"}, 5, 5 * time.Second, 137, "Error"},
		{"at once", nil, 0, 0, 137, "Error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.network(t)
			id := b.run(t, test.annotations, &runtimeapi.ContainerConfig{})
			if s := b.status(t, id); s.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
				t.Fatalf("started: %v", s)
			}
			before := b.clock.Now()
			stopped := make(chan error, 1)
			go func() {
				_, err := b.RuntimeServiceClient.StopContainer(context.Background(), &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: test.grace})
				stopped <- err
			}()
			if test.passes > 0 {
				b.step(t, test.passes)
			}
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			s := b.status(t, id)
			if s.GetExitCode() != test.code || s.GetReason() != test.reason || time.Unix(0, s.GetFinishedAt()).Sub(before) != test.passes {
				t.Errorf("stopped: %v", s)
			}
		})
	}
}

func TestRunsForAsAnnotated(t *testing.T) {
	b := newBench(t)
	b.network(t)
	id := b.run(t, map[string]string{node.RunForAnnotation: "10s"}, &runtimeapi.ContainerConfig{})
	b.step(t, 10*time.Second)
	eventually(t, "the container has exited", func() bool {
		return b.status(t, id).GetState() == runtimeapi.ContainerState_CONTAINER_EXITED
	})
	if s := b.status(t, id); s.GetExitCode() != 0 || s.GetReason() != "Completed" {
		t.Error(s)
	}
}

func TestProgramHasThePodsArgumentsEnvironmentAndFiles(t *testing.T) {
	b := newBench(t)
	b.network(t)
	account := filepath.Join(b.root, "var/lib/kubelet/pods/uid/volumes/token")
	b.programs["ccm"] = Program{Path: "/bin/ccm", Args: []string{"--kubeconfig=$(KUBECONFIG)", "--secure-port=$(PORT_10258)"}, Env: []string{"NODE=$(NODE_NAME)", "PORT=$(PORT_10258)"}}
	b.run(t, nil, &runtimeapi.ContainerConfig{
		Image:   &runtimeapi.ImageSpec{Image: "sha256:1", UserSpecifiedImage: "ccm"},
		Command: []string{"/in/the/image"}, Args: []string{"--cloud-config=/etc/cloud/cloud.conf", "--other=/etc/cloudy", "--both=/etc/cloud,/etc/cloud/deep/x"},
		Envs: []*runtimeapi.KeyValue{{Key: "CONF", Value: []byte("/etc/cloud")}, {Key: "KUBERNETES_SERVICE_HOST", Value: []byte("10.0.0.1")}},
		Mounts: []*runtimeapi.Mount{
			{ContainerPath: "/etc/cloud", HostPath: "/etc/kubernetes/cloud"},
			{ContainerPath: "/etc/cloud/deep", HostPath: "/../../deep"},
			{ContainerPath: serviceAccount, HostPath: account},
		},
	})
	p := <-b.started
	args := strings.Join(p.command.Args, " ")
	cloud, deep := filepath.Join(b.root, "etc/kubernetes/cloud"), filepath.Join(b.root, "deep")
	want := "--cloud-config=" + cloud + "/cloud.conf --other=/etc/cloudy --both=" + cloud + "," + deep + "/x --kubeconfig="
	if !strings.HasPrefix(args, want) {
		t.Errorf("arguments %s, want %s...", args, want)
	}
	env := map[string]string{}
	for _, pair := range p.command.Env {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	if env["CONF"] != cloud || env["NODE"] != "n" || env["KUBERNETES_SERVICE_HOST"] != "127.0.0.1" || env["KUBERNETES_SERVICE_PORT"] != "6443" {
		t.Errorf("environment %v", env)
	}
	if port := env["PORT"]; port == "" || port == "10258" || !strings.HasSuffix(args, "--secure-port="+port) {
		t.Errorf("port %q in %s", port, args)
	}
	kubeconfig, err := os.ReadFile(env["KUBECONFIG"])
	if err != nil || !strings.Contains(string(kubeconfig), account+"/token") || !strings.Contains(string(kubeconfig), "https://127.0.0.1:6443") {
		t.Errorf("kubeconfig: %v\n%s", err, kubeconfig)
	}
	for _, dir := range []string{cloud, deep} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("host path: %v", err)
		}
	}
}

func TestProgramsLife(t *testing.T) {
	b := newBench(t)
	b.network(t)
	b.programs["p"] = Program{Path: "/bin/true"}
	id := b.run(t, nil, &runtimeapi.ContainerConfig{Image: &runtimeapi.ImageSpec{Image: "p"}})
	p := <-b.started
	p.command.Line([]byte("hello"))
	text, err := os.ReadFile(b.status(t, id).GetLogPath())
	if err != nil || !strings.HasSuffix(string(text), "Z stdout F hello\n") {
		t.Errorf("log: %v %q", err, text)
	}
	p.deaf = true
	stopped := make(chan error, 1)
	go func() {
		_, err := b.RuntimeServiceClient.StopContainer(context.Background(), &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: 30})
		stopped <- err
	}()
	b.step(t, 30*time.Second)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if s := b.status(t, id); s.GetExitCode() != 137 || len(p.signals) != 2 || p.signals[0] != syscall.SIGTERM {
		t.Errorf("%v after %v", s, p.signals)
	}
}

// A program whose start takes longer than its machine is on ends with the machine.
func TestCloseDuringStart(t *testing.T) {
	b := newBench(t)
	b.network(t)
	b.programs["p"] = Program{Path: "/bin/true"}
	starting, release := make(chan struct{}), make(chan struct{})
	p := &fakeProcess{exited: make(chan struct{})}
	b.cfg.Start = func(Command) (Process, error) {
		close(starting)
		<-release
		return p, nil
	}
	id := b.create(t, nil, &runtimeapi.ContainerConfig{Image: &runtimeapi.ImageSpec{Image: "p"}})
	answered := make(chan error, 1)
	go func() {
		_, err := b.RuntimeServiceClient.StartContainer(context.Background(), &runtimeapi.StartContainerRequest{ContainerId: id})
		answered <- err
	}()
	<-starting
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	if err := <-answered; err == nil { // Close has ended the connection
		t.Error("the program is started on a machine that is off")
	}
	select {
	case err := <-closed:
		t.Fatalf("closed before the program has started: %v", err)
	case <-time.After(100 * time.Millisecond): // it would have by now
	}
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	select {
	case <-p.exited:
	default:
		t.Error("the program outlives its machine")
	}
}

// A program that is not there is an image that is not there.
func TestMissingProgram(t *testing.T) {
	b := newBench(t)
	b.programs["p"] = Program{Path: "/nowhere/p"}
	_, err := b.images.PullImage(t.Context(), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: "p"}})
	if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "/nowhere/p") {
		t.Error(err)
	}
	if _, err := b.images.PullImage(t.Context(), &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: "q"}}); err != nil {
		t.Error(err)
	}
}

func TestProbes(t *testing.T) {
	b := newBench(t)
	b.network(t)
	probe := func(kind, port string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+b.ProbeAddress()+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{probePod: "uid", probeContainer: "c", probeKind: kind, probePort: port} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := probe("http", "80"); got != http.StatusServiceUnavailable {
		t.Errorf("no container: %d", got)
	}
	id := b.run(t, map[string]string{ServeAfterAnnotation: "10s"}, &runtimeapi.ContainerConfig{})
	if got := probe("http", "80"); got != http.StatusServiceUnavailable {
		t.Errorf("before it serves: %d", got)
	}
	b.clock.Step(10 * time.Second)
	if got := probe("tcp", "80"); got != http.StatusOK {
		t.Errorf("once it serves: %d", got)
	}
	if _, err := b.RuntimeServiceClient.RemoveContainer(t.Context(), &runtimeapi.RemoveContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	b.programs["p"] = Program{Path: "/bin/true", Args: []string{"$(PORT_80)"}}
	b.run(t, nil, &runtimeapi.ContainerConfig{Image: &runtimeapi.ImageSpec{Image: "p"}})
	address := "127.0.0.1:" + (<-b.started).command.Args[0]
	for _, kind := range []string{"http", "tcp", "grpc"} {
		if got := probe(kind, "80"); got != http.StatusServiceUnavailable {
			t.Errorf("%s, no container listens: %d", kind, got)
		}
	}
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/healthz" || req.Header.Get(probePod) != "" {
			w.WriteHeader(http.StatusTeapot)
		}
	})}
	go func() { _ = server.ListenAndServe() }()
	t.Cleanup(func() { _ = server.Close() })
	eventually(t, "the port can be dialled", func() bool { return probe("tcp", "80") == http.StatusOK })
	if got := probe("http", "80"); got != http.StatusOK {
		t.Errorf("http: %d", got)
	}
}

func TestRuntimeDown(t *testing.T) {
	b := newBench(t)
	b.SetDown(true)
	if _, err := b.RuntimeServiceClient.Version(t.Context(), &runtimeapi.VersionRequest{}); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	b.SetDown(false)
	if _, err := b.RuntimeServiceClient.Version(t.Context(), &runtimeapi.VersionRequest{}); err != nil {
		t.Error(err)
	}
}
