package cri

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Program is what runs in place of an image.
//
// In Args and Env, $(KUBECONFIG) is a file with the pod's service account,
// $(POD_IP) and $(NODE_NAME) are what they say, and each $(PORT_n) is a port on
// loopback that is free and the container's own: probes of port n go there.
type Program struct {
	Path string
	Args []string // after the pod's own, so that of a flag given twice these count
	Env  []string // over the pod's
}

// Command is a program as a container starts it.
type Command struct {
	Name string // node, pod and container, and which attempt: unique among those that run
	Path string
	Args []string
	Env  []string // all of it but for what makes it live in the world's time
	Dir  string   // a folder of the container's own, where it starts
	// Line takes the output.
	Line func([]byte)
}

// serviceAccount is where pods find their tokens.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// command makes the container's program one of this host: arguments and environment
// are the pod's, with each path at or below a mount's turned into that of the volume.
func (r *Runtime) command(c *container, p Program) (Command, error) {
	pod := c.sandbox.config.GetMetadata()
	name := fmt.Sprintf("%s.%s.%s.%s.%d", r.cfg.Node, pod.GetNamespace(), pod.GetName(), c.config.GetMetadata().GetName(),
		c.config.GetMetadata().GetAttempt())
	dir := filepath.Join(r.cfg.Root, "run", "nodestorm", c.id[:12])
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return Command{}, err
	}
	mounts, err := r.mounts(c.config.GetMounts())
	if err != nil {
		return Command{}, err
	}
	e := expansion{values: map[string]string{"POD_IP": c.sandbox.ip, "NODE_NAME": r.cfg.Node}, ports: map[int]int{}, port: r.cfg.Port}
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir, "TMPDIR": filepath.Join(dir, "tmp")}
	for _, pair := range c.config.GetEnvs() {
		env[pair.GetKey()] = mounts.translate(string(pair.GetValue()))
	}
	if server, err := url.Parse(r.cfg.Server); err == nil && server.Host != "" {
		env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = server.Hostname(), server.Port()
	}
	if account := mounts.at(serviceAccount); account != "" {
		file := filepath.Join(dir, "kubeconfig")
		if err := writeKubeconfig(file, r.cfg.Server, account); err != nil {
			return Command{}, err
		}
		e.values["KUBECONFIG"], env["KUBECONFIG"] = file, file
	}
	command := Command{Name: name, Path: p.Path, Dir: dir, Line: c.log.line}
	given := append(slices.Clone(c.config.GetCommand()), c.config.GetArgs()...)
	if len(c.config.GetCommand()) > 0 {
		given = given[1:] // the image's own name for the program
	}
	for _, arg := range given {
		command.Args = append(command.Args, mounts.translate(arg))
	}
	for _, arg := range p.Args {
		arg, err := e.expand(arg)
		if err != nil {
			return Command{}, fmt.Errorf("argument %s: %w", arg, err)
		}
		command.Args = append(command.Args, arg)
	}
	for _, pair := range p.Env {
		key, value, _ := strings.Cut(pair, "=")
		if env[key], err = e.expand(value); err != nil {
			return Command{}, fmt.Errorf("environment %s: %w", key, err)
		}
	}
	for key, value := range env {
		command.Env = append(command.Env, key+"="+value)
	}
	slices.Sort(command.Env)
	r.mu.Lock()
	c.ports = e.ports
	r.mu.Unlock()
	return command, nil
}

// writeKubeconfig makes the service account a file that every client reads: those
// that look for the account itself have its path as a constant.
func writeKubeconfig(file, server, account string) error {
	const name = "pod"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: filepath.Join(account, "ca.crt")}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(account, "token")}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, file)
}

// expansion fills in $(NAME).
type expansion struct {
	values map[string]string
	ports  map[int]int
	port   func() (int, error)
}

var reference = regexp.MustCompile(`\$\(([A-Z_0-9]+)\)`)

func (e expansion) expand(s string) (string, error) {
	var problem error
	expanded := reference.ReplaceAllStringFunc(s, func(match string) string {
		name := reference.FindStringSubmatch(match)[1]
		if value, found := e.values[name]; found {
			return value
		}
		n, err := strconv.Atoi(strings.TrimPrefix(name, "PORT_"))
		if err != nil || !strings.HasPrefix(name, "PORT_") {
			problem = fmt.Errorf("there is no %s: want $(KUBECONFIG), of a pod with a service account, $(POD_IP), $(NODE_NAME) or $(PORT_n)", match)
			return match
		}
		if e.ports[n] == 0 {
			if e.ports[n], err = e.port(); err != nil {
				problem = err
			}
		}
		return strconv.Itoa(e.ports[n])
	})
	return expanded, problem
}

// mount is a path in the container and the same on this host.
type mount struct{ inside, here string }

// mounts has the longest paths first, so that the innermost counts.
type mounts []mount

// mounts finds each volume. What the kubelet made is below the machine's folder
// already; a hostPath is put there, and made if it is missing.
func (r *Runtime) mounts(list []*runtimeapi.Mount) (mounts, error) {
	var all mounts
	for _, m := range list {
		here := m.GetHostPath()
		if !strings.HasPrefix(here, r.cfg.Root+"/") {
			here = r.onMachine(here)
			if _, err := os.Stat(here); os.IsNotExist(err) {
				if err := os.MkdirAll(here, 0o755); err != nil {
					return nil, fmt.Errorf("making host path %s: %w", m.GetHostPath(), err)
				}
			}
		}
		if inside := filepath.Clean(m.GetContainerPath()); inside != "/" {
			all = append(all, mount{inside, here})
		}
	}
	slices.SortFunc(all, func(a, b mount) int { return cmp.Compare(len(b.inside), len(a.inside)) })
	return all, nil
}

// at is where a mount is, or nothing.
func (m mounts) at(inside string) string {
	for _, each := range m {
		if each.inside == inside {
			return each.here
		}
	}
	return ""
}

// before and after are what a path may be surrounded by in an argument.
const (
	before = "=,:;'\"@ "
	after  = "/,:;'\" "
)

// translate replaces the paths in an argument such as --cert=/tls/tls.crt.
func (m mounts) translate(s string) string {
	var b strings.Builder
next:
	for i := 0; i < len(s); i++ {
		if s[i] == '/' && (i == 0 || strings.IndexByte(before, s[i-1]) >= 0) {
			for _, each := range m {
				rest, found := strings.CutPrefix(s[i:], each.inside)
				if found && (rest == "" || strings.IndexByte(after, rest[0]) >= 0) {
					b.WriteString(each.here)
					i += len(each.inside) - 1
					continue next
				}
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
