package cloudinit

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

const (
	unitName = "kubelet.service"
	flagsEnv = "/var/lib/kubelet/kubeadm-flags.env"
)

// unitDirs are where systemd looks for units, the first going over the others.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
	"/lib/systemd/system"}

// packaged are the files of the packages kubelet and kubeadm of pkgs.k8s.io
// (kubernetes/release, cmd/krel/templates/latest). The environment file is among
// them, with nothing in it, and that is enough to take the effect of an
// Environment="KUBELET_EXTRA_ARGS=..." in a drop-in away: users met it in
// kubernetes-sigs/cluster-api-provider-vsphere#68, and many guides still say so.
func packaged(rpm bool) map[string]shell.File {
	environment := "/etc/default/kubelet"
	if rpm {
		environment = "/etc/sysconfig/kubelet"
	}
	file := func(content string) shell.File {
		return shell.File{Content: content, Mode: 0o644, From: "the image's package"}
	}
	return map[string]shell.File{
		environment:                           file("KUBELET_EXTRA_ARGS=\n"),
		"/usr/lib/systemd/system/" + unitName: file("[Service]\nExecStart=/usr/bin/kubelet\n"),
		"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": file(`[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf ` +
			`--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-` + flagsEnv + `
EnvironmentFile=-` + environment + `
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`),
	}
}

// hasUnit reports whether user data has to do with a kubelet that systemd starts.
func (s *System) hasUnit() bool {
	if s.joinCall() != nil {
		return true
	}
	for p, f := range s.machine.Files {
		if f.From == packaged(false)["/etc/default/kubelet"].From {
			continue
		}
		if p == "/etc/default/kubelet" || p == "/etc/sysconfig/kubelet" || path.Base(p) == unitName || path.Base(path.Dir(p)) == unitName+".d" {
			return true
		}
	}
	return false
}

// unit fills in the command line that systemd starts the kubelet with.
func (s *System) unit(k *Kubelet) error {
	if err := s.kubeadmJoin(); err != nil {
		return err
	}
	u := &unitFile{environment: map[string]setting{}}
	for _, p := range s.unitFiles() {
		f, err := s.known(p)
		if err != nil {
			return err
		}
		if err := u.read(p, f); err != nil {
			return err
		}
	}
	for _, p := range u.environmentFiles {
		name, optional := strings.CutPrefix(p.value, "-")
		name = path.Clean(name)
		if _, found := s.machine.Files[name]; !found {
			if !optional {
				return fmt.Errorf("%s: EnvironmentFile=%s is not there, so the kubelet does not start; want a - before its path, or the file",
					p.from, name)
			}
			continue
		}
		if err := u.readEnvironment(name, s.machine.Files[name]); err != nil {
			return err
		}
	}
	if len(u.execStart) != 1 {
		return fmt.Errorf("%s has %d ExecStart=: want one; a drop-in takes the unit's away with an empty one first", unitName, len(u.execStart))
	}
	args, err := u.args(s.machine)
	if err != nil {
		return err
	}
	if k.Args, err = s.configFile(args); err != nil {
		return err
	}
	return nil
}

// unitFiles are the unit and its drop-ins in the order in which systemd reads them.
func (s *System) unitFiles() []string {
	var files []string
	for _, dir := range unitDirs {
		if p := dir + "/" + unitName; s.machine.Files[p].From != "" {
			files = append(files, p)
			break
		}
	}
	byName := map[string]string{}
	for _, dir := range slices.Backward(unitDirs) {
		for _, p := range s.paths(dir+"/"+unitName+".d", ".conf") {
			byName[path.Base(p)] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		files = append(files, byName[name])
	}
	return files
}

// setting is a value and where it was set.
type setting struct{ value, from string }

// unitFile is what the files of a unit come to.
type unitFile struct {
	environment      map[string]setting
	environmentFiles []setting
	execStart        []setting
	expanded         int // bytes that variables have added to the command line
}

// read adds a unit file: lists grow, an empty value empties them.
func (u *unitFile) read(name string, f shell.File) error {
	from := fmt.Sprintf("%s (%s)", name, f.From)
	section := ""
	text := strings.ReplaceAll(f.Content, "\\\n", " ")
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section = line
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return fmt.Errorf("%s line %d: %.60q: want [Section] or Key=value", from, i+1, line)
		}
		if section != "[Service]" {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "Environment":
			if value == "" {
				u.environment = map[string]setting{}
			}
			for _, word := range words(value) {
				name, v, _ := strings.Cut(word, "=")
				u.environment[name] = setting{v, from}
			}
		case "EnvironmentFile":
			if value == "" {
				u.environmentFiles = nil
				continue
			}
			u.environmentFiles = append(u.environmentFiles, setting{value, from})
		case "ExecStart":
			if value == "" {
				u.execStart = nil
				continue
			}
			u.execStart = append(u.execStart, setting{value, from})
		}
	}
	return nil
}

