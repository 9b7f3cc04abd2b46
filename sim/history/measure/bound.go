package measure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/strict"
)

// Bound is what a statement says of a measure. It counts from where the statement begins to where its span ends.
type Bound struct {
	Of string `json:"of"` // Of is the measure, by its name. Required.
	// By is the part of it that is meant, such as an instance type or a program. Without it, that is the whole.
	By string `json:"by,omitempty"`
	// AtLeast is the least that it may be: "3", "2m", "40 %", or an amount with its currency.
	AtLeast string `json:"atLeast,omitempty"`
	// AtMost is the most that it may be: "3", "2m", "40 %", or "12 EUR".
	AtMost string `json:"atMost,omitempty"`
}

// Check finds what is wrong with a bound, if there is one, before any history is there.
func (b *Bound) Check() error {
	if b == nil {
		return nil
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	return nil
}

func (b *Bound) check() error {
	m, known := Find(b.Of)
	switch {
	case !known:
		return fmt.Errorf("of: no measure %q (allowed: %s)%s", b.Of, strings.Join(names(), ", "), strict.Meant(b.Of, names()))
	case b.By != "" && m.By == "":
		return fmt.Errorf("by: %s has no parts: leave it out", b.Of)
	case b.AtLeast == "" && b.AtMost == "":
		return fmt.Errorf("every run has some or no %s: say atLeast or atMost how much", b.Of)
	}
	least, most := quantity{}, quantity{}
	for _, of := range []struct {
		field, text string
		to          *quantity
	}{{"atLeast", b.AtLeast, &least}, {"atMost", b.AtMost, &most}} {
		if of.text == "" {
			continue
		}
		var err error
		if *of.to, err = m.Unit.read(of.text); err != nil {
			return fmt.Errorf("%s: %w", of.field, err)
		}
	}
	switch {
	case b.AtLeast != "" && least.number == 0:
		return fmt.Errorf("atLeast: %s: no run could have less, want more than zero", b.AtLeast)
	case b.AtLeast != "" && b.AtMost != "" && least.currency != most.currency:
		return fmt.Errorf("atLeast: %s and atMost: %s are in two currencies", b.AtLeast, b.AtMost)
	case b.AtLeast != "" && b.AtMost != "" && least.number > most.number:
		return fmt.Errorf("atLeast: %s is above atMost: %s: no run could have both", b.AtLeast, b.AtMost)
	}
	return nil
}

// quantity is how much of a measure.
type quantity struct {
	number   float64
	currency string
}

var (
	moneyText = regexp.MustCompile(`^(\d+(?:\.\d+)?) ([A-Z]{3})$`)
	ratioText = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?%$`)
)

// read reads how much people say of a unit.
func (u Unit) read(text string) (q quantity, err error) {
	parse := func(number string) (quantity, error) {
		n, err := strconv.ParseFloat(number, 64)
		return quantity{number: n}, err
	}
	switch u {
	case Money:
		found := moneyText.FindStringSubmatch(text)
		if found == nil {
			return q, fmt.Errorf("%q is no price: want a number and a currency, as in 12 EUR or 0.50 USD", text)
		}
		q, err = parse(found[1])
		q.currency = found[2]
		return q, err
	case Ratio:
		found := ratioText.FindStringSubmatch(text)
		if found == nil {
			return q, fmt.Errorf("%q is no part: want 40 %%", text)
		}
		q, err = parse(found[1])
		q.number /= 100
		return q, err
	case Count:
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return q, fmt.Errorf("%q is no whole number", text)
		}
		return quantity{number: float64(n)}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return q, fmt.Errorf("%q is no duration such as 90s or 12h", text)
	}
	if u == Hours {
		return quantity{number: d.Hours()}, nil
	}
	return quantity{number: d.Seconds()}, nil
}

// String is the bound in words: "the cost of the cluster is at most 12 EUR".
func (b *Bound) String() string {
	m, _ := Find(b.Of)
	text := "the " + m.Words
	if b.By != "" {
		text += " of " + b.By
	}
	var bounds []string
	if b.AtLeast != "" {
		bounds = append(bounds, "at least "+b.AtLeast)
	}
	if b.AtMost != "" {
		bounds = append(bounds, "at most "+b.AtMost)
	}
	return text + " is " + strings.Join(bounds, " and ")
}

// Judge says whether the bound, which Check has found right, holds of the measures. why says what is otherwise, or why
// that is not known: a run that lacks the measure shows neither.
func (b *Bound) Judge(v Values) (holds, known bool, why string) {
	m, _ := Find(b.Of)
	value := v[b.Of]
	if value.Absent != "" {
		return false, false, fmt.Sprintf("the %s of this run is not known: %s", m.Words, value.Absent)
	}
	number := value.Value
	if b.By != "" {
		number = value.By[b.By]
	}
	for _, of := range []struct {
		text string
		most bool
	}{{b.AtLeast, false}, {b.AtMost, true}} {
		if of.text == "" {
			continue
		}
		q, err := m.Unit.read(of.text)
		switch {
		case err != nil:
			return false, false, err.Error()
		// mutant: prices of two currencies are compared
		case q.currency != "" && q.currency != string(value.Unit):
			return false, false, fmt.Sprintf("the %s is in %s, and the bound in %s", m.Words, value.Unit, q.currency)
		// mutant: a bound is none
		case of.most && number > q.number || !of.most && number < q.number:
			return false, true, fmt.Sprintf("the %s is %s, and not %s", m.Words, value.Unit.text(number),
				map[bool]string{true: "at most ", false: "at least "}[of.most]+of.text)
		}
	}
	return true, true, ""
}
