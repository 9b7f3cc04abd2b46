package cloudinit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

// Machine is what user data meets when it boots.
type Machine struct {
	// Name is the host's name as the cloud gives it. Empty means not known.
	Name string
	// RPM says that the image's packages are RPMs (Fedora, Rocky, openSUSE), whose
	// kubelet reads /etc/sysconfig/kubelet in place of /etc/default/kubelet.
	RPM bool
	// Metadata are answers of the cloud's metadata service by URL path, such as
	// "/hetzner/v1/metadata/instance-id". Scripts that ask for others get a text
	// that is not known.
	Metadata map[string]string
	// Cores are its processors, and MaxPods the pods for which a machine of its type has addresses, which
	// hosts of EKS count. Zero: one, and 110.
	Cores, MaxPods int
}

// System is a machine after its first boot, as far as user data decides it.
type System struct {
	// Hostname may be empty if it is not known.
	Hostname string
	// Calls are the programs that scripts have called and whose effect is not
	// followed, in their order.
	Calls []Call

	machine        *shell.Machine
	node           *nodeConfig
	host           *bottlerocket
	cores, maxPods int
}

// Call is a program that a script calls.
type Call struct {
	// Command is the program with its arguments. Texts that are not known stand in
	// it as <why>.
	Command []string
	Where   string
	// If is set when it depends on something that is not known whether the program
	// is called.
	If string
}

// Boot follows what cloud-init does with the user data on a fresh machine:
// boothooks, bootcmd, hostname, write_files, then those to be written late, scripts,
// and runcmd as one more script (its name sorts after part-001). An error is a script
// that is no shell or beyond the limits.
func (c *Config) Boot(on Machine) (*System, error) {
	m := &shell.Machine{Files: packaged(on.RPM), Hostname: on.Name, Metadata: func(path string) (string, bool) {
		answer, found := on.Metadata[path]
		return answer, found
	}}
	for _, s := range c.Scripts {
		if s.Early {
			if err := m.Start().Run(s.From, s.Text); err != nil {
				return nil, err
			}
		}
	}
	if err := follow(m, c.BootCommands); err != nil {
		return nil, err
	}
	if c.Hostname != "" && !c.PreserveHostname {
		m.Hostname = c.Hostname
	}
	for _, late := range []bool{false, true} {
		for _, f := range c.Files {
			if f.Defer != late {
				continue
			}
			if err := m.Put(f.Path, shell.File{Content: f.Content, Mode: f.Mode, From: f.From}, f.Append); err != nil {
				return nil, fmt.Errorf("%s: %w", f.From, err)
			}
		}
	}
	for _, s := range c.Scripts {
		if !s.Early {
			if err := m.Start().Run(s.From, s.Text); err != nil {
				return nil, err
			}
		}
	}
	if err := follow(m, c.Commands); err != nil {
		return nil, err
	}
	s := &System{machine: m, Hostname: m.Hostname, node: c.node, host: c.host, cores: max(1, on.Cores), maxPods: cmp.Or(on.MaxPods, 110)}
	for _, call := range m.Calls {
		shown := Call{Where: call.Where, If: call.If}
		for _, arg := range call.Args {
			shown.Command = append(shown.Command, m.Reveal(arg))
		}
		s.Calls = append(s.Calls, shown)
	}
	return s, nil
}

// follow runs the entries of bootcmd or runcmd, which share one shell.
func follow(m *shell.Machine, commands []Command) error {
	session := m.Start()
	for _, c := range commands {
		var err error
		if c.Args != nil {
			if len(c.Args) > 0 {
				err = session.Call(c.From, c.Args)
			}
		} else {
			err = session.Run(c.From, c.Shell)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Files are the machine's files by path, those of the kubelet's package and all that
// user data has written. Texts that are not known stand in them as <why>.
func (s *System) Files() map[string]File {
	files := map[string]File{}
	for path, f := range s.machine.Files {
		files[path] = File{Path: path, Content: s.machine.Reveal(f.Content), Mode: f.Mode, From: f.From}
	}
	return files
}

// paths are the files below a folder, sorted.
func (s *System) paths(dir, suffix string) []string {
	var found []string
	for _, p := range slices.Sorted(maps.Keys(s.machine.Files)) {
		name, below := strings.CutPrefix(p, dir+"/")
		if below && !strings.Contains(name, "/") && strings.HasSuffix(name, suffix) {
			found = append(found, p)
		}
	}
	return found
}

// known is the content of a file that is to be understood. A file that is not there
// is empty.
func (s *System) known(path string) (shell.File, error) {
	f := s.machine.Files[path]
	if why, unknown := s.machine.Unknown(f.Content); unknown {
		return f, fmt.Errorf("%s (%s): what it says depends on %s, which is not known", path, f.From, why)
	}
	return f, nil
}
