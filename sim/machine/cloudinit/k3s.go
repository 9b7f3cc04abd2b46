package cloudinit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

const k3sConfig = "/etc/rancher/k3s/config.yaml"

// hasK3s reports whether user data configures, installs or starts k3s.
func (s *System) hasK3s() bool {
	if _, found := s.machine.Files[k3sConfig]; found {
		return true
	}
	return len(s.paths(k3sConfig+".d", ".yaml")) > 0 || s.k3sCall() != nil
}

// k3sCall is the last call that installs or runs k3s; nil if there is none.
func (s *System) k3sCall() *shell.Call {
	for i := range slices.Backward(s.machine.Calls) {
		c := &s.machine.Calls[i]
		why, _ := s.machine.Unknown(c.Stdin)
		switch {
		case strings.Contains(why, "get.k3s.io"), program(c) == "k3s" && (slices.Contains(c.Args, "agent") || slices.Contains(c.Args, "server")):
			return c
		}
	}
	return nil
}

// k3sSettings are the flags of k3s that reach the kubelet, and a few more.
type k3sSettings map[string][]setting

// k3s fills in the command line that k3s gives its kubelet.
func (s *System) k3s(k *Kubelet) error {
	settings := k3sSettings{}
	call := s.k3sCall()
	config := k3sConfig
	var flags []string
	if call != nil {
		if call.If != "" {
			return fmt.Errorf("%s: whether k3s starts depends on %s, which is not known", call.Where, call.If)
		}
		flags = append(words(call.Env["INSTALL_K3S_EXEC"]), call.Args[1:]...)
		config = cmp.Or(argument(flags, "config"), call.Env["K3S_CONFIG_FILE"], config)
	}
	for _, p := range append([]string{config}, s.paths(config+".d", ".yaml")...) {
		if _, found := s.machine.Files[p]; !found {
			continue
		}
		f, err := s.known(p)
		if err != nil {
			return err
		}
		if err := settings.read(f.Content, fmt.Sprintf("%s (%s)", p, f.From)); err != nil {
			return err
		}
	}
	if call != nil {
		if err := s.k3sFlags(settings, flags, call.Where); err != nil {
			return err
		}
		for name, variable := range map[string]string{"node-name": "K3S_NODE_NAME", "server": "K3S_URL"} {
			if v := call.Env[variable]; v != "" && settings[name] == nil {
				settings[name] = []setting{{v, call.Where + " " + variable}}
			}
		}
		// The installer's default is a server, or an agent if K3S_URL says of what.
		if !slices.Contains(flags, "agent") && settings["server"] == nil {
			return fmt.Errorf("%s: k3s server without --server or K3S_URL starts a cluster of its own", call.Where)
		}
	}
	// pkg/daemons/agent of k3s: its own arguments first, kubelet-arg over them.
	for _, name := range settings["node-name"] {
		k.Args = append(k.Args, Arg{"hostname-override", name.value, name.from})
	}
	extra := settings.kubeletArgs()
	for k3s, kubelet := range map[string]string{"node-label": "node-labels", "node-taint": "register-with-taints", "node-ip": "node-ip"} {
		var values []string
		for _, v := range settings[k3s] {
			values = append(values, v.value)
		}
		if len(values) > 0 && !slices.ContainsFunc(extra, func(a Arg) bool { return a.Name == kubelet }) {
			k.Args = append(k.Args, Arg{kubelet, strings.Join(values, ","), settings[k3s][0].from})
		}
	}
	slices.SortFunc(k.Args, func(a, b Arg) int { return cmp.Compare(a.Name, b.Name) })
	k.Args = append(k.Args, extra...)
	return nil
}

func (s k3sSettings) kubeletArgs() (args []Arg) {
	for _, v := range s["kubelet-arg"] {
		name, value, found := strings.Cut(strings.TrimLeft(v.value, "-"), "=")
		if !found {
			value = "true"
		}
		args = append(args, Arg{name, value, v.from})
	}
	return args
}

// k3sKeys are the keys that are read. True stands for lists.
var k3sKeys = map[string]bool{"node-name": false, "node-ip": true, "server": false, "node-label": true, "node-taint": true,
	"kubelet-arg": true}

// read adds a configuration file. Its values replace earlier ones; those of a key
// that ends in + add to them.
func (s k3sSettings) read(text, from string) error {
	var file map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return fmt.Errorf("%s: %s", from, yamlError(err))
	}
	for name, node := range file {
		name, adds := strings.CutSuffix(name, "+")
		list, wanted := k3sKeys[name]
		if !wanted {
			continue
		}
		var values []string
		err := node.Decode(&values)
		if err != nil {
			var one string
			if err = node.Decode(&one); err == nil {
				values = []string{one}
			}
		}
		if err != nil || !list && len(values) > 1 {
			want := "a text"
			if list {
				want = "a text or a list of texts"
			}
			return fmt.Errorf("%s line %d: %s: want %s", from, node.Line, name, want)
		}
		if !adds {
			s[name] = nil
		}
		for _, v := range values {
			s[name] = append(s[name], setting{v, from})
		}
	}
	return nil
}

// k3sFlags adds the command line, whose values replace those of the files.
func (s *System) k3sFlags(settings k3sSettings, flags []string, from string) error {
	given := k3sSettings{}
	for i, f := range flags {
		name, isFlag := strings.CutPrefix(f, "--")
		if !isFlag {
			if why, unknown := s.machine.Unknown(f); unknown && (i == 0 || !strings.HasPrefix(flags[i-1], "--")) {
				return fmt.Errorf("%s: an argument of k3s depends on %s, which is not known", from, why)
			}
			continue
		}
		name, value, has := strings.Cut(name, "=")
		if _, wanted := k3sKeys[name]; !wanted {
			continue
		}
		if !has && i+1 < len(flags) {
			value = flags[i+1]
		}
		given[name] = append(given[name], setting{value, from + " --" + name})
	}
	for name, values := range given {
		settings[name] = values
	}
	return nil
}