// readEnvironment adds an environment file, whose variables go over those set so far.
func (u *unitFile) readEnvironment(name string, f shell.File) error {
	from := fmt.Sprintf("%s (%s)", name, f.From)
	for _, line := range strings.Split(strings.ReplaceAll(f.Content, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			if strings.HasPrefix(line, shell.Mark) {
				u.environment[anyName] = setting{line, from}
			}
			continue // systemd leaves out what is no assignment
		}
		u.environment[strings.TrimSpace(key)] = setting{unquote(strings.TrimSpace(value)), from}
	}
	return nil
}

// anyName stands for a variable of which not even the name is known.
const anyName = ""

// unquote takes a pair of quotes off a value of an environment file.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
		s = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
	}
	return s
}

// args are the flags of ExecStart: $NAME alone becomes words, ${NAME} stays one.
func (u *unitFile) args(m *shell.Machine) ([]Arg, error) {
	if s, found := u.environment[anyName]; found {
		why, _ := m.Unknown(s.value)
		return nil, fmt.Errorf("%s: what it says depends on %s, which is not known", s.from, why)
	}
	command := u.execStart[0]
	var args []Arg
	var pending *Arg // a flag whose value is the next word
	list := words(command.value)
	for _, word := range list[min(1, len(list)):] {
		expanded := []setting{{word, command.from}}
		if name, found := strings.CutPrefix(word, "$"); found && !strings.HasPrefix(name, "{") {
			expanded = nil
			s, err := u.variable(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", command.from, err)
			}
			for _, w := range words(s.value) {
				expanded = append(expanded, setting{w, s.from})
			}
		} else if strings.Contains(word, "${") {
			s, err := u.braces(expanded[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", command.from, err)
			}
			expanded[0] = s
		}
		for _, s := range expanded {
			name, isFlag := strings.CutPrefix(s.value, "--")
			switch {
			case isFlag:
				name, value, has := strings.Cut(name, "=")
				args = append(args, Arg{Name: name, Value: value, From: s.from})
				pending = nil
				if !has {
					args[len(args)-1].Value = "true"
					pending = &args[len(args)-1]
				}
			case pending != nil:
				pending.Value, pending = s.value, nil
			default:
				if why, unknown := m.Unknown(s.value); unknown {
					return nil, fmt.Errorf("%s: an argument depends on %s, which is not known", s.from, why)
				}
				if !strings.HasPrefix(s.value, "-") {
					return nil, fmt.Errorf("%s: argument %.60q: with it a kubelet does not start; want --flag=value", s.from, s.value)
				}
			}
		}
	}
	return args, nil
}

// maxExpanded bounds what variables add to a command line, in bytes: Linux takes no
// longer one (ARG_MAX, with the usual stack of 8 MiB).
const maxExpanded = 2 << 20

// variable is one that is put into the command line.
func (u *unitFile) variable(name string) (setting, error) {
	v := u.environment[name]
	if u.expanded += len(v.value); u.expanded > maxExpanded {
		return setting{}, fmt.Errorf("with its variables, ExecStart= is longer than %d bytes, so the kubelet does not start", maxExpanded)
	}
	return v, nil
}

// braces expands each ${NAME} of a word, and nothing of what is put there.
func (u *unitFile) braces(s setting) (setting, error) {
	var b strings.Builder
	from := ""
	for rest := s.value; ; {
		before, after, _ := strings.Cut(rest, "${")
		name, next, found := strings.Cut(after, "}")
		if !found {
			b.WriteString(rest)
			return setting{b.String(), cmp.Or(from, s.from)}, nil
		}
		v, err := u.variable(name)
		if err != nil {
			return setting{}, err
		}
		b.WriteString(before)
		b.WriteString(v.value)
		from, rest = cmp.Or(from, v.from), next
	}
}

// words splits as systemd and shells do, at blanks that are not in quotes.
func words(s string) []string {
	var list []string
	var b strings.Builder
	quote, began := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, began = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if began {
				list = append(list, b.String())
				b.Reset()
				began = false
			}
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			began = true
		default:
			b.WriteByte(c)
			began = true
		}
	}
	if began {
		list = append(list, b.String())
	}
	return list
}
