package cloudinit

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	corev1 "k8s.io/api/core/v1"
)

// maxSettings is how long settings may be, in bytes: EC2 takes user data of 16 KiB. What is nested as deeply as that has
// brackets takes a parser no more than a few megabytes of stack.
const maxSettings = 64 << 10

// bottlerocket is what of the settings of a Bottlerocket host decides how a node registers (its documentation, "Kubernetes
// settings"). There is no credential in it: on EKS that is the instance's role's.
type bottlerocket struct {
	Settings struct {
		Kubernetes struct {
			APIServer          string              `toml:"api-server"`
			ClusterCertificate string              `toml:"cluster-certificate"` // base64
			ClusterName        string              `toml:"cluster-name"`
			HostnameOverride   string              `toml:"hostname-override"`
			ProviderID         string              `toml:"provider-id"`
			NodeIP             string              `toml:"node-ip"`
			MaxPods            *int                `toml:"max-pods"`
			Labels             map[string]string   `toml:"node-labels"`
			Taints             map[string][]string `toml:"node-taints"` // of a key: VALUE:EFFECT
			KubeReserved       map[string]string   `toml:"kube-reserved"`
			SystemReserved     map[string]string   `toml:"system-reserved"`
			EvictionHard       map[string]string   `toml:"eviction-hard"`
		} `toml:"kubernetes"`
	} `toml:"settings"`
	from string
}

// bottlerocket reads settings, in TOML, as which Bottlerocket takes all of the user data.
func (p *parser) bottlerocket(name, text string) error {
	if len(text) > maxSettings {
		return fmt.Errorf("%s: settings of %d bytes: want at most %d", name, len(text), maxSettings)
	}
	host := &bottlerocket{from: name}
	if _, err := toml.Decode(text, host); err != nil {
		return fmt.Errorf("%s: %.300s", name, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if _, err := base64.StdEncoding.DecodeString(host.Settings.Kubernetes.ClusterCertificate); err != nil {
		return fmt.Errorf("%s: settings.kubernetes.cluster-certificate: want base64", name)
	}
	p.config.host = host
	return nil
}

// bottlerocket fills in the command line that Bottlerocket gives its kubelet, with what it writes into the kubelet's file as
// flags. What its settings leave open it asks the metadata service for, or works out as nodeadm does.
func (s *System) bottlerocket(k *Kubelet) error {
	from, settings := s.host.from, s.host.Settings.Kubernetes
	for name, value := range map[string]string{
		"api-server": settings.APIServer, "cluster-certificate": settings.ClusterCertificate, "cluster-name": settings.ClusterName,
	} {
		if value == "" {
			return fmt.Errorf("%s: settings.kubernetes.%s is missing, and Bottlerocket starts no kubelet without it", from, name)
		}
	}
	set := map[string]string{"hostname-override": settings.HostnameOverride, "provider-id": settings.ProviderID, "node-ip": settings.NodeIP}
	add := func(name, value string) {
		k.Args = append(k.Args, Arg{name, cmp.Or(set[name], value), "Bottlerocket, " + from})
	}
	if err := s.instance(add); err != nil {
		return fmt.Errorf("%s: Bottlerocket %w", from, err)
	}
	taints, err := s.host.taints()
	if err != nil {
		return fmt.Errorf("%s: settings.kubernetes.node-taints: %w", from, err)
	}
	s.configure(hostConfig{settings.MaxPods, taints, settings.KubeReserved, settings.SystemReserved, settings.EvictionHard}, add)
	if len(settings.Labels) > 0 {
		add("node-labels", joined(settings.Labels, "="))
	}
	return nil
}

// taints are those of the settings, by their keys.
func (b *bottlerocket) taints() (all []corev1.Taint, err error) {
	of := b.Settings.Kubernetes.Taints
	for _, key := range slices.Sorted(maps.Keys(of)) {
		for _, text := range of[key] {
			value, effect, found := strings.Cut(text, ":")
			if !found {
				return nil, fmt.Errorf("%.60q of %.60q: want VALUE:EFFECT, such as :NoSchedule", text, key)
			}
			all = append(all, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
		}
	}
	return all, nil
}
