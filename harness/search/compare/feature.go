package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/cloud"
	"nodestorm/harness/program"
	"nodestorm/harness/search/workload"
	"nodestorm/scenarios"
)

// step is one of a feature, with what is below it.
type step struct {
	text, quote string
	table       [][]string
}

// World is what variants run in: its Givens.
type World struct {
	steps []step
	// cores are the processors of the largest machine, zero where they are not known.
	cores   int
	machine string
}

// UsualWorld is that of a program on a cloud, the program's own where it is empty: NodePools or node groups of all types
// that the cloud has in drawn schedules.
func UsualWorld(name, on string) (w World, err error) {
	of := program.Named(name).Drawn
	if of == nil {
		return w, fmt.Errorf("%s has no world of its own here: describe one with given=FILE.feature", name)
	}
	on = cmp.Or(on, of.Cloud)
	facts := cloud.Named(on)
	if facts == nil || facts.Drawn == nil || !slices.Contains(facts.Programs, name) {
		return w, fmt.Errorf("--cloud: %s has no usual world on %q: want one of %s", name, on, strings.Join(cloud.NamesFor(name), ", "))
	}
	d := facts.Drawn
	types := slices.SortedFunc(maps.Keys(d.Types), func(a, b string) int { return cmp.Compare(d.Types[a], d.Types[b]) })
	w.machine = types[len(types)-1]
	w.cores = d.Types[w.machine]
	w.steps = []step{{text: "a cluster"}}
	if of.Pools {
		w.steps = append(w.steps, step{text: `a Ready Node "system" for system pods only`},
			step{text: "machines that register 20s after their launch and are Ready 10s later"})
	}
	for _, given := range d.Given {
		w.steps = append(w.steps, step{text: given.Text, table: rowsOf(given.Table)})
	}
	if of.Pools {
		w.steps = append(w.steps, step{text: "Karpenter"}, step{text: "these objects:", quote: pool(types, d.Requirement)})
		return w, nil
	}
	table := [][]string{{"name", "type", "min", "max"}}
	for _, t := range types {
		table = append(table, []string{t, t, "0", "100"})
	}
	if d.Zone != "" {
		for i := range table {
			table[i] = append(table[i], map[bool]string{true: "zone", false: d.Zone}[i == 0])
		}
	}
	w.steps = append(w.steps, step{text: "these node groups:", table: table}, step{text: "Cluster Autoscaler"})
	return w, nil
}

