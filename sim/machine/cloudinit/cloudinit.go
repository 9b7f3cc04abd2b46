// Package cloudinit reads the user data that a cloud hands to a new machine, and
// determines with which settings the kubelet of that machine would join a cluster.
//
//	user data ──Parse──▶ Config ──Boot──▶ System ──Kubelet──▶ Kubelet
//	(text)              (what it says)   (files, calls)      (settings, with origin)
//
// It knows the forms that kube-hetzner and kubeadm users have: #cloud-config with
// write_files, bootcmd and runcmd, shell scripts, MIME multipart of these, all of it
// in gzip or base64; k3s' configuration and installer; kubeadm's JoinConfiguration and
// flags; the NodeConfig of Amazon EKS' nodeadm; the settings of Bottlerocket, which has no
// cloud-init; the kubelet's systemd unit with drop-ins and environment files.
//
// Nothing is executed and nothing outside the user data is read: see
// internal/shell for what is followed of a script. What is not understood is named,
// not guessed. User data is taken to be hostile: its size, its unpacked size, its
// nesting and what its scripts do are bounded.
package cloudinit

import (
	"fmt"
)

// Limits. Hetzner takes 32 KiB of user data, other clouds 16 to 64.
const (
	// MaxUserData is how long user data may be, in bytes.
	MaxUserData = 256 << 10
	// MaxUnpacked is how long it may be in all, after decoding and decompression.
	MaxUnpacked = 2 << 20
	maxParts    = 100
	maxNesting  = 4 // of archives in archives
)

// Config is what user data says, in the order in which cloud-init acts on it. It
// does not change after Parse.
type Config struct {
	Hostname         string // to set; empty keeps the machine's
	PreserveHostname bool
	BootCommands     []Command // before files are written
	Files            []File
	Scripts          []Script  // parts that are scripts
	Commands         []Command // runcmd
	// Ignored are parts that cloud-init ignores as well, and why.
	Ignored []string

	node *nodeConfig   // nil: nodeadm is not what makes the machine a node
	host *bottlerocket // nil: the machine's system is another one
}

// File is an entry of write_files.
type File struct {
	Path    string
	Content string
	Mode    uint32 // permission bits
	Append  bool
	Defer   bool // written after all others
	From    string
}

// Command is an entry of bootcmd or runcmd: a line of shell, or a program with its
// arguments.
type Command struct {
	Shell string
	Args  []string
	From  string
}

// Script is a part of user data that is a shell script.
type Script struct {
	Text string
	From string
	// Early is set for a boothook, which runs before files are written.
	Early bool
}

// Parse reads user data. Errors are one line and name part, line, field and the
// allowed values. Empty user data is a Config that does nothing.
func Parse(userData string) (*Config, error) {
	if len(userData) > MaxUserData {
		return nil, fmt.Errorf("user data is %d bytes: want at most %d", len(userData), MaxUserData)
	}
	p := &parser{config: &Config{}}
	if err := p.part("user data", "", []byte(userData), 0); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.config, nil
}
