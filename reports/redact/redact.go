// Package redact removes credentials, and what identifies a machine and its user, from
// what leaves the machine. Reports are made of what [Redactor.Reader] lets through;
// which secrets a world has is for those who made them to say.
package redact

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
)

// Removed stands for what was removed.
const Removed = "[removed]"

// Redactor removes credentials and what identifies a machine from text.
type Redactor struct {
	// Texts are replaced by what they map to: a home folder, a host's name, the value
	// of a secret.
	Texts map[string]string
	// User is replaced where it is a word of its own.
	User string
	// Count is how many credentials were removed.
	Count int

	about map[string]string // what people call a text of Texts, or the user's name
	met   map[string]bool   // by what it is called
	inKey int               // lines that a private key may still have, 0 outside of one
	lines following
	order []string
}

// secretNames are what names of variables hold whose values are secrets.
var secretNames = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "KEY", "CREDENTIAL"}

// SecretName reports whether a variable of that name holds a secret.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretNames, func(hint string) bool { return strings.Contains(name, hint) })
}

// minSecret is the length from which on a value is taken for a secret: shorter ones
// are none, and would take half of every text with them.
const minSecret = 8

// Secrets are the values of those variables that by their names hold one, and not just
// the way to its file: as they are, as JSON has them, and each line of those with many.
func Secrets(environment []string) (values []string) {
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		if !SecretName(name) || len(value) < minSecret {
			continue
		}
		if _, err := os.Stat(value); err == nil {
			continue
		}
		forms := []string{value, inJSON(value, true), inJSON(value, false)}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minSecret {
				forms = append(forms, line, inJSON(line, true), inJSON(line, false))
			}
		}
		for _, form := range forms {
			if !slices.Contains(values, form) {
				values = append(values, form)
			}
		}
	}
	return values
}

// inJSON is text as it is within a string of JSON, with or without &, < and > written
// as numbers.
func inJSON(text string, numbers bool) string {
	var quoted bytes.Buffer
	to := json.NewEncoder(&quoted)
	to.SetEscapeHTML(numbers)
	_ = to.Encode(text) // a string has a JSON
	return strings.TrimSuffix(quoted.String(), "\"\n")[1:]
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
	line, whole := r.lines.add(line)
	if whole {
		if len(line) > 0 || r.lines.left == maxKey-1 { // a text of many lines is one
			r.Count++
		}
		return line
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
	for _, text := range r.texts() {
		if bytes.Contains(line, []byte(text)) {
			line = bytes.ReplaceAll(line, []byte(text), []byte(r.Texts[text]))
			r.noteReplaced(text)
		}
	}
	return r.withoutUser(line)
}

// texts are the keys of Texts, longer ones first: one may begin as another does, whose
// rest would stay.
func (r *Redactor) texts() []string {
	if len(r.order) != len(r.Texts) {
		r.order = slices.SortedFunc(maps.Keys(r.Texts), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	}
	return r.order
}

func (r *Redactor) withoutUser(line []byte) []byte {
	if r.User == "" {
		return line
	}
	var clean []byte
	for from := 0; ; {
		n := bytes.Index(line[from:], []byte(r.User))
		if n < 0 {
			return append(clean, line[from:]...)
		}
		at, end := from+n, from+n+len(r.User)
		clean = append(clean, line[from:at]...)
		if (at > 0 && word(line[at-1])) || (end < len(line) && word(line[end])) {
			clean = append(clean, r.User...)
		} else {
			clean = append(clean, "user"...)
			r.noteReplaced(r.User)
		}
		from = end
	}
}

// Text is a text without its credentials.
func (r *Redactor) Text(text string) string {
	var clean strings.Builder
	_ = r.Copy(&clean, strings.NewReader(text)) // neither of them fails
	return clean.String()
}

// JSON is a value that has passed the redactor, key by key, as its JSON does. to is a
// pointer to it.
func (r *Redactor) JSON(to any) error {
	text, err := json.Marshal(to)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(to).Elem()
	v.SetZero() // what is gone from the text must not stay
	if err := json.Unmarshal(r.Line(text), to); err == nil {
		return nil
	}
	// What was removed has begun in one string and ended in another, as a stranger may write them: each is looked at alone.
	v.SetZero()
	var parts any
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&parts); err != nil {
		return err
	}
	if text, err = json.Marshal(r.strings(parts)); err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// strings is a value of JSON without credentials in its strings.
func (r *Redactor) strings(value any) any {
	switch value := value.(type) {
	case string:
		return r.Text(value)
	case []any:
		for i := range value {
			value[i] = r.strings(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = r.strings(value[key])
		}
	}
	return value
}

// CopyFrom gives w what write writes, without its credentials.
func (r *Redactor) CopyFrom(w io.Writer, write func(io.Writer) error) error {
	from, to := io.Pipe()
	go func() { to.CloseWithError(write(to)) }()
	err := r.Copy(w, from)
	from.CloseWithError(err) // ends a writer that is not read any more
	return err
}

// maxLine bounds a line, in bytes: what is longer is cut, for a credential could
// be where two pieces meet.
const maxLine = 4 << 20

// Copy copies text, line by line, without its credentials.
func (r *Redactor) Copy(w io.Writer, from io.Reader) error {
	_, err := io.Copy(w, r.Reader(from))
	return err
}

// Reader is text without its credentials.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	r.inKey = 0
	return &reader{redactor: r, in: bufio.NewReaderSize(from, 64<<10)}
}

type reader struct {
	redactor *Redactor
	in       *bufio.Reader
	line     []byte
	clean    []byte // not read yet
	err      error  // behind it
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.clean) < len(p) && r.err == nil {
		r.next()
	}
	n := copy(p, r.clean)
	r.clean = r.clean[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

// next adds a line to what is clean.
func (r *reader) next() {
	r.line = r.line[:0]
	long := false
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(r.line)+len(piece) <= maxLine {
			r.line = append(r.line, piece...)
		} else {
			long = true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.err = err
		break
	}
	if len(r.line) == 0 {
		return
	}
	whole := bytes.HasSuffix(r.line, []byte("\n"))
	r.clean = append(r.clean, r.redactor.Line(bytes.TrimSuffix(r.line, []byte("\n")))...)
	if long {
		r.clean = fmt.Appendf(r.clean, " [cut after %d MiB]", maxLine>>20)
	}
	if whole || long {
		r.clean = append(r.clean, '\n')
	}
}
