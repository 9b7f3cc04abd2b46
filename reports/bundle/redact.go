package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Removed stands for what was removed.
const Removed = "[removed]"

// Redactor removes credentials and what tells of a machine from text.
type Redactor struct {
	// Texts are replaced by what they map to: a home folder, a host's name.
	Texts map[string]string
	// Count is how much was removed.
	Count int
	inKey int // lines that a private key may still have, 0 outside of one
}

// ForHere is a Redactor that knows this machine.
func ForHere() *Redactor {
	r := &Redactor{Texts: map[string]string{}}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 4 {
		r.Texts[home] = "~"
	}
	if host, err := os.Hostname(); err == nil && len(host) > 5 {
		r.Texts[host] = "host"
	}
	return r
}

var (
	keyBegins = []byte("-----BEGIN ")
	keyIs     = []byte("PRIVATE KEY-----")
	keyEnds   = []byte("-----END ")
)

// maxKey bounds a private key, in lines: one of RSA with 16,384 bits has 200. The
// end of a key may be missing.
const maxKey = 256

// maxPasses is how often a line is looked at. Of those that people and programs write
// none needs more than two.
const maxPasses = 10

// Line is a line without its credentials.
func (r *Redactor) Line(line []byte) []byte {
	if r.inKey > 0 {
		r.inKey--
		if bytes.Contains(line, keyEnds) {
			r.inKey = 0
		}
		return nil
	}
	// A key that begins within other text is on this line, cut off or not.
	if bytes.Contains(line, keyBegins) && bytes.HasSuffix(bytes.TrimSpace(line), keyIs) && !bytes.Contains(line, keyEnds) {
		r.inKey = maxKey
	}
	// Without one credential, the rest of a line may be read as another.
	for pass := 0; ; pass++ {
		found := places(line)
		if len(found) == 0 {
			break
		}
		r.Count += len(found)
		if pass == maxPasses {
			line = removed
			break
		}
		var clean []byte
		kept := 0
		for _, p := range found {
			clean = append(append(clean, line[kept:p.from]...), Removed...)
			kept = p.to
		}
		line = append(clean, line[kept:]...)
	}
	for text, instead := range r.Texts {
		line = bytes.ReplaceAll(line, []byte(text), []byte(instead))
	}
	return line
}

// maxLine bounds a line, in bytes: what is longer is cut, for a credential could
// be where two pieces meet.
const maxLine = 4 << 20

// Copy copies text, line by line, without its credentials.
func (r *Redactor) Copy(w io.Writer, from io.Reader) error {
	in, out := bufio.NewReaderSize(from, 64<<10), bufio.NewWriterSize(w, 64<<10)
	r.inKey = 0
	var line []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) <= maxLine {
			line = append(line, piece...)
		} else {
			long = true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > 0 {
			whole := bytes.HasSuffix(line, []byte("\n"))
			clean := r.Line(bytes.TrimSuffix(line, []byte("\n")))
			if _, err := out.Write(clean); err != nil {
				return err
			}
			if long {
				if _, err := fmt.Fprintf(out, " [cut after %d MiB]", maxLine>>20); err != nil {
					return err
				}
			}
			if whole || long {
				if err := out.WriteByte('\n'); err != nil {
					return err
				}
			}
		}
		line, long = line[:0], false
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}
