package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"nodestorm/harness/draft/lines"
	"nodestorm/harness/program"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/oneline"
)

// dumpFile is what a dump printed to one file: documents, logs between two marks, or both.
func (r reader) dumpFile(in *lines.File) error {
	begin := in.Begin(4096)
	switch trimmed := bytes.TrimSpace(begin); {
	case len(trimmed) > 0 && trimmed[0] != '{' && !bytes.Contains(begin, []byte("==== START")):
		if err := r.yaml(in); err != nil {
			return err
		}
	default:
		if err := r.printed(in); err != nil {
			return err
		}
	}
	if r.c.readAny == 0 {
		return fmt.Errorf("%s has no nodes, pods or events; want a folder or a file of `kubectl cluster-info dump`, or of `kubectl get "+
			"nodes,pods,events -A -o json`", in.Name())
	}
	return nil
}

var logStart = regexp.MustCompile(`^==== START logs for container (\S+) of pod (\S+) ====`)

// printed is what `kubectl cluster-info dump` prints: documents in JSON from "{" to "}" at
// the begin of lines, and logs between.
func (r reader) printed(in *lines.File) error {
	var document bytes.Buffer
	inside, of, lost := false, "", 0
	logs := newLogReader(r.c, "")
	for line, ok := in.Next(); ok; line, ok = in.Next() {
		switch m := logStart.FindSubmatch(line); {
		case m != nil:
			of = program.Autoscaler(string(m[1]) + " " + string(m[2]))
			logs = newLogReader(r.c, of)
		case bytes.HasPrefix(line, []byte("==== END logs")):
			logs.finish(in.Base())
			of = ""
			logs = newLogReader(r.c, "")
		case of != "":
			logs.line(line)
		case !inside && len(line) > 1 && line[0] == '{':
			r.document(line, &lost)
		case !inside && bytes.Equal(line, []byte("{")):
			inside = true
			document.Reset()
			fallthrough
		case inside:
			document.Write(line)
			document.WriteByte('\n')
			if bytes.Equal(line, []byte("}")) || document.Len() > lines.MostDocument {
				inside = false
				r.document(document.Bytes(), &lost)
			}
		}
	}
	logs.finish(in.Base())
	if inside {
		r.document(document.Bytes(), &lost)
	}
	if lost > 0 {
		r.c.addNote("%s: %d documents are cut off or malformed; what is whole of them was taken", in.Base(), lost)
	}
	r.c.noteMissing(in)
	return in.Err()
}

func (r reader) document(text []byte, lost *int) {
	if err := r.stream(bytes.NewReader(text)); err != nil {
		*lost++
	}
}

// json reads any number of objects and lists in JSON, item by item. What is before the
// place where it is cut off counts.
func (r reader) json(in *lines.File) error {
	err := r.stream(&lineReader{in: in})
	r.c.noteMissing(in)
	switch {
	case in.Err() != nil:
		return in.Err()
	case err == nil || in.Cut():
		return nil
	case r.c.readAny == 0:
		return fmt.Errorf("%s:%d: no JSON of Kubernetes: %w", in.Name(), max(1, in.Line()), err)
	}
	r.c.addNote("%s:%d: it is cut off or malformed there (%v); what is before was taken", in.Base(), in.Line(), err)
	return nil
}

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

// stream takes documents one after the other, and lists item by item.
func (r reader) stream(from io.Reader) error {
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
		if err := r.object(d); err != nil {
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
func (r reader) object(d *json.Decoder) error {
	fields := map[string]json.RawMessage{}
	size := 0
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if name == "items" {
			if err := r.items(d, text(fields["kind"]), text(fields["apiVersion"])); err != nil {
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
		return r.c.addObject(whole, "", "")
	}
	return nil
}

func (r reader) items(d *json.Decoder, kind, version string) error {
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
		if err := r.c.addObject(item, strings.TrimSuffix(kind, "List"), version); err != nil {
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

// yaml reads objects and lists in YAML. Each item is read by itself, so that one that is
// cut off, at the begin or the end, takes no other with it.
func (r reader) yaml(in *lines.File) error {
	text, err := in.All()
	if err != nil {
		return err
	}
	lost := 0
	var why error
	before := r.c.readAny
	for _, document := range bytes.Split(append([]byte("\n"), text...), []byte("\n---")) {
		for _, block := range blocks(document) {
			if len(bytes.TrimSpace(block)) == 0 {
				continue
			}
			asJSON, err := objects.JSON(block)
			if err == nil && len(asJSON) > 0 && asJSON[0] == '{' {
				err = r.stream(bytes.NewReader(asJSON))
			} else if err == nil {
				err = errors.New("it is no object: want apiVersion, kind, metadata and so on")
			}
			if err != nil {
				lost, why = lost+1, err
			}
		}
	}
	r.c.noteMissing(in)
	switch {
	case lost > 0 && r.c.readAny == before:
		return fmt.Errorf("%s: no YAML of Kubernetes: %v; want what kubectl get -o yaml prints", in.Name(), oneline.Cut(why.Error(), 200))
	case lost > 0:
		r.c.addNote("%s: %d objects are cut off or malformed, and were left out", in.Base(), lost)
	}
	return nil
}

// blocks are the items of a list, or the document itself.
func blocks(document []byte) (all [][]byte) {
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
