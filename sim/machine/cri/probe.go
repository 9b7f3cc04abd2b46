package cri

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Headers with which the kubelet of sim/kubernetes says what a probe is for.
const (
	probePod       = "Nodestorm-Probe-Pod"
	probeContainer = "Nodestorm-Probe-Container"
	probePort      = "Nodestorm-Probe-Port"
	probeKind      = "Nodestorm-Probe-Kind" // http, https, tcp or grpc
	probeService   = "Nodestorm-Probe-Service"
)

// probe answers for a container: a program by itself, on the port that it was given
// for the one that the pod names; anything else with 200 once it serves.
func (r *Runtime) probe(w http.ResponseWriter, req *http.Request) {
	of := req.Header
	r.mu.Lock()
	c := r.running(of.Get(probePod), of.Get(probeContainer))
	var serves time.Time
	port, isProgram := 0, false
	if c != nil {
		wanted, _ := strconv.Atoi(of.Get(probePort))
		after, _ := c.annotated(ServeAfterAnnotation)
		serves = time.Unix(0, c.started).Add(after)
		port, isProgram = wanted, c.process != nil
		if c.ports[wanted] != 0 {
			port = c.ports[wanted]
		}
	}
	r.mu.Unlock()
	switch {
	case c == nil, !isProgram && r.cfg.Clock.Now().Before(serves):
		http.Error(w, "connection refused", http.StatusServiceUnavailable)
	case isProgram:
		probeProgram(w, req, fmt.Sprintf("127.0.0.1:%d", port))
	}
}

// running is the container of a pod that runs now. The caller holds r.mu.
func (r *Runtime) running(pod, name string) *container {
	for _, c := range r.containers {
		if c.state == runtimeapi.ContainerState_CONTAINER_RUNNING &&
			c.sandbox.config.GetMetadata().GetUid() == pod && c.config.GetMetadata().GetName() == name {
			return c
		}
	}
	return nil
}

// probeProgram hands a probe on to a program.
func probeProgram(w http.ResponseWriter, req *http.Request, address string) {
	kind, service := req.Header.Get(probeKind), req.Header.Get(probeService)
	var err error
	switch kind {
	case "http", "https":
		for name := range req.Header {
			if strings.HasPrefix(name, "Nodestorm-Probe-") {
				req.Header.Del(name)
			}
		}
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: kind, Host: address})
		// A kubelet verifies no probe's certificate.
		proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
		proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
		proxy.ServeHTTP(w, req)
		return
	case "tcp":
		var conn net.Conn
		if conn, err = net.Dial("tcp", address); err == nil {
			err = conn.Close()
		}
	case "grpc":
		err = askHealth(req, address, service)
	default:
		err = fmt.Errorf("probe of kind %q", kind)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok") // the kubelet has gone
}

func askHealth(req *http.Request, address, service string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(req.Context(), &healthpb.HealthCheckRequest{Service: service})
	if err == nil && answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		err = fmt.Errorf("service %q is %s", service, answer.GetStatus())
	}
	return err
}
