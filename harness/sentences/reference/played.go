package reference

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/features"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/scenarios"
)

// played is what the features that are built in have of a sentence.
type played struct {
	texts  map[string]int // how it is said, and how often
	worlds map[string]bool
}

// playedIn is what features have of each sentence, by its words.
var playedIn = sync.OnceValue(func() map[string]*played {
	all := map[string]*played{}
	names, err := features.Names()
	if err != nil {
		panic(err) // they are part of the program
	}
	worlds := worldsOf()
	for _, name := range names {
		text, err := features.Files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		ids := &messages.Incrementing{}
		document, err := scenarios.ParseFeature(text, ids.NewId)
		if err != nil {
			continue // its tests say so
		}
		for _, pickle := range gherkin.Pickles(*document, name, ids.NewId) {
			world := worlds[path.Dir(name)]
			for _, tag := range pickle.Tags {
				world = cmp.Or(worlds[tag.Name], world)
			}
			for _, step := range pickle.Steps {
				note(all, step, world)
			}
		}
	}
	return all
})

// worldsOf are the programs under test with their clouds, by the tags of records, and by folders of features without one.
func worldsOf() map[string]string {
	const tests = "own tests"
	worlds := map[string]string{"instances": "karpenter on instances", "workloads": "karpenter on instances", "world": tests, "scale": tests}
	c, err := features.Catalogue()
	if err != nil {
		panic(err)
	}
	for _, r := range c.Records() {
		on := r.Provider()
		if r.Autoscaler == "karpenter" {
			on = cmp.Or(on, "kwok")
		}
		worlds["@"+r.ID] = strings.TrimSuffix(r.Autoscaler+" on "+on, " on ")
	}
	return worlds
}

func note(all map[string]*played, step *messages.PickleStep, world string) {
	found := stepdef.Matches(stepdef.RoleOf(step), step.Text)
	if len(found) != 1 {
		return // it waits for a record as well, and is no plain example
	}
	key := found[0].Definition.Expression.Words
	if all[key] == nil {
		all[key] = &played{texts: map[string]int{}, worlds: map[string]bool{}}
	}
	all[key].texts[step.Text]++
	if world != "" {
		all[key].worlds[world] = true
	}
}

// longestExample is what an example may have, in bytes: it stands in a table.
const longestExample = 150

// exampleOf is how features say a sentence most often; of what none says, it is made up.
func exampleOf(d stepdef.Definition) string {
	if p := playedIn()[d.Expression.Words]; p != nil {
		texts := slices.DeleteFunc(slices.Collect(maps.Keys(p.texts)), func(text string) bool {
			return len(text) > longestExample || strings.Contains(text, "$") // which stands for what another step has found
		})
		if len(texts) > 0 {
			return slices.MinFunc(texts, func(a, b string) int {
				return cmp.Or(p.texts[b]-p.texts[a], len(a)-len(b), strings.Compare(a, b))
			})
		}
	}
	return sensible(d)
}

// sensibleName is one that makes sense behind some words.
type sensibleName struct {
	before *regexp.Regexp
	name   string
}

var sense = []sensibleName{
	{regexp.MustCompile(`(?:group|groups) $`), "pool-a"}, {regexp.MustCompile(`type $`), "cx22"},
	{regexp.MustCompile(`refused with $`), "unavailable"},
	{regexp.MustCompile(`[Nn]ode(?: called)? $`), "node-1"}, {regexp.MustCompile(`program $|^$`), "karpenter"},
	{regexp.MustCompile(`MachineDeployment $|machines of $`), "workers"}, {regexp.MustCompile(`kubelet of the machine $|machine $`), "node-1"},
	{regexp.MustCompile(`(?:sent|refused) $`), "create"}, {regexp.MustCompile(`recorded $`), "created"},
	{regexp.MustCompile(`" of $`), "nodes"},
	{regexp.MustCompile(`agent $|agent called $`), "cilium"}, {regexp.MustCompile(`provider ID $`), "hcloud://42"},
	{regexp.MustCompile(`value $`), "replicas"}, {regexp.MustCompile(` in $`), "fsn1"},
	{regexp.MustCompile(`API group $|also serves $`), "policy"},
	{regexp.MustCompile(`label $`), "team"}, {regexp.MustCompile(`condition $`), "Ready"},
}

var anyName = regexp.MustCompile(`"web"`)

// sensible is the example that is made of the words, with names that make sense where they stand.
func sensible(d stepdef.Definition) string {
	var text strings.Builder
	at := 0
	for _, m := range anyName.FindAllStringIndex(d.Example, -1) {
		before := d.Example[:m[0]]
		i := slices.IndexFunc(sense, func(s sensibleName) bool { return s.before.MatchString(before) })
		text.WriteString(d.Example[at:m[0]])
		if i < 0 {
			text.WriteString(`"web"`)
		} else {
			text.WriteString(`"` + sense[i].name + `"`)
		}
		at = m[1]
	}
	text.WriteString(d.Example[at:])
	if _, is := d.Match(text.String()); !is {
		return d.Example
	}
	return text.String()
}

// worldsOfPlayed are those in which features say it.
func worldsOfPlayed(d stepdef.Definition) []string {
	if p := playedIn()[d.Expression.Words]; p != nil {
		return slices.Sorted(maps.Keys(p.worlds))
	}
	return nil
}
