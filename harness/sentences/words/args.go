package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Args are the arguments of a sentence as a step has them, by their places, the first at 0.
type Args struct {
	// Said is the text of the step.
	Said string
	// Quoted is the text below the step, or that of the file that the step names; Table the cells below it.
	Quoted string
	Table  [][]string

	texts []string
	of    *Expression
}

// Check finds a number or a duration that is none, though it looks like one.
func (a Args) Check() error {
	for i, text := range a.texts {
		var err error
		switch a.of.Arguments[i].Name {
		case "N":
			_, err = number(text)
		case "DURATION":
			_, err = Duration(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Len is how many there are.
func (a Args) Len() int { return len(a.texts) }

// Text is what a step says in the place of an argument, without the quotes around it.
func (a Args) Text(i int) string { return a.texts[i] }

// Texts are all of them.
func (a Args) Texts() []string { return slices.Clone(a.texts) }

// Named is the first argument of that name; empty if there is none.
func (a Args) Named(name string) string {
	i := slices.IndexFunc(a.of.Arguments[:len(a.texts)], func(of Argument) bool { return of.Name == name })
	if i < 0 {
		return ""
	}
	return a.texts[i]
}

// Int is the value of an argument N of arguments that Check has found right.
func (a Args) Int(i int) int {
	n, _ := number(a.texts[i])
	return n
}

// Duration is the value of an argument DURATION of arguments that Check has found right.
func (a Args) Duration(i int) time.Duration {
	d, _ := Duration(a.texts[i])
	return d
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no number: %w", text, err)
	}
	return n, nil
}

// Duration is virtual time, which is never zero.
func Duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no duration such as 30s or 2m30s", text)
	}
	if len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' {
		return 0, fmt.Errorf("%q begins with a zero: is it %s or %s?", text, strings.TrimLeft(text, "0"), text[1:2]+"0"+text[2:])
	}
	return d, nil
}
