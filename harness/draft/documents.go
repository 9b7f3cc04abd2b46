package draft

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"nodestorm/harness/draft/documents"
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
	if err := documents.Read(bytes.NewReader(text), r.c.addObject); err != nil {
		*lost++
	}
}

// json reads any number of objects and lists in JSON, item by item. What is before the
// place where it is cut off counts.
func (r reader) json(in *lines.File) error {
	err := documents.Read(documents.Lines(in), r.c.addObject)
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
		for _, block := range documents.Items(document) {
			if len(bytes.TrimSpace(block)) == 0 {
				continue
			}
			asJSON, err := objects.JSON(block)
			if err == nil && len(asJSON) > 0 && asJSON[0] == '{' {
				err = documents.Read(bytes.NewReader(asJSON), r.c.addObject)
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
