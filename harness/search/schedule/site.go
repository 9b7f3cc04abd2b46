package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nodestorm/harness/cloud"
	"nodestorm/harness/program"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/strict"
)

// site is a program on a cloud: how it is set up, and what can fail there.
type site struct {
	name, program string
	*cloud.Drawn
	// groupsHaveBounds says that groups have a least and a most size.
	groupsHaveBounds bool
	// hasNodePools says that groups are NodePools of Karpenter.
	hasNodePools bool
	// upgrades says that another release can take the place of the program.
	upgrades bool
	// edits is how the machines of a group are to be others, the nth time, and setsMaximum how many it may have; nil:
	// that cannot be said there.
	edits, setsMaximum func(g Group, n int) []step
	given              func(site, Schedule) []step
	// settings are what can be set up otherwise, with values.
	settings map[string][]string
	// faults are those that can be drawn.
	faults []faults
}

// Sites are the names of those that there are.
func Sites() []string { return slices.Sorted(maps.Keys(sites())) }

// Program is the program of a site, and Provider the cloud that its build serves, as
// targets are named.
func Program(name string) (program, provider string, err error) {
	if _, err := siteOf(name); err != nil {
		return "", "", err
	}
	program, provider, _ = strings.Cut(name, "/")
	return program, provider, nil
}

func siteOf(name string) (site, error) {
	s, known := sites()[name]
	if !known {
		return s, fmt.Errorf("site: unknown site %q%s; want one of %s", name, strict.Meant(name, Sites()), strings.Join(Sites(), ", "))
	}
	return s, nil
}

func (s site) checkGroup(g Group) error {
	if !name.MatchString(g.Name) {
		return fmt.Errorf("name: want small letters, digits and dashes")
	}
	if _, known := s.Types[g.Type]; !known {
		all := slices.Sorted(maps.Keys(s.Types))
		return fmt.Errorf("type: unknown type %q%s; want one of %s", g.Type, strict.Meant(g.Type, all), strings.Join(all, ", "))
	}
	if s.groupsHaveBounds && (g.Min < 0 || g.Max < 1 || g.Max < g.Min || g.Max > mostPods) {
		return fmt.Errorf("from %d to %d: want 0 <= min <= max <= %d, and max above 0", g.Min, g.Max, mostPods)
	}
	return nil
}

// sites are the clouds of Cluster Autoscaler and of Karpenter.
var sites = sync.OnceValue(func() map[string]site {
	all := map[string]site{}
	for _, p := range program.All() {
		for _, name := range cloud.NamesFor(p.Name) {
			d := cloud.Named(name).Drawn
			if d == nil || p.Drawn == nil {
				continue
			}
			s := ofGroups(d)
			if p.Drawn.Pools {
				s = ofPools(d)
			}
			s.name, s.program, s.Drawn, s.upgrades = p.Name+"/"+name, p.Name, d, p.Drawn.Upgrades
			s.faults = slices.Concat(faultsOf(d.Faults, false, nil), faultsOf(d.Lasting, true, nil), drawnOf(node.Faults, nil))
			calls := d.Calls
			if calls == nil {
				calls = []cloud.Calls{{Program: p.Name, Calls: p.Drawn.Calls}}
			}
			for _, c := range calls {
				s.faults = append(s.faults, apiFaults(c.Program, c.Calls...)...)
			}
			all[s.name] = s
		}
	}
	return all
})

func ofGroups(d *cloud.Drawn) site {
	s := site{settings: clusterAutoscalerFlags(d.Expanders...), groupsHaveBounds: true, given: withClusterAutoscaler}
	if d.Maximum != "" {
		s.setsMaximum = func(g Group, n int) []step { return groupSteps(d.Maximum, g, n) }
	}
	return s
}

func ofPools(d *cloud.Drawn) site {
	return site{
		settings: karpenterSettings, hasNodePools: true, edits: editsNodePool, given: withKarpenter,
		setsMaximum: func(g Group, n int) []step {
			return []step{{fmt.Sprintf(`"NodePool/%s" is patched with:`, g.Name), fmt.Sprintf("spec: {limits: {cpu: %d}}\n", n*d.Types[g.Type])}}
		},
	}
}