// pool is a NodePool of machines of these types, with one more requirement if the cloud has one; objects of kwok become the
// cloud's own.
func pool(types []string, requirement string) string {
	return fmt.Sprintf(`apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [%s]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - %s
`, strings.Join(types, ", "), cmp.Or(requirement, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"))
}

// rowsOf are those of a table as features have it.
func rowsOf(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows
}

// ReadWorld reads the Givens of a feature's one scenario. Of several it is that with the program's tag, so that a file says
// in its Background what holds for all programs, and below once for each what does not.
func ReadWorld(text []byte, name string) (w World, err error) {
	ids := &messages.Incrementing{}
	document, err := scenarios.ParseFeature(text, ids.NewId)
	if err != nil {
		return w, err
	}
	pickles := gherkin.Pickles(*document, "", ids.NewId)
	// mutant: a world is that of any program
	if len(pickles) > 1 {
		pickles = slices.DeleteFunc(pickles, func(p *messages.Pickle) bool {
			return !slices.ContainsFunc(p.Tags, func(t *messages.PickleTag) bool { return t.Name == "@"+name })
		})
	}
	if len(pickles) != 1 {
		return w, fmt.Errorf("it has %d scenarios of %s: want one, whose Givens are the world, with the tag @%s where there are others",
			len(pickles), name, name)
	}
	for _, s := range pickles[0].Steps {
		if s.Type != messages.PickleStepType_CONTEXT {
			continue
		}
		if _, names := scenarios.FileOf(s.Text); names {
			return w, fmt.Errorf("its step %q reads a file: quote that below the step", s.Text)
		}
		one := step{text: s.Text}
		if s.Argument != nil && s.Argument.DocString != nil {
			one.quote = s.Argument.DocString.Content
		}
		if s.Argument != nil && s.Argument.DataTable != nil {
			for _, row := range s.Argument.DataTable.Rows {
				var cells []string
				for _, cell := range row.Cells {
					cells = append(cells, cell.Value)
				}
				one.table = append(one.table, cells)
			}
		}
		w.steps = append(w.steps, one)
	}
	if len(w.steps) == 0 {
		return w, errors.New("its scenario has no Given, and there would be no world")
	}
	return w, nil
}

// programs are the steps by which programs start that can be given flags.
var programs = []string{"Karpenter", "Cluster Autoscaler"}

const withFlags = " with the flags:"

// with is the world with the settings of a variant.
func (w World) with(v Variant) (steps []step, err error) {
	given := false
	for _, s := range w.steps {
		name := strings.TrimSuffix(s.text, withFlags)
		if slices.Contains(programs, name) && len(v.Flags) > 0 {
			s = step{text: name + withFlags, table: slices.Clone(s.table)}
			for _, f := range v.Flags {
				s.table = append(slices.DeleteFunc(s.table, func(row []string) bool { return strings.TrimLeft(row[0], "-") == f.Name }),
					[]string{"--" + f.Name, f.Value})
			}
			given = true
		}
		steps = append(steps, s)
		if len(steps) == 1 && len(v.Environment) > 0 { // after the cluster, before all that starts
			of := step{text: "the target has the environment variables:"}
			for _, e := range v.Environment {
				of.table = append(of.table, []string{e.Name, e.Value})
			}
			steps = append(steps, of)
		}
	}
	if len(v.Flags) > 0 && !given {
		return nil, fmt.Errorf("%s: its world has no step %q that could give it flags", v, strings.Join(programs, `" or "`))
	}
	return steps, nil
}

// Feature is what a variant plays: its world, and the workload as its file has it.
func (w World) Feature(v Variant, name string, file []byte) (string, error) {
	steps, err := w.with(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@%s\nFeature: The workload %s on %s\n\n  Scenario: The workload runs, and then every pod does\n", v.Target.Name, name, v)
	keyword := "Given"
	for _, s := range steps {
		s.write(&b, keyword)
		keyword = "And"
	}
	step{text: workload.StepQuotes, quote: string(file)}.write(&b, "When")
	step{text: "every pod is Running within 20m"}.write(&b, "Then")
	return b.String(), nil
}

var cell = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", `\n`)

func (s step) write(b *strings.Builder, keyword string) {
	fmt.Fprintf(b, "    %s %s\n", keyword, s.text)
	for _, row := range s.table {
		b.WriteString("      |")
		for _, text := range row {
			b.WriteString(" " + cell.Replace(text) + " |")
		}
		b.WriteString("\n")
	}
	if s.quote == "" {
		return
	}
	b.WriteString("      \"\"\"\n")
	for text := range strings.Lines(strings.TrimRight(s.quote, "\n") + "\n") {
		b.WriteString("      " + text)
	}
	b.WriteString("      \"\"\"\n")
}

// kept is what a kubelet keeps of its machine, in cores.
const kept = 0.1

// Fits finds pods of a workload that no machine of the world has room for, as far as its machines are known.
func (w World) Fits(acts []workload.Act) error {
	cpu, _ := workload.Largest(acts)
	// mutant: a workload that never fits is played
	if w.cores > 0 && cpu.CPU > float64(w.cores)-kept {
		return fmt.Errorf("the pods of %s request %g CPU each and never fit: the largest machine of this world, %s, has %d, and its kubelet "+
			"keeps some of it", cpu.Object, cpu.CPU, w.machine, w.cores)
	}
	return nil
}
