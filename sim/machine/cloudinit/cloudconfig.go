package cloudinit

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

// document is the part of #cloud-config that decides how a kubelet joins. All other
// keys are left unread.
type document struct {
	Hostname         string      `yaml:"hostname"`
	FQDN             string      `yaml:"fqdn"`
	PreferFQDN       bool        `yaml:"prefer_fqdn_over_hostname"`
	PreserveHostname bool        `yaml:"preserve_hostname"`
	WriteFiles       []fileEntry `yaml:"write_files"`
	BootCommands     []entry     `yaml:"bootcmd"`
	RunCommands      []entry     `yaml:"runcmd"`
	MergeHow         yaml.Node   `yaml:"merge_how"`
	MergeType        yaml.Node   `yaml:"merge_type"`
	part             string
}

// entry is a YAML value that knows where it stands.
type entry struct {
	node yaml.Node
	from string
}

func (e *entry) UnmarshalYAML(n *yaml.Node) error {
	e.node = *n
	return nil
}

// fileEntry is one of write_files. Numbers and strings are taken as YAML has them.
type fileEntry struct {
	Path        string    `yaml:"path"`
	Content     string    `yaml:"content"`
	Encoding    string    `yaml:"encoding"`
	Permissions yaml.Node `yaml:"permissions"`
	Append      bool      `yaml:"append"`
	Defer       bool      `yaml:"defer"`
	Source      yaml.Node `yaml:"source"`
	line        int
	from        string
}

func (f *fileEntry) UnmarshalYAML(n *yaml.Node) error {
	type plain fileEntry
	if err := n.Decode((*plain)(f)); err != nil {
		return err
	}
	f.line = n.Line
	return nil
}

// cloudConfig reads a #cloud-config over what earlier parts said.
func (p *parser) cloudConfig(name, text string) error {
	d := document{part: name}
	if err := yaml.Unmarshal([]byte(text), &d); err != nil {
		return fmt.Errorf("%s: %s", name, yamlError(err))
	}
	if !d.MergeHow.IsZero() || !d.MergeType.IsZero() {
		return fmt.Errorf("%s: merge_how: only cloud-init's default merge is known, by which later parts replace keys", name)
	}
	for i := range d.WriteFiles {
		d.WriteFiles[i].from = fmt.Sprintf("%s write_files[%d]", name, i)
	}
	for i := range d.BootCommands {
		d.BootCommands[i].from = fmt.Sprintf("%s bootcmd[%d]", name, i)
	}
	for i := range d.RunCommands {
		d.RunCommands[i].from = fmt.Sprintf("%s runcmd[%d]", name, i)
	}
	have := &p.document
	if d.Hostname != "" {
		have.Hostname = d.Hostname
	}
	if d.FQDN != "" {
		have.FQDN = d.FQDN
	}
	have.PreferFQDN = have.PreferFQDN || d.PreferFQDN
	have.PreserveHostname = have.PreserveHostname || d.PreserveHostname
	if d.WriteFiles != nil {
		have.WriteFiles = d.WriteFiles
	}
	if d.BootCommands != nil {
		have.BootCommands = d.BootCommands
	}
	if d.RunCommands != nil {
		have.RunCommands = d.RunCommands
	}
	return nil
}

var yamlPrefix = regexp.MustCompile(`^yaml: (unmarshal errors:\s*)?`)

// yamlError is a YAML error in one line, without the values it quotes: they may be
// secret.
func yamlError(err error) string {
	text := yamlPrefix.ReplaceAllString(err.Error(), "")
	text = strings.Join(strings.Fields(text), " ")
	return regexp.MustCompile("`[^`]*`").ReplaceAllString(text, "a value")
}

