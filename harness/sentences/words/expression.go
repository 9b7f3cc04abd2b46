// Package words has what the sentences of features are written with. A sentence is given by its words, as people read
// them, with the names of its arguments, as in
//
//	N server[s] of the group "NAME" [is|are] created within DURATION
//
// and the regular expression that finds it in a step is made from them. The package knows no sentence, no world and no
// history; of wordings that steps had before, it knows what they are called now, see Newer.
package words

import (
	"regexp"
	"strings"
)

// Expression is what a sentence can say.
type Expression struct {
	// Words are the sentence for people, Example has values in place of the arguments.
	Words, Example string
	Arguments      []Argument

	pattern *regexp.Regexp
}

// New makes an expression of words. Apart from the names of arguments, [x] may be left out, [a|b] is one word or the
// other, and (a|b) is an argument that is one of the words. Of words that come to the same people see the last. The
// space before an argument that may be empty belongs to that. An expression that ends with a colon has a text below
// its step.
func New(source string) *Expression {
	return build(source, func(a Argument) string { return a.pattern })
}

// Outlined is the expression of words in which <NAME> may be in the place of any argument, as in a Scenario Outline.
func Outlined(source string) *Expression {
	return build(source, func(a Argument) string {
		if a.mayBeEmpty() || !strings.HasSuffix(a.pattern, ")") { // in quotes any text can be, and behind CPU is a word
			return a.pattern
		}
		return strings.TrimSuffix(a.pattern, ")") + `|<[^<>"]+>)`
	})
}

// build makes an expression, with the patterns of arguments as they are to be.
func build(source string, of func(Argument) string) *Expression {
	e := &Expression{}
	var pattern, shown, example strings.Builder
	say := func(p, w, x string) { pattern.WriteString(p); shown.WriteString(w); example.WriteString(x) }
	pattern.WriteString("^")
	for rest := source; rest != ""; {
		if a, after, is := leading(rest, source[:len(source)-len(rest)]); is {
			space := ""
			if a.mayBeEmpty() {
				space = " "
			}
			say(of(a), space+a.shown(), a.Example)
			e.Arguments = append(e.Arguments, a)
			rest = after
			continue
		}
		switch rest[0] {
		case '[':
			inside, after, _ := strings.Cut(rest[1:], "]")
			options := strings.Split(inside, "|")
			last := options[len(options)-1]
			if len(options) == 1 {
				say(`(?:`+regexp.QuoteMeta(last)+`)?`, last, last)
			} else {
				say(`(?:`+alternatives(options)+`)`, last, last)
			}
			rest = after
		case '(':
			inside, after, _ := strings.Cut(rest[1:], ")")
			options := strings.Split(inside, "|")
			a := Argument{inside, "one of these words", options[0], `(` + alternatives(options) + `)`}
			shown := a.Name
			if strings.Contains(shown, " ") { // where the words of one begin and end
				shown = "(" + shown + ")"
			}
			say(of(a), shown, a.Example)
			e.Arguments = append(e.Arguments, a)
			rest = after
		default:
			say(regexp.QuoteMeta(rest[:1]), rest[:1], rest[:1])
			rest = rest[1:]
		}
	}
	pattern.WriteString("$")
	e.Words, e.Example, e.pattern = shown.String(), example.String(), regexp.MustCompile(pattern.String())
	if strings.HasSuffix(source, ":") {
		e.Arguments = append(e.Arguments, text)
	}
	return e
}

// Tabled is the expression of a sentence that ends with a colon and has a table below its step.
func (e *Expression) Tabled() *Expression {
	tabled := *e
	tabled.Arguments = append(tabled.Arguments[:len(e.Arguments)-1:len(e.Arguments)-1], table)
	return &tabled
}

// leading is the argument that words begin with, with the space before it if it may be empty, and what is behind it.
func leading(rest, before string) (a Argument, after string, is bool) {
	inWord := before != "" && letter(before[len(before)-1])
	for _, a := range arguments {
		shown := a.shown()
		if a.mayBeEmpty() {
			shown = " " + shown
		} else if inWord {
			continue
		}
		if after, is := strings.CutPrefix(rest, shown); is && (after == "" || !letter(after[0])) {
			return a, after, true
		}
	}
	return a, rest, false
}

func letter(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '=' || c == '/'
}

func alternatives(options []string) string {
	quoted := make([]string, len(options))
	for i, o := range options {
		quoted[i] = regexp.QuoteMeta(o)
	}
	return strings.Join(quoted, "|")
}

// Match reads the arguments out of the text of a step, if it says this.
func (e *Expression) Match(text string) (Args, bool) {
	m := e.pattern.FindStringSubmatch(text)
	if m == nil {
		return Args{}, false
	}
	return Args{Said: text, texts: m[1:], of: e}, true
}
