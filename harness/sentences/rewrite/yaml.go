package rewrite

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"nodestorm/harness/sentences/words"
)

// YAML are the changes of a file with sentences about faults: a schedule, or a record whose patterns name faults by
// what they are called. They are the values of the field fault. A file that cannot be read has none.
func YAML(text []byte) (changes []Change) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	lines := strings.Split(string(text), "\n")
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return changes
		}
		changes = append(changes, changesOf(lines, &document, cloudOf(&document))...)
	}
}

// cloudOf is the cloud of the file: a schedule's site says it, and a record.
func cloudOf(document *yaml.Node) (cloud string) {
	var top struct{ Site, System, Cloud string }
	_ = document.Decode(&top) // of what is something else there is no cloud
	if _, on, is := strings.Cut(top.Site, "/"); is {
		return on
	}
	if top.Cloud != "" {
		return top.Cloud
	}
	return top.System
}

func changesOf(lines []string, of *yaml.Node, cloud string) (changes []Change) {
	for i, inside := range of.Content {
		if of.Kind == yaml.MappingNode && i%2 == 1 && of.Content[i-1].Value == "fault" && inside.Kind == yaml.ScalarNode {
			if now, is := words.Newer(inside.Value, cloud); is {
				if c, found := changed(lines, inside, now); found {
					changes = append(changes, c)
				}
			}
			continue
		}
		changes = append(changes, changesOf(lines, inside, cloud)...)
	}
	return changes
}

// longestScalar is how many lines a sentence can be wrapped over.
const longestScalar = 20

// changed is a value with another text, in its quotes. One that was wrapped becomes a line.
func changed(lines []string, value *yaml.Node, now string) (c Change, found bool) {
	first := []rune(lines[value.Line-1])
	before := string(first[:value.Column-1])
	for n := 1; n <= longestScalar && value.Line-1+n <= len(lines); n++ {
		was := lines[value.Line-1 : value.Line-1+n]
		raw := strings.Join(was, "\n")[len(before):]
		// The value may end anywhere in its last line: a comment can follow, or the rest of a list.
		for end := len(raw); end > 0; end-- {
			if n > 1 && end <= strings.LastIndex(raw, "\n") {
				break
			}
			var text string
			if quoted(raw[0]) != quoted(raw[end-1]) || yaml.Unmarshal([]byte(raw[:end]), &text) != nil || text != value.Value ||
				strings.TrimRight(raw[:end], " \r\n") != raw[:end] {
				continue
			}
			line := before + written(raw[0], now, before) + raw[end:]
			return Change{value.Line, was, []string{line}}, true
		}
	}
	return c, false
}

func quoted(c byte) byte {
	if c == '\'' || c == '"' {
		return c
	}
	return 0
}

// written is a text in the quotes that it had, or in some if it needs them now.
func written(quote byte, text, before string) string {
	switch {
	case quote == '"':
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	case quote == '\'', strings.Contains(text, ": "), strings.Contains(text, " #"),
		strings.ContainsAny(before, "{[") && strings.ContainsAny(text, ",{}[]"):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return text
}
