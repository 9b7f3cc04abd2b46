// Package old has the wordings that steps had before, and what they are called now. It is a table: features are
// rewritten by it, and stored runs judged. It knows no sentence that there is.
package old

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/strict"
)

//go:embed wordings.yaml
var file []byte

// Wording is a row of the table.
type Wording struct {
	Was string `json:"was"`
	Now string `json:"now"`
	// Unless is the cloud whose steps say it still. It is for parts of steps.
	Unless string `json:"unless,omitempty"`

	step *words.Expression
	part *regexp.Regexp
}

// table has the rows: of whole steps, and of parts of them.
type table struct {
	Steps []Wording `json:"steps"`
	Parts []Wording `json:"parts"`
}

var all = sync.OnceValue(func() (t table) {
	if err := strict.Unmarshal(file, &t); err != nil {
		panic(fmt.Sprintf("wordings.yaml: %v", err)) // it is part of the program
	}
	for i := range t.Steps {
		t.Steps[i].step = words.Outlined(t.Steps[i].Was)
	}
	for i := range t.Parts {
		t.Parts[i].part = regexp.MustCompile(t.Parts[i].Was)
	}
	return t
})

// Wordings are the rows of whole steps.
func Wordings() []Wording { return all().Steps }

// most is how many rows a step can need, one after the other.
const most = 8

// Newer is a step, or a sentence about a fault, as it is called now, and reports whether that is otherwise than it is.
// The cloud is that of the scenario. Without one, what is the noun of a cloud stays.
func Newer(text, cloud string) (now string, is bool) {
	now = text
	for range most {
		next := newer(now, cloud)
		if next == now {
			break
		}
		now = next
	}
	return now, now != text
}

var cleared = regexp.MustCompile(`^the fault "(.+)" is cleared((?: once .+)?)$`)

func newer(text, cloud string) string {
	if m := cleared.FindStringSubmatch(text); m != nil {
		return `the fault "` + newer(m[1], cloud) + `" is cleared` + m[2]
	}
	for _, w := range all().Steps {
		if now, is := w.step1(text); is {
			return now
		}
	}
	for _, w := range all().Parts {
		if w.Unless == "" || cloud != "" && cloud != w.Unless {
			text = w.part.ReplaceAllString(text, w.Now)
		}
	}
	return text
}

// once begins the record that a When waits for.
const once = " once "

// step1 is a step of the row as it is called now. What it waits for stays behind it.
func (w Wording) step1(text string) (now string, is bool) {
	for at := len(text); at >= 0; at = strings.LastIndex(text[:at], once) {
		if args, is := w.step.Match(text[:at]); is {
			return w.with(args.Texts()) + text[at:], true
		}
	}
	return "", false
}

// places are those of a row's new words: $1, and words of which one is for a number before it.
var places = regexp.MustCompile(`\$(\d)|\[([^\]]*)\]`)

// with are the new words with arguments.
func (w Wording) with(args []string) string {
	number := ""
	return places.ReplaceAllStringFunc(w.Now, func(place string) string {
		m := places.FindStringSubmatch(place)
		if m[1] != "" {
			n, _ := strconv.Atoi(m[1])
			if text := args[n-1]; text != "" {
				if text[0] >= '0' && text[0] <= '9' {
					number = text
				}
				return text
			}
			return ""
		}
		one, many, choice := strings.Cut(m[2], "|")
		switch {
		case !choice && number == "1":
			return ""
		case !choice || number == "1":
			return one
		}
		return many
	})
}
