package cloudinit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// nodeConfigType is the MIME type of the configuration of Amazon EKS' nodeadm, which makes a node of an image that has
// a kubelet already.
const nodeConfigType = "application/node.eks.aws"

// The paths of the metadata service at which nodeadm asks.
const (
	instanceName = "/latest/meta-data/local-hostname"
	instanceID   = "/latest/meta-data/instance-id"
	instanceIP   = "/latest/meta-data/local-ipv4"
	instanceZone = "/latest/meta-data/placement/availability-zone"
)

// nodeConfig is what of a NodeConfig (node.eks.aws/v1alpha1) decides how a node registers. There is no credential in
// it: on EKS that is the instance's role's.
type nodeConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Cluster struct {
			Name                 string `json:"name"`
			APIServerEndpoint    string `json:"apiServerEndpoint"`
			CertificateAuthority string `json:"certificateAuthority"` // base64
			CIDR                 string `json:"cidr"`
		} `json:"cluster"`
		Kubelet struct {
			Config map[string]json.RawMessage `json:"config"`
			Flags  []string                   `json:"flags"`
		} `json:"kubelet"`
	} `json:"spec"`
	from string
}

// nodeConfig reads one over those of earlier parts, as nodeadm merges them: flags add up, and of all else a later one
// replaces what it has.
func (p *parser) nodeConfig(name, text string) error {
	var c nodeConfig
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		return fmt.Errorf("%s: %s", name, yamlError(err))
	}
	if c.Kind != "NodeConfig" || c.APIVersion != "node.eks.aws/v1alpha1" {
		return fmt.Errorf("%s: it is %.60q of %.60q: want NodeConfig of node.eks.aws/v1alpha1", name, c.Kind, c.APIVersion)
	}
	if _, err := base64.StdEncoding.DecodeString(c.Spec.Cluster.CertificateAuthority); err != nil {
		return fmt.Errorf("%s: spec.cluster.certificateAuthority: want base64", name)
	}
	if c.from = name; p.config.node == nil {
		p.config.node = &c
		return nil
	}
	have := p.config.node
	for _, text := range []struct{ to, of *string }{
		{&have.Spec.Cluster.Name, &c.Spec.Cluster.Name}, {&have.Spec.Cluster.APIServerEndpoint, &c.Spec.Cluster.APIServerEndpoint},
		{&have.Spec.Cluster.CertificateAuthority, &c.Spec.Cluster.CertificateAuthority}, {&have.Spec.Cluster.CIDR, &c.Spec.Cluster.CIDR},
	} {
		if *text.of != "" {
			*text.to = *text.of
		}
	}
	have.Spec.Kubelet.Flags = append(have.Spec.Kubelet.Flags, c.Spec.Kubelet.Flags...)
	if have.Spec.Kubelet.Config == nil {
		have.Spec.Kubelet.Config = map[string]json.RawMessage{}
	}
	maps.Copy(have.Spec.Kubelet.Config, c.Spec.Kubelet.Config)
	have.from = name
	return nil
}

// nodeadm fills in the command line that nodeadm gives its kubelet, with what it writes into the kubelet's file as flags:
// its own settings first (internal/kubelet/config.go of nodeadm), those of the NodeConfig over them.
func (s *System) nodeadm(k *Kubelet) error {
	c := s.node
	cluster := c.Spec.Cluster
	for name, value := range map[string]string{
		"name": cluster.Name, "apiServerEndpoint": cluster.APIServerEndpoint, "certificateAuthority": cluster.CertificateAuthority,
		"cidr": cluster.CIDR,
	} {
		if value == "" {
			return fmt.Errorf("%s: spec.cluster.%s is missing, and nodeadm ends without it", c.from, name)
		}
	}
	add := func(name, value string) { k.Args = append(k.Args, Arg{name, value, "nodeadm, " + c.from}) }
	if err := s.instance(add); err != nil {
		return fmt.Errorf("%s: nodeadm %w", c.from, err)
	}
	if err := s.inlineConfig(add); err != nil {
		return fmt.Errorf("%s: spec.kubelet.config: %w", c.from, err)
	}
	for _, flag := range c.Spec.Kubelet.Flags {
		name, value, found := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !found || !strings.HasPrefix(flag, "--") {
			return fmt.Errorf("%s: spec.kubelet.flags: %.60q: want --name=value", c.from, flag)
		}
		// They are in an environment file, of which systemd takes the quotes away.
		add(name, strings.Trim(value, `"`))
	}
	return nil
}

