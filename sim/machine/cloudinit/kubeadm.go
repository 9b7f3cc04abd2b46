package cloudinit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

// joinCall is the last call of kubeadm join; nil if there is none.
func (s *System) joinCall() *shell.Call {
	for i := range slices.Backward(s.machine.Calls) {
		c := &s.machine.Calls[i]
		if program(c) == "kubeadm" && slices.Contains(c.Args, "join") {
			return c
		}
	}
	return nil
}

// program is the base name of what is called.
func program(c *shell.Call) string {
	return c.Args[0][strings.LastIndexByte(c.Args[0], '/')+1:]
}

// joinConfiguration is the part of kubeadm's configuration that reaches the kubelet:
// kubeadm.k8s.io/v1beta3, where extra arguments are a map, and v1beta4, where they
// are a list.
type joinConfiguration struct {
	APIVersion       string `json:"apiVersion"`
	Kind             string `json:"kind"`
	NodeRegistration struct {
		Name             string          `json:"name"`
		Taints           []corev1.Taint  `json:"taints"`
		KubeletExtraArgs json.RawMessage `json:"kubeletExtraArgs"`
	} `json:"nodeRegistration"`
	Discovery struct {
		TLSBootstrapToken string `json:"tlsBootstrapToken"`
		BootstrapToken    struct {
			Token             string `json:"token"`
			APIServerEndpoint string `json:"apiServerEndpoint"`
		} `json:"bootstrapToken"`
	} `json:"discovery"`
}

// KubeadmJoin is where kubeadm join looks for the API server ("10.0.0.2:6443"), and the
// token it shows there. Empty is what user data does not say, or not so that it is known.
func (s *System) KubeadmJoin() (endpoint, token string) {
	call := s.joinCall()
	if call == nil {
		return "", ""
	}
	if file := argument(call.Args, "config"); file != "" {
		if f, err := s.known(file); err == nil {
			if config, err := parseJoin(f.Content); err == nil {
				d := config.Discovery
				endpoint, token = d.BootstrapToken.APIServerEndpoint, cmp.Or(d.BootstrapToken.Token, d.TLSBootstrapToken)
			}
		}
	}
	token = cmp.Or(argument(call.Args, "token"), argument(call.Args, "discovery-token"), token)
	if after := call.Args[slices.Index(call.Args, "join")+1:]; len(after) > 0 && !strings.HasPrefix(after[0], "-") {
		endpoint = after[0]
	}
	return s.plain(endpoint), s.plain(token)
}

// plain is a text that is known, or empty.
func (s *System) plain(text string) string {
	if _, unknown := s.machine.Unknown(text); unknown {
		return ""
	}
	return text
}

