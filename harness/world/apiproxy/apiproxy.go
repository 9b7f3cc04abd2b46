// Package apiproxy puts a fault proxy between one client and any API server, by the files that
// people have: kubeconfigs and rules.
package apiproxy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"nodestorm/harness/world/process"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// Files say whose calls go through the proxy, and what goes wrong with them. Only Rules is required
// to check these.
type Files struct {
	Kubeconfig string // the client's way to the API server; its current context counts
	Writer     string // of whom rules call as that write; empty means the client
	Rules      string
	// ReadRules reads the rules.
	ReadRules func(path string) ([]byte, error)
}

// Way is what the files say.
type Way struct {
	Rules          []fault.Fault
	Client, Writer *rest.Config
	raw            *clientcmdapi.Config
}

// Read reads the files. Without a kubeconfig there are rules alone; with one they are about what
// the API server serves. Its errors are about the files.
func (f Files) Read() (w *Way, err error) {
	text, err := f.ReadRules(f.Rules)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	w = &Way{}
	if w.Rules, err = apifault.Load(text); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Rules, err)
	}
	if f.Kubeconfig == "" {
		return w, nil
	}
	if w.Client, w.raw, err = readKubeconfig(f.Kubeconfig); err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	w.Writer = w.Client
	if f.Writer != "" {
		if w.Writer, _, err = readKubeconfig(f.Writer); err != nil {
			return nil, fmt.Errorf("--writer-kubeconfig: %w", err)
		}
	}
	asking := rest.CopyConfig(w.Client)
	asking.Timeout = 10 * time.Second
	served, err := discovery.NewDiscoveryClientForConfig(asking)
	if err == nil {
		err = apifault.CheckResources(served, w.Rules)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", f.Kubeconfig, f.Rules, err)
	}
	return w, nil
}

// readKubeconfig reads one file, and no other: what KUBECONFIG names is not meant.
func readKubeconfig(path string) (*rest.Config, *clientcmdapi.Config, error) {
	if err := strict.Regular(path); err != nil {
		return nil, nil, err
	}
	raw, err := clientcmd.LoadFromFile(path)
	switch {
	case errors.As(err, new(*os.PathError)): // it names the file
		return nil, nil, err
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := clientcmd.ResolveLocalPaths(raw); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := regular(raw); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*raw, nil).ClientConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, raw, nil
}

// regular makes sure that what a kubeconfig refers to can be read: clients read it whatever it is.
func regular(raw *clientcmdapi.Config) error {
	var files []*string
	for _, c := range raw.Clusters {
		files = append(files, clientcmd.GetClusterFileReferences(c)...)
	}
	for _, u := range raw.AuthInfos {
		files = append(files, clientcmd.GetAuthInfoFileReferences(u)...)
	}
	for _, file := range files {
		if irregular := (*strict.IrregularError)(nil); *file != "" && errors.As(strict.Regular(*file), &irregular) {
			return irregular
		}
	}
	return nil
}

// Loopback refuses addresses that others could reach: a program that reaches a proxy
// can make its rules act.
func Loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %s: want an address on loopback, such as 127.0.0.1:0", address)
	}
	return nil
}

// Proxy is one that serves, and the kubeconfig that leads through it.
type Proxy struct {
	*apifault.Proxy
	History    *history.Log
	Kubeconfig string
	remove     func() error // of a file that we named
}

// FolderPrefix begins the names of proxies' temporary folders.
const FolderPrefix = "nodestorm-proxy-"

// Start serves a proxy on a loopback address, and writes the kubeconfig for the client to a path;
// empty means a temporary one. Its errors are about these.
func (w *Way) Start(listen, path string) (*Proxy, error) {
	if err := Loopback(listen); err != nil {
		return nil, err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(apifault.GCPercent)
	}
	log := history.New(time.Time{}, clock.RealClock{})
	serving, err := apifault.Start(apifault.Config{Client: w.Client, Writer: w.Writer, History: log, Listen: listen}, w.Rules...)
	if err != nil {
		return nil, err
	}
	p := &Proxy{Proxy: serving, History: log}
	if p.Kubeconfig, p.remove, err = write(serving, *w.raw, path); err != nil {
		return nil, errors.Join(err, serving.Close())
	}
	return p, nil
}

// Close ends it, and removes what it has written for itself.
func (p *Proxy) Close() error { return errors.Join(p.remove(), p.Proxy.Close()) }

// write writes the kubeconfig for the client, readable by the user only: it has
// the client's own credentials. remove removes one that we named; a guard does,
// when we are killed.
func write(p *apifault.Proxy, raw clientcmdapi.Config, path string) (_ string, remove func() error, err error) {
	text, err := p.Kubeconfig(raw)
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return nil }
	if path == "" {
		dir, err := os.MkdirTemp("", FolderPrefix)
		if err != nil {
			return "", nil, err
		}
		guard, err := process.NewGuard(dir)
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		path, remove = filepath.Join(dir, "kubeconfig"), guard.Close
	}
	if err := WritePrivate(path, text); err != nil {
		return "", nil, errors.Join(fmt.Errorf("--out-file: %w", err), remove())
	}
	return path, remove, nil
}

// WritePrivate writes a file whole or not at all, for the user only: also one that
// others could read so far.
func WritePrivate(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
