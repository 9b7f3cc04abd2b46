package redact

import "bytes"

// following is what a line of YAML says of those after it: that the next is the value of a variable
// that holds a secret, as a container has them, or that deeper ones are the text of a secret.
type following struct {
	value bool // of the variable that the line before names
	deep  int  // the indentation from which on lines are a secret's text; 0: none
	left  int  // lines that it may still have
}

// add takes in a line. Of one that is a secret's, whole, it returns what is left of it.
func (f *following) add(line []byte) (rest []byte, whole bool) {
	text := bytes.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if f.deep > 0 && f.left > 0 && (len(bytes.TrimSpace(text)) == 0 || indent >= f.deep) {
		f.left--
		return nil, true
	}
	f.deep = 0
	value := f.value
	f.value = false
	for bytes.HasPrefix(text, []byte("- ")) {
		text = bytes.TrimLeft(text[2:], " ")
	}
	key, after, is := bytes.Cut(text, []byte(":"))
	if !is || len(after) > 0 && !space(after[0]) {
		return line, false
	}
	said := string(bytes.Trim(bytes.TrimSpace(after), `"'`))
	isValue := value && string(key) == "value"
	switch said {
	case "|", "|-", "|+", ">", ">-", ">+":
		if isValue || SecretName(string(bytes.Trim(key, `"'`))) {
			f.deep, f.left = indent+1, maxKey
		}
		return line, false
	}
	f.value = string(key) == "name" && SecretName(said)
	if isValue && said != "" {
		return append(bytes.Clone(line[:len(line)-len(after)]), " "+Removed...), true
	}
	return line, false
}