// kubeadmJoin writes what kubeadm join would: its flags for the kubelet. Extra
// arguments go over kubeadm's own (cmd/kubeadm/app/phases/kubelet/flags.go).
func (s *System) kubeadmJoin() error {
	call := s.joinCall()
	if call == nil {
		return nil
	}
	if call.If != "" {
		return fmt.Errorf("%s: whether kubeadm joins depends on %s, which is not known", call.Where, call.If)
	}
	var config joinConfiguration
	from := call.Where
	if file := argument(call.Args, "config"); file != "" {
		f, err := s.known(file)
		if err != nil {
			return err
		}
		if f.From == "" {
			return fmt.Errorf("%s: kubeadm join --config %s: user data does not write that file", call.Where, file)
		}
		from = fmt.Sprintf("%s (%s)", file, f.From)
		if config, err = parseJoin(f.Content); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	extra, err := extraArgs(config)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	var args []Arg
	add := func(name, value string) {
		if !slices.ContainsFunc(extra, func(a Arg) bool { return a.Name == name }) {
			args = append(args, Arg{Name: name, Value: value})
		}
	}
	var taints []string
	for _, t := range config.NodeRegistration.Taints {
		taints = append(taints, t.ToString())
	}
	if len(taints) > 0 {
		add("register-with-taints", strings.Join(taints, ","))
	}
	name := cmp.Or(argument(call.Args, "node-name"), config.NodeRegistration.Name)
	if name != "" && name != s.Hostname {
		add("hostname-override", name)
	}
	args = append(args, extra...)
	slices.SortStableFunc(args, func(a, b Arg) int { return cmp.Compare(a.Name, b.Name) })
	line := ""
	for _, a := range args {
		line += " --" + a.Name + "=" + a.Value
	}
	s.machine.Files[flagsEnv] = shell.File{
		Content: "KUBELET_KUBEADM_ARGS=\"" + strings.TrimSpace(line) + "\"\n", Mode: 0o644, From: "kubeadm join, " + from,
	}
	return nil
}

// argument is the value of --name VALUE or --name=VALUE, the last of them.
func argument(args []string, name string) (value string) {
	for i, a := range args {
		if v, found := strings.CutPrefix(a, "--"+name+"="); found {
			value = v
		} else if a == "--"+name && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// parseJoin finds the JoinConfiguration among the documents of a file.
func parseJoin(text string) (joinConfiguration, error) {
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	for {
		var config joinConfiguration
		err := d.Decode(&config)
		if errors.Is(err, io.EOF) {
			return config, errors.New("it has no document of kind JoinConfiguration")
		}
		if err != nil {
			return config, errors.New(yamlError(err))
		}
		if config.Kind != "JoinConfiguration" {
			continue
		}
		switch config.APIVersion {
		case "kubeadm.k8s.io/v1beta3", "kubeadm.k8s.io/v1beta4":
			return config, nil
		}
		return config, fmt.Errorf("apiVersion is %.60q: want kubeadm.k8s.io/v1beta3 or kubeadm.k8s.io/v1beta4", config.APIVersion)
	}
}

// extraArgs are nodeRegistration.kubeletExtraArgs in either form.
func extraArgs(config joinConfiguration) (args []Arg, err error) {
	raw := config.NodeRegistration.KubeletExtraArgs
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if strings.HasSuffix(config.APIVersion, "v1beta3") {
		var m map[string]string
		if json.Unmarshal(raw, &m) != nil {
			return nil, errors.New("nodeRegistration.kubeletExtraArgs: want a map of strings in v1beta3; v1beta4 has a list")
		}
		for name, value := range m {
			args = append(args, Arg{Name: name, Value: value})
		}
		slices.SortFunc(args, func(a, b Arg) int { return cmp.Compare(a.Name, b.Name) })
		return args, nil
	}
	if json.Unmarshal(raw, &args) != nil {
		return nil, errors.New("nodeRegistration.kubeletExtraArgs: want a list of name and value in v1beta4; v1beta3 has a map")
	}
	for i, a := range args {
		if a.Name == "" {
			return nil, fmt.Errorf("nodeRegistration.kubeletExtraArgs[%d]: want a name", i)
		}
	}
	return args, nil
}

// configFile puts what the file in --config says of registration before the flags,
// which go over it. kubeadm gets that file from the cluster; it counts only where user
// data writes it.
func (s *System) configFile(args []Arg) ([]Arg, error) {
	name := ""
	for _, a := range args {
		if a.Name == "config" {
			name = a.Value
		}
	}
	if _, found := s.machine.Files[name]; !found {
		return args, nil
	}
	f, err := s.known(name)
	if err != nil {
		return nil, err
	}
	from := fmt.Sprintf("%s (%s)", name, f.From)
	var config struct {
		RegisterWithTaints []corev1.Taint `json:"registerWithTaints"`
		ProviderID         string         `json:"providerID"`
		RegisterNode       *bool          `json:"registerNode"`
	}
	d := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(f.Content), 4096)
	if err := d.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", from, yamlError(err))
	}
	var first []Arg
	if config.ProviderID != "" {
		first = append(first, Arg{"provider-id", config.ProviderID, from})
	}
	if config.RegisterNode != nil {
		first = append(first, Arg{"register-node", fmt.Sprint(*config.RegisterNode), from})
	}
	var taints []string
	for _, t := range config.RegisterWithTaints {
		taints = append(taints, t.ToString())
	}
	if len(taints) > 0 {
		first = append(first, Arg{"register-with-taints", strings.Join(taints, ","), from})
	}
	return append(first, args...), nil
}