// finish turns the merged document into the Config.
func (p *parser) finish() error {
	d, c := p.document, p.config
	c.PreserveHostname = d.PreserveHostname
	c.Hostname = d.Hostname
	if c.Hostname == "" || d.PreferFQDN && d.FQDN != "" {
		c.Hostname = d.FQDN
		if !d.PreferFQDN {
			c.Hostname, _, _ = strings.Cut(c.Hostname, ".")
		}
	}
	for _, f := range d.WriteFiles {
		file, err := p.file(f)
		if err != nil {
			return err
		}
		c.Files = append(c.Files, file)
	}
	var err error
	if c.BootCommands, err = p.commands(d.BootCommands); err != nil {
		return err
	}
	c.Commands, err = p.commands(d.RunCommands)
	return err
}

func (p *parser) file(f fileEntry) (File, error) {
	fail := func(field, text string) (File, error) {
		return File{}, fmt.Errorf("%s line %d: %s %s", f.from, f.line, field, text)
	}
	if !strings.HasPrefix(f.Path, "/") {
		return fail("path", fmt.Sprintf("is %.80q: want an absolute path", f.Path))
	}
	if !f.Source.IsZero() {
		return fail("source", "would be downloaded: want content")
	}
	mode, err := permissions(f.Permissions)
	if err != nil {
		return fail("permissions", err.Error())
	}
	content, err := p.decode(f.Content, f.Encoding)
	if err != nil {
		return fail("content", err.Error())
	}
	return File{
		Path: path.Clean(f.Path), Content: shell.Strip(content), Mode: mode, Append: f.Append, Defer: f.Defer,
		From: f.from,
	}, nil
}

// permissions are an octal string or, where YAML reads a number, that number.
func permissions(n yaml.Node) (uint32, error) {
	if n.IsZero() {
		return 0o644, nil
	}
	text := strings.TrimPrefix(n.Value, "0o")
	base := 8
	if n.Tag == "!!int" && !strings.HasPrefix(n.Value, "0") {
		base = 10 // as cloud-init takes a number that YAML does not read as octal
	}
	mode, err := strconv.ParseUint(text, base, 12)
	if err != nil {
		return 0, fmt.Errorf("is %.20q: want an octal mode such as '0644'", n.Value)
	}
	return uint32(mode), nil
}

// decode undoes an encoding of write_files. By aliases, plain content may be there many
// times.
func (p *parser) decode(content, encoding string) (string, error) {
	var packed, encoded bool
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "text/plain":
	case "b64", "base64":
		encoded = true
	case "gz", "gzip":
		packed = true
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		packed, encoded = true, true
	default:
		return "", fmt.Errorf("has encoding %.20q: want text/plain, b64, base64, gz, gzip, gz+b64, gz+base64, gzip+b64 or gzip+base64", encoding)
	}
	if encoded {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
		if err != nil {
			return "", fmt.Errorf("is not the base64 that its encoding says: %w", err)
		}
		content = string(b)
	}
	if packed {
		b, err := p.gunzip([]byte(content))
		if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return "", errors.New("is not the gzip that its encoding says")
		}
		return string(b), err
	}
	p.unpacked += len(content)
	return content, p.full()
}

// commands are lines of shell, or lists of words.
func (p *parser) commands(entries []entry) ([]Command, error) {
	var list []Command
	for _, e := range entries {
		c := Command{From: e.from}
		var err error
		if e.node.Kind == yaml.SequenceNode {
			err = e.node.Decode(&c.Args)
		} else {
			err = e.node.Decode(&c.Shell)
		}
		if err != nil {
			return nil, fmt.Errorf("%s line %d: want a line of shell or a list of words", e.from, e.node.Line)
		}
		p.unpacked += len(c.Shell)
		for _, arg := range c.Args {
			p.unpacked += 16 + len(arg) // an empty one takes memory too
		}
		if err := p.full(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.from, err)
		}
		c.Shell = shell.Strip(c.Shell)
		for i := range c.Args {
			c.Args[i] = shell.Strip(c.Args[i])
		}
		list = append(list, c)
	}
	return list, nil
}
