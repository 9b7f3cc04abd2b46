package words

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"nodestorm/sim/strict"
)

// wordingsFile has the wordings that steps had before, and what they are called now. Features are rewritten by it, and
// stored runs judged.
//
//go:embed wordings.yaml
var wordingsFile []byte

// wording is a row of the table.
type wording struct {
	Was string `json:"was"`
	Now string `json:"now"`
	// Unless is the cloud whose steps say it still. It is for parts of steps.
	Unless string `json:"unless,omitempty"`

	step *Expression    // of a whole step
	part *regexp.Regexp // of a part of steps
}

// wordingTable has the rows: of whole steps, and of parts of them.
type wordingTable struct {
	Steps []wording `json:"steps"`
	Parts []wording `json:"parts"`
}

var wordings = sync.OnceValue(func() (t wordingTable) {
	if err := strict.Unmarshal(wordingsFile, &t); err != nil {
		panic(fmt.Sprintf("wordings.yaml: %v", err)) // it is part of the program
	}
	for i := range t.Steps {
		t.Steps[i].step = Outlined(t.Steps[i].Was)
	}
	for i := range t.Parts {
		t.Parts[i].part = regexp.MustCompile(t.Parts[i].Was)
	}
	return t
})

// mostNewer is how many rows a step can need, one after the other.
const mostNewer = 8

// Newer is a step, or a sentence about a fault, as it is called now, and reports whether that is otherwise than it is.
// The cloud is that of the scenario. Without one, what is the noun of a cloud stays.
func Newer(text, cloud string) (now string, is bool) {
	now = text
	for range mostNewer {
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
	for _, w := range wordings().Steps {
		if now, is := w.step1(text); is {
			return now
		}
	}
	for _, w := range wordings().Parts {
		if w.Unless == "" || cloud != "" && cloud != w.Unless {
			text = w.part.ReplaceAllString(text, w.Now)
		}
	}
	return text
}

// once begins the record that a When waits for.
const once = " once "

// step1 is a step of the row as it is called now. What it waits for stays behind it.
func (w wording) step1(text string) (now string, is bool) {
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
func (w wording) with(args []string) string {
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
