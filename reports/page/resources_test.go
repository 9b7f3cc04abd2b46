package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"nodestorm/sim/history/vocabulary"
)

// The script has what it knows of resources from the vocabulary, by way of the page, and
// no list of its own.
func TestScriptHasNoResources(t *testing.T) {
	for _, wrong := range resourcesOf(script) {
		t.Errorf("the script names the resource or group %s: have it from resources, see 10-bytes.js", wrong)
	}
	const list = `const groupOf = { nodes: 'Nodes', "pods": x }; lives('Machines'); // machines`
	if found := fmt.Sprint(resourcesOf(list)); found != `[machines: lives('Machines') nodes: { nodes: pods:  "pods"]` {
		t.Errorf("found %s in %s", found, list)
	}
	var page strings.Builder
	v := view{Runs: make([]tables, 1)}
	if err := v.open(&page); err != nil {
		t.Fatal(err)
	}
	if err := parsed.ExecuteTemplate(&page, "close.html", v); err != nil {
		t.Fatal(err)
	}
	if want := `id="resources">[{"name":"nodeclaims","word":"NodeClaim","group":"NodeClaims","stage":2},`; !strings.Contains(page.String(), want) {
		t.Errorf("the page does not have %s", want)
	}
}

// resourcesOf are the places where a script has a resource as a key or a text, or a group
// as the rows that it asks for.
func resourcesOf(script string) (found []string) {
	for _, r := range vocabulary.Resources() {
		if r.Stage == 0 {
			continue
		}
		forms := []string{`[{,]\s*` + r.Name + `:`, `.['"` + "`" + `]` + r.Name + `['"` + "`" + `]`}
		if r.Name == vocabulary.Instances { // which is a curve's name as well
			forms = forms[:1]
		}
		if r.Group != "" {
			forms = append(forms, `lives\('`+r.Group+`'\)`)
		}
		for _, place := range regexp.MustCompile(strings.Join(forms, "|")).FindAllString(script, -1) {
			found = append(found, r.Name+": "+place)
		}
	}
	return found
}
