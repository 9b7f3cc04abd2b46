package cloudinit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kubeletapis "k8s.io/kubelet/pkg/apis"
)

// Kubelet is the settings with which a machine's kubelet registers its Node.
type Kubelet struct {
	// NodeName is --hostname-override or the host's name, in lower case. Empty if
	// neither is known.
	NodeName string
	Labels   map[string]string
	Taints   []corev1.Taint
	// CloudProvider is "external" or empty.
	CloudProvider string
	// ProviderID is --provider-id. Empty leaves it to a cloud controller manager.
	ProviderID string
	// ExtraArgs are all flags by name, of one given twice the effective value.
	ExtraArgs map[string]string
	// Args is the effective command line in its order. Of a flag given twice the
	// last counts, but for node-labels, which add up.
	Args []Arg
}

// Arg is a flag of the kubelet's command line.
type Arg struct {
	Name, Value string
	// From is where it was set: "/etc/default/kubelet (user data write_files[0])".
	From string
}

// NoJoinError says that user data has nothing that joins a cluster.
type NoJoinError struct {
	// Calls are the programs that it calls and that are not followed.
	Calls []string
	// Problems are what kept its scripts from going on.
	Problems []string
}

func (e *NoJoinError) Error() string {
	text := "user data joins no cluster: want k3s (its configuration or installer), kubeadm join, a NodeConfig of nodeadm's, settings of " +
		"Bottlerocket, or " +
		"arguments of a kubelet in /etc/default/kubelet or a drop-in"
	if len(e.Calls) > 0 {
		text += "; it calls " + strings.Join(e.Calls, ", ") + ", which are not followed"
	}
	for _, p := range e.Problems {
		text += "; " + p
	}
	return text
}

// Kubelet is the settings that the machine joins with. They come from nodeadm if user
// data has its configuration, from k3s if it configures, installs or starts that, and
// otherwise from the kubelet's systemd unit:
//
//	nodeadm its own settings first, then the NodeConfig's; Bottlerocket's likewise
//	k3s     config.yaml, config.yaml.d/*.yaml, flags of the installer and the agent;
//	        a later one replaces a key (k3s documentation, "Configuration File");
//	        kubelet-arg goes over what k3s itself gives the kubelet
//	systemd kubelet.service, *.conf drop-ins by name, of the same name the one in
//	        /etc; EnvironmentFile= goes over Environment=, wherever each stands
//	        (systemd.exec(5)); the packages' unit then has kubeadm's flags first and
//	        KUBELET_EXTRA_ARGS last; flags go over the file in --config
//
// An error is one line: nothing that joins (*NoJoinError), a setting that cannot be
// read or is not known, or one with which a kubelet does not start.
func (s *System) Kubelet() (Kubelet, error) {
	var k Kubelet
	var err error
	switch {
	case s.node != nil:
		err = s.nodeadm(&k)
	case s.host != nil:
		err = s.bottlerocket(&k)
	case s.hasK3s():
		err = s.k3s(&k)
	case s.hasUnit():
		err = s.unit(&k)
	default:
		var calls []string
		for _, c := range s.Calls {
			if name := fmt.Sprintf("%.40s", c.Command[0]); len(calls) < 5 && !slices.Contains(calls, name) {
				calls = append(calls, name)
			}
		}
		return Kubelet{}, &NoJoinError{calls, s.machine.Problems}
	}
	if err == nil {
		err = s.settle(&k)
	}
	if err != nil {
		return Kubelet{}, err
	}
	return k, nil
}

// settle reads the settings out of the command line.
func (s *System) settle(k *Kubelet) error {
	k.ExtraArgs = map[string]string{}
	for i, a := range k.Args {
		if err := s.flag(k, a); err != nil {
			return fmt.Errorf("%s: --%s: %w", a.From, a.Name, err)
		}
		value := s.machine.Reveal(a.Value)
		k.Args[i].Value, k.ExtraArgs[a.Name] = value, value
	}
	name := cmp.Or(k.NodeName, s.Hostname)
	if why, unknown := s.machine.Unknown(name); unknown {
		return fmt.Errorf("the host's name depends on %s, which is not known", why)
	}
	k.NodeName = strings.ToLower(strings.TrimSpace(name))
	if k.NodeName != "" {
		if problems := validation.IsDNS1123Subdomain(k.NodeName); len(problems) > 0 {
			return fmt.Errorf("node name %.80q: %s", k.NodeName, problems[0])
		}
	}
	return nil
}

func (s *System) flag(k *Kubelet, a Arg) error {
	switch a.Name {
	case "hostname-override", "node-labels", "register-with-taints", "cloud-provider", "provider-id", "register-node":
		if why, unknown := s.machine.Unknown(a.Value); unknown {
			return fmt.Errorf("its value depends on %s, which is not known", why)
		}
	}
	switch a.Name {
	case "hostname-override":
		k.NodeName = a.Value
	case "provider-id":
		k.ProviderID = a.Value
	case "cloud-provider":
		if a.Value != "" && a.Value != "external" {
			return fmt.Errorf("%.40q: want external, or nothing (kubelets have no other since 1.31)", a.Value)
		}
		k.CloudProvider = a.Value
	case "register-node":
		if a.Value == "false" {
			return errors.New("the kubelet has --register-node=false, so it never registers")
		}
	case "node-labels":
		labels, err := parseLabels(a.Value)
		if err != nil {
			return err
		}
		if k.Labels == nil {
			k.Labels = map[string]string{}
		}
		maps.Copy(k.Labels, labels)
	case "register-with-taints":
		taints, err := parseTaints(a.Value)
		if err != nil {
			return err
		}
		k.Taints = taints
	}
	return nil
}

// parseLabels reads k=v,k=v, with the checks of a kubelet's start
// (cmd/kubelet/app/options, ValidateKubeletFlags, v1.36.3).
func parseLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found {
			return nil, fmt.Errorf("%.80q: want key=value", pair)
		}
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			return nil, fmt.Errorf("label %.80q: %s", pair, problems[0])
		}
		if namespace, _, found := strings.Cut(key, "/"); found && reserved(namespace) && !kubeletapis.IsKubeletLabel(key) {
			return nil, fmt.Errorf("label %.80q: with it a kubelet does not start; of kubernetes.io and k8s.io it takes %s and %s", key,
				strings.Join(kubeletapis.KubeletLabelNamespaces(), ", "), strings.Join(kubeletapis.KubeletLabels(), ", "))
		}
		labels[key] = value
	}
	return labels, nil
}

func reserved(namespace string) bool {
	for _, domain := range []string{"kubernetes.io", "k8s.io"} {
		if namespace == domain || strings.HasSuffix(namespace, "."+domain) {
			return true
		}
	}
	return false
}

// parseTaints reads key[=value]:effect,..., as --register-with-taints has it. Empty
// means no taints.
func parseTaints(text string) (taints []corev1.Taint, err error) {
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		taint, err := ParseTaint(part)
		if err != nil {
			return nil, err
		}
		taints = append(taints, taint)
	}
	return taints, nil
}

// ParseTaint reads key:effect or key=value:effect.
func ParseTaint(text string) (corev1.Taint, error) {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	taint := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		return corev1.Taint{}, fmt.Errorf("taint %.80q: want key[=value]:effect with effect NoSchedule, PreferNoSchedule or NoExecute", text)
	}
	if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
		return corev1.Taint{}, fmt.Errorf("taint %.80q: %s", text, problems[0])
	}
	return taint, nil
}
