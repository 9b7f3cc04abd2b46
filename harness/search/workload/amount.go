package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is how much: "3", or drawn, "1 to 5" (each as likely), "mean 2m" (exponential) or "median 2m, p95 10m" (log-normal).
type Amount string

// UnmarshalJSON reads a text, or a number.
func (a *Amount) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err == nil && number != "" {
		*a = Amount(number)
		return nil
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf(`found %s, want an amount such as 3, "1 to 5", "mean 2m" or "median 2m, p95 10m"`, text)
	}
	*a = Amount(s)
	return nil
}

// unit is what amounts are of.
type unit struct {
	read    func(string) (float64, error)
	example string
	least   float64 // above zero
}

var (
	whole = unit{func(s string) (float64, error) { n, err := strconv.ParseUint(s, 10, 32); return float64(n), err }, "3", 1}
	// seconds are counted as such, and as whole ones.
	seconds = unit{func(s string) (float64, error) {
		d, err := time.ParseDuration(s)
		return d.Seconds(), err
	}, "90s", 1}
	quantity = unit{func(s string) (float64, error) {
		q, err := resource.ParseQuantity(s)
		return q.AsApproximateFloat64(), err
	}, "500m or 1Gi", 0.001}
)

var (
	fromTo    = regexp.MustCompile(`^(\S+) to (\S+)$`)
	meanOf    = regexp.MustCompile(`^mean (\S+)$`)
	medianP95 = regexp.MustCompile(`^median (\S+), p95 (\S+)$`)
)

// dist is what is drawn from: its one or two numbers, and how a number comes of them.
type dist struct {
	low, high float64
	draw      func(r *rand.Rand, low, high float64) float64
}

// p95 is where 95 of 100 numbers of a normal distribution of deviation 1 are below.
const p95 = 1.6448536

func (a Amount) parse(u unit) (d dist, err error) {
	texts := []string{string(a), string(a)}
	d.draw = func(_ *rand.Rand, low, _ float64) float64 { return low }
	if m := fromTo.FindStringSubmatch(string(a)); m != nil {
		texts = m[1:]
		d.draw = func(r *rand.Rand, low, high float64) float64 { return low + r.Float64()*(high-low) }
		if u.example == whole.example { // each whole number is as likely
			d.draw = func(r *rand.Rand, low, high float64) float64 { return low + float64(r.IntN(int(high-low)+1)) }
		}
	} else if m := meanOf.FindStringSubmatch(string(a)); m != nil {
		texts = []string{m[1], m[1]}
		d.draw = func(r *rand.Rand, mean, _ float64) float64 { return r.ExpFloat64() * mean }
	} else if m := medianP95.FindStringSubmatch(string(a)); m != nil {
		texts = m[1:]
		d.draw = func(r *rand.Rand, median, high float64) float64 {
			return median * math.Exp(r.NormFloat64()*math.Log(high/median)/p95)
		}
	}
	for i, to := range []*float64{&d.low, &d.high} {
		if *to, err = u.read(texts[i]); err != nil {
			return d, fmt.Errorf(`%q: want an amount such as %s, or "LOW to HIGH", "mean AMOUNT" or "median AMOUNT, p95 AMOUNT"`, a, u.example)
		}
	}
	return d, nil
}

// check finds what is wrong with an amount that may be so much at most; an empty one is none.
func (a Amount) check(u unit, most float64) error {
	if a == "" {
		return nil
	}
	d, err := a.parse(u)
	switch {
	case err != nil:
		return err
	case d.low < u.least || d.high > most:
		return fmt.Errorf("%q: want at least %g and at most %g%s", a, u.least, most,
			map[bool]string{true: " seconds"}[u.example == seconds.example])
	case d.high < d.low:
		return fmt.Errorf("%q: the second is less than the first", a)
	}
	return nil
}

// drawn is an amount, which check has found right, as the stream has it: at least the least of its unit. An empty one is
// otherwise.
func (a Amount) drawn(u unit, r *rand.Rand, otherwise float64) float64 {
	if a == "" {
		return otherwise
	}
	d, err := a.parse(u)
	if err != nil {
		panic(err) // it was checked
	}
	n := d.draw(r, d.low, d.high)
	if u.least >= 1 {
		n = math.Round(n)
	}
	return max(n, u.least)
}

func (a Amount) duration(r *rand.Rand) time.Duration {
	return time.Duration(a.drawn(seconds, r, 0)) * time.Second
}
