package cloudinit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"

	"nodestorm/sim/machine/cloudinit/internal/shell"
)

// parser takes user data apart. All of cloud-config ends up in one document, in
// which later parts replace the keys of earlier ones: cloud-init's default merge
// (dict(replace)+list()+str()).
type parser struct {
	config   *Config
	document document
	unpacked int
	parts    int
}

// part reads one part, which is of a MIME type or, where that is empty or says
// nothing, of what its first line says.
func (p *parser) part(name, kind string, data []byte, nesting int) error {
	if nesting > maxNesting {
		return fmt.Errorf("%s: archives nest deeper than %d", name, maxNesting)
	}
	if p.parts++; p.parts > maxParts {
		return fmt.Errorf("%s: more than %d parts", name, maxParts)
	}
	data, err := p.unpack(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := shell.Strip(string(data))
	switch kind {
	case "text/cloud-config":
		return p.cloudConfig(name, text)
	case "text/x-shellscript":
		p.config.Scripts = append(p.config.Scripts, Script{Text: text, From: name})
		return nil
	case nodeConfigType:
		return p.nodeConfig(name, text)
	case "text/cloud-boothook":
		p.config.Scripts = append(p.config.Scripts, Script{Text: text, From: name, Early: true})
		return nil
	case "", "text/plain", "text/x-not-multipart", "application/octet-stream", "application/x-gzip", "application/gzip":
	default:
		if strings.HasPrefix(kind, "multipart/") {
			return p.multipart(name, text, nesting)
		}
		return fmt.Errorf("%s: content type %q: want text/cloud-config, text/x-shellscript, text/cloud-boothook, text/plain, "+
			nodeConfigType+" or multipart/mixed", name, kind)
	}
	return p.byFirstLine(name, text, nesting)
}

func (p *parser) byFirstLine(name, text string, nesting int) error {
	first, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	first = strings.TrimSpace(first)
	lower := strings.ToLower(first)
	switch {
	case first == "":
		return nil
	case strings.HasPrefix(lower, "## template:"):
		return fmt.Errorf("%s line 1: %q asks for a template, which is not rendered here: want #cloud-config or a script, rendered", name, first)
	case strings.HasPrefix(first, "#cloud-config-archive"), strings.HasPrefix(first, "#cloud-config-jsonp"),
		strings.HasPrefix(first, "#include"), strings.HasPrefix(first, "#part-handler"), strings.HasPrefix(first, "#upstart-job"):
		return fmt.Errorf("%s line 1: %s is not read here: want #cloud-config, #!, #cloud-boothook or MIME multipart", name, first)
	case strings.HasPrefix(first, "#cloud-config"):
		return p.cloudConfig(name, text)
	case strings.HasPrefix(first, "#!"):
		p.config.Scripts = append(p.config.Scripts, Script{Text: text, From: name})
		return nil
	case strings.HasPrefix(first, "#cloud-boothook"):
		p.config.Scripts = append(p.config.Scripts, Script{Text: text, From: name, Early: true})
		return nil
	case p.parts == 1 && (strings.HasPrefix(first, "[settings") || strings.HasPrefix(first, "settings.")):
		return p.bottlerocket(name, text)
	case strings.HasPrefix(lower, "content-type:"), strings.HasPrefix(lower, "mime-version:"), strings.HasPrefix(lower, "from "):
		return p.multipart(name, text, nesting)
	}
	p.config.Ignored = append(p.config.Ignored,
		fmt.Sprintf("%s begins with neither #cloud-config nor #! nor a MIME header, so cloud-init ignores it", name))
	return nil
}

// unpack undoes base64, as Hetzner's data source does, and gzip, each once or in
// turn, within the limit on all of the user data.
func (p *parser) unpack(data []byte) ([]byte, error) {
	for range maxNesting {
		switch {
		case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
			text, err := p.gunzip(data)
			if err != nil {
				return nil, err
			}
			data = text
		default:
			decoded, ok := plainBase64(data)
			if !ok {
				p.unpacked += len(data)
				return data, p.full()
			}
			data = decoded
		}
	}
	return nil, fmt.Errorf("it is packed more than %d times", maxNesting)
}

func (p *parser) full() error {
	if p.unpacked > MaxUnpacked {
		return fmt.Errorf("it unpacks to more than %d bytes", MaxUnpacked)
	}
	return nil
}

func (p *parser) gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it begins as gzip and is none: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, MaxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking gzip: %w", err)
	}
	p.unpacked += len(text)
	return text, p.full()
}

// plainBase64 decodes data that is all base64, which no user data in plain is: that
// begins with # or has a colon.
func plainBase64(data []byte) ([]byte, bool) {
	joined := bytes.Join(bytes.Fields(data), nil)
	if len(joined) < 8 || len(joined)%4 != 0 {
		return nil, false
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(joined)))
	n, err := base64.StdEncoding.Strict().Decode(decoded, joined)
	return decoded[:n], err == nil
}

func (p *parser) multipart(name, text string, nesting int) error {
	message, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(text, " \t\r\n")))
	if err != nil {
		return fmt.Errorf("%s: reading the MIME header: %w", name, err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%s: header Content-Type: %w", name, err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		body, err := decodeTransfer(message.Body, message.Header.Get("Content-Transfer-Encoding"))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return p.part(name, kind, body, nesting+1)
	}
	if params["boundary"] == "" {
		return fmt.Errorf("%s: header Content-Type has no boundary", name)
	}
	reader := multipart.NewReader(message.Body, params["boundary"])
	for i := 1; ; i++ {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: part %d: %w", name, i, err)
		}
		partName := fmt.Sprintf("%s part %d", name, i)
		if file := part.FileName(); file != "" {
			partName += fmt.Sprintf(" (%.40q)", file)
		}
		body, err := decodeTransfer(part, part.Header.Get("Content-Transfer-Encoding"))
		if err != nil {
			return fmt.Errorf("%s: %w", partName, err)
		}
		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil {
			kind = ""
		}
		for _, header := range []string{"Merge-Type", "X-Merge-Type"} {
			if how := part.Header.Get(header); how != "" {
				return fmt.Errorf("%s: header %s: only cloud-init's default merge is known, by which later parts replace keys", partName, header)
			}
		}
		if err := p.part(partName, kind, body, nesting+1); err != nil {
			return err
		}
	}
}

func decodeTransfer(r io.Reader, encoding string) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "7bit", "8bit", "binary":
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	default:
		return nil, fmt.Errorf("header Content-Transfer-Encoding is %.40q: want 7bit, 8bit, binary, base64 or quoted-printable", encoding)
	}
	body, err := io.ReadAll(io.LimitReader(r, MaxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("decoding its body: %w", err)
	}
	return body, nil
}
