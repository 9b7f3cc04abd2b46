// Package documents reads Kubernetes objects and lists of them out of what people paste, item by item. It does not know
// what the objects are for.
package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"nodestorm/harness/draft/lines"
)

// Add takes an object. Kind and version are those that its list says, for what has none of its own.
type Add func(raw []byte, kind, version string) error

// Lines is an input's clean lines as text.
func Lines(in *lines.File) io.Reader { return &lineReader{in: in} }

// lineReader is an input's clean lines as text.
type lineReader struct {
	in   *lines.File
	rest []byte
	done bool
}

func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, ok := l.in.Next()
		if !ok {
			if err := l.in.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		if !l.done { // a command that was copied with what it printed
			if begin := bytes.TrimSpace(line); len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
				continue
			}
			l.done = true
		}
		l.rest = append(append(l.rest[:0], line...), '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

var errLarge = errors.New("a document is too large")

// Read takes documents one after the other, and lists item by item.
func Read(from io.Reader, add Add) error {
	d := json.NewDecoder(from)
	for documents := 0; ; documents++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && documents > 0 {
			return nil
		}
		if err != nil {
			return unexpected(err)
		}
		if token != json.Delim('{') {
			return fmt.Errorf("it begins with %v, not with {", token)
		}
		if err := object(d, add); err != nil {
			return unexpected(err)
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// object reads an object, of which "{" is read already.
func object(d *json.Decoder, add Add) error {
	fields := map[string]json.RawMessage{}
	size := 0
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if name == "items" {
			if err := items(d, add, text(fields["kind"]), text(fields["apiVersion"])); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if size += len(value); size > lines.MostDocument {
			return errLarge
		}
		fields[name] = value
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, list := fields["items"]; !list && fields["kind"] != nil {
		whole, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		return add(whole, "", "")
	}
	return nil
}

func items(d *json.Decoder, add Add, kind, version string) error {
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return errors.New("items is no list")
	}
	for d.More() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return err
		}
		if err := add(item, strings.TrimSuffix(kind, "List"), version); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func text(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s) // what is no string is none
	return s
}

// itemStart begins an item of a list as kubectl prints it.
var itemStart = regexp.MustCompile(`(?m)^( *)- (?:apiVersion|kind|metadata|action|count|eventTime|firstTimestamp):`)

// Items are the items of a list, or the document itself.
func Items(document []byte) (all [][]byte) {
	starts := itemStart.FindAllSubmatchIndex(document, -1)
	if len(starts) == 0 {
		return [][]byte{document}
	}
	indent := starts[0][3] - starts[0][2]
	for _, s := range starts {
		indent = min(indent, s[3]-s[2])
	}
	// A single object has lists with such items too, deeper than its own first fields.
	if indent > 0 && regexp.MustCompile(`(?m)^(apiVersion|kind):`).Match(document) && !regexp.MustCompile(`(?m)^items:`).Match(document) {
		return [][]byte{document}
	}
	from, last := -1, len(document)
	take := func(to int) {
		if from < 0 {
			return
		}
		var item bytes.Buffer
		for n, line := range bytes.Split(document[from:to], []byte("\n")) {
			switch {
			case n == 0:
				item.Write(bytes.Repeat([]byte(" "), 2))
				item.Write(line[indent+2:])
			case len(line) >= indent:
				item.Write(line[indent:])
			}
			item.WriteByte('\n')
		}
		all = append(all, item.Bytes())
	}
	for _, s := range starts {
		if s[3]-s[2] != indent {
			continue
		}
		take(s[0])
		from = s[0]
	}
	// What follows the items has no indent: kind, metadata.
	if from >= 0 && indent == 0 {
		if end := regexp.MustCompile(`(?m)^[A-Za-z]`).FindIndex(document[from:]); end != nil {
			last = from + end[0]
		}
	}
	take(last)
	return all
}
