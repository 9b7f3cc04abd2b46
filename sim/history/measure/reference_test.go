package measure

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page that is made of the code: make reference does")

// page is the reference page of the measures.
func page() string {
	var b strings.Builder
	b.WriteString(`# Measures

<!-- written by make reference -->

A measure is a number that a run came to. Each is counted from the run's history alone, so stored runs have the measures
of today. A run that lacks the events for one has no number for it, but says why.

- ` + "`nodestorm report -o json RUN`" + ` has all of them below ` + "`measures`" + `; ` + "`-o text`" + ` and the page of a run show them.
- A statement has ` + "`measure: {of: NAME, atMost: …}`" + `, in a Then and in an invariant: see [statements](record.md).
- Sentences for the most common ones are in ` + "[steps](steps/README.md)" + `.

Prices are facts of a run: its cloud says them when it creates an instance. Nothing is converted between currencies.

| measure | unit | what is counted | parts by |
|---|---|---|---|
`)
	for _, m := range all {
		unit := string(m.Unit)
		if m.Unit == Money {
			unit = "currency"
		}
		fmt.Fprintf(&b, "| `%s`: %s | %s | %s | %s |\n", m.Name, m.Words, unit, m.Means, m.By)
	}
	b.WriteString(`
Units: ` + "`s`" + ` and ` + "`h`" + ` are virtual time, ` + "`ratio`" + ` is 0 to 1. In statements they are ` + "`90s`, `12h`, `3`, `40 %`" + ` and
` + "`12 EUR`" + `. Of a percentile, each part has its own.

## Where each comes from

| measure | events |
|---|---|
`)
	for _, m := range all {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.Name, m.Source)
	}
	return b.String()
}

func TestReference(t *testing.T) {
	const file = "../../../docs/reference/measures.md"
	if *update {
		if err := os.WriteFile(file, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != page() {
		t.Errorf("docs/reference/measures.md is not what the code says, %v: make reference writes it", err)
	}
}