// groupSteps is a cloud's sentence about a group, and a number.
func groupSteps(sentence string, g Group, n int) []step {
	return []step{{text: strings.NewReplacer("GROUP", g.Name, "NUMBER", strconv.Itoa(n)).Replace(sentence)}}
}

// cloudSteps are the steps that bring the cloud.
func (s site) cloudSteps() (all []step) {
	for _, given := range slices.Concat(s.Given, s.Scarce) {
		all = append(all, step{given.Text, given.Table})
	}
	return all
}

// withClusterAutoscaler has its node groups in one zone, or wherever the cloud has them.
func withClusterAutoscaler(at site, s Schedule) []step {
	table := "| name | type | min | max |\n"
	if at.Zone != "" {
		table = "| name | type | min | max | zone |\n"
	}
	for _, g := range s.Groups {
		table += fmt.Sprintf("| %s | %s | %d | %d |", g.Name, g.Type, g.Min, g.Max)
		if at.Zone != "" {
			table += " " + at.Zone + " |"
		}
		table += "\n"
	}
	given := append([]step{s.cluster(), {text: "it is no error if a fault never takes effect"}}, at.cloudSteps()...)
	// As short as leaves a schedule time for all of it; the rest is as the build has it.
	flags := "| --scale-down-unneeded-time | 3m |\n| --scale-down-delay-after-add | 3m |\n| --max-node-provision-time | 6m |\n"
	return append(given, step{"these node groups:", table},
		step{"Cluster Autoscaler with the flags:", flags + s.settingsOf(func(string) bool { return true })})
}

// cluster is the cluster of a schedule.
func (s Schedule) cluster() step {
	if s.Intolerant {
		return step{text: "a cluster without the admission plugin DefaultTolerationSeconds"}
	}
	return step{text: "a cluster"}
}

// editsNodePool has all its machines drift.
func editsNodePool(g Group, n int) []step {
	edited := fmt.Sprintf("spec: {template: {metadata: {labels: {example.org/edited: \"%d\"}}}}\n", n)
	return []step{{fmt.Sprintf(`"NodePool/%s" is patched with:`, g.Name), edited}}
}

// nodePool is that of a group, with what else its spec has.
func (s Schedule) nodePool(at site, g Group, spec string) string {
	fields := ""
	for _, field := range s.fieldsOf("template") {
		fields += "      " + field + "\n"
	}
	requirement := at.Requirement
	if requirement != "" {
		requirement = "        - " + requirement + "\n"
	}
	return fmt.Sprintf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
%s  template:
    spec:
%s      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [%s]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
%s`, g.Name, spec, fields, g.Type, requirement)
}

// withKarpenter has a NodePool for each group. Objects of kwok become the cloud's own there.
func withKarpenter(at site, s Schedule) []step {
	objects := "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"
	for _, g := range s.Groups {
		disruption := ""
		if fields := s.fieldsOf("disruption"); len(fields) > 0 {
			if s.Settings["consolidateAfter"] == "" { // the rest goes nowhere without it
				fields = append(fields, "consolidateAfter: 0s")
			}
			disruption = "  disruption: {" + strings.Join(fields, ", ") + "}\n"
		}
		objects += "---\n" + s.nodePool(at, g, disruption)
	}
	ready := max(s.Ready, strict.Duration(time.Second)).Short()
	given := []step{
		s.cluster(), {text: "it is no error if a fault never takes effect"}, {text: `a Ready Node "system" for system pods only`},
		{text: fmt.Sprintf("machines that register 20s after their launch and are Ready %s later", ready)},
	}
	given = append(given, at.cloudSteps()...)
	if variables := s.variables(); variables != "" {
		given = append(given, step{"the target has the environment variables:", variables})
	}
	return append(given, step{text: "Karpenter"}, step{"these objects:", objects})
}