// instance adds what a host of EKS asks the metadata service for. Its error goes on after the name of who asks.
func (s *System) instance(add func(name, value string)) error {
	has := map[string]string{}
	for _, path := range []string{instanceName, instanceID, instanceIP, instanceZone} {
		answer, found := s.machine.Metadata(path)
		if !found {
			return fmt.Errorf("asks the metadata service for %s, which has no answer", path)
		}
		has[path] = answer
	}
	add("cloud-provider", "external")
	add("hostname-override", has[instanceName])
	add("node-ip", has[instanceIP])
	add("provider-id", "aws:///"+has[instanceZone]+"/"+has[instanceID])
	return nil
}

// hostConfig is what a host of EKS can be given of its kubelet's configuration.
type hostConfig struct {
	MaxPods            *int              `json:"maxPods"`
	RegisterWithTaints []corev1.Taint    `json:"registerWithTaints"`
	KubeReserved       map[string]string `json:"kubeReserved"`
	SystemReserved     map[string]string `json:"systemReserved"`
	EvictionHard       map[string]string `json:"evictionHard"`
}

// inlineConfig adds what the kubelet's configuration in the NodeConfig says.
func (s *System) inlineConfig(add func(name, value string)) error {
	var config hostConfig
	text, err := json.Marshal(s.node.Spec.Kubelet.Config)
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s is %s", wrong.Field, wrong.Value)
	} else if err != nil {
		return errors.New("it is none")
	}
	s.configure(config, add)
	return nil
}

// configure adds a configuration, and where it says nothing what hosts of EKS do: they reserve by the processors and the
// pods that the machine can have.
func (s *System) configure(config hostConfig, add func(name, value string)) {
	pods := s.maxPods
	if config.MaxPods != nil {
		pods = *config.MaxPods
	}
	add("max-pods", fmt.Sprint(pods))
	reserved := map[string]string{
		"cpu": fmt.Sprintf("%dm", reservedCPU(1000*s.cores)), "ephemeral-storage": "1Gi", "memory": fmt.Sprintf("%dMi", 255+11*pods),
	}
	maps.Copy(reserved, config.KubeReserved)
	add("kube-reserved", joined(reserved, "="))
	if len(config.SystemReserved) > 0 {
		add("system-reserved", joined(config.SystemReserved, "="))
	}
	hard := map[string]string{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}
	maps.Copy(hard, config.EvictionHard)
	add("eviction-hard", joined(hard, "<"))
	var taints []string
	for _, t := range config.RegisterWithTaints {
		taints = append(taints, t.ToString())
	}
	if len(taints) > 0 {
		add("register-with-taints", strings.Join(taints, ","))
	}
}

// joined is how flags have a table.
func joined(table map[string]string, is string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		pairs = append(pairs, name+is+table[name])
	}
	return strings.Join(pairs, ",")
}

// reservedCPU is what nodeadm reserves of so many thousandths of a processor: 6 % of the first one, 1 % of the second, 0.5 %
// of the third and the fourth, and 0.25 % of what is beyond.
func reservedCPU(all int) (reserved int) {
	for _, part := range []struct{ from, to, of10000 int }{{0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, all, 25}} {
		reserved += max(0, min(all, part.to)-part.from) * part.of10000 / 10000
	}
	return reserved
}
