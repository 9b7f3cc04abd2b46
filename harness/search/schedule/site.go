package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/strict"
	"nodestorm/sim/time/lapse"
)

// site is a program on a cloud: how it is set up, and what can fail there.
type site struct {
	name, program string
	// cores are the machine types that groups can have, with their processors.
	cores map[string]int
	// more are programs of its world besides the control plane's.
	more []string
	// groupsHaveBounds says that groups have a least and a most size.
	groupsHaveBounds bool
	// setsTarget is how somebody sets a group's size by hand, setsMaximum how many machines it
	// may have, edits how its machines are to be others, the nth time; pauses and goesOn have
	// controllers leave it alone and take it up again, removes how it goes. Nil: that cannot be said there.
	setsTarget, setsMaximum, edits func(g Group, n int) []step
	pauses, goesOn, removes        func(g Group) []step
	given                          func(Schedule) []step
	// settings are what can be set up otherwise, with values.
	settings map[string][]string
	// faults are those that can be drawn.
	faults []faults
}

// Sites are the names of those that there are.
func Sites() []string { return slices.Sorted(maps.Keys(sites)) }

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
	s, known := sites[name]
	if !known {
		return s, fmt.Errorf("site: %q is none%s (there are %s)", name, strict.Meant(name, Sites()), strings.Join(Sites(), ", "))
	}
	s.name = name
	return s, nil
}

func (s site) checkGroup(g Group) error {
	if !name.MatchString(g.Name) {
		return fmt.Errorf("name: want small letters, digits and dashes")
	}
	if _, known := s.cores[g.Type]; !known {
		all := slices.Sorted(maps.Keys(s.cores))
		return fmt.Errorf("type: %q is none%s (there are %s)", g.Type, strict.Meant(g.Type, all), strings.Join(all, ", "))
	}
	if s.groupsHaveBounds && (g.Min < 0 || g.Max < 1 || g.Max < g.Min || g.Max > mostPods) {
		return fmt.Errorf("from %d to %d: want 0 <= min <= max <= %d, and max above 0", g.Min, g.Max, mostPods)
	}
	return nil
}

var sites = map[string]site{
	"cluster-autoscaler/clusterapi": {
		program:          "cluster-autoscaler",
		settings:         clusterAutoscalerFlags(),
		cores:            hetznerCores, // the provider's machines are servers of these types
		more:             []string{"cluster-api"},
		groupsHaveBounds: true,
		setsTarget:       func(g Group, n int) []step { return plain(`"MachineDeployment/%s" is scaled to %d`, g.Name, n) },
		setsMaximum: func(g Group, n int) []step {
			return plain(`"MachineDeployment/%s" is annotated "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size=%d"`, g.Name, n)
		},
		pauses: func(g Group) []step {
			return plain(`"MachineDeployment/%s" is annotated "cluster.x-k8s.io/paused=true"`, g.Name)
		},
		goesOn: func(g Group) []step {
			return plain(`"MachineDeployment/%s" is annotated "cluster.x-k8s.io/paused-"`, g.Name)
		},
		given: func(s Schedule) []step {
			return withClusterAutoscaler(s, "", step{text: "Cluster API v1.12.0"})
		},
		faults: slices.Concat(machineSetFaults, nodeFaults, apiFaults("cluster-autoscaler", "update,patch machinedeployments.cluster.x-k8s.io/scale",
			"get machinedeployments.cluster.x-k8s.io/scale", "update,patch machines.cluster.x-k8s.io", "update,patch nodes", "create pods/eviction",
			"watch pods", "watch nodes", "watch machines.cluster.x-k8s.io", "watch machinedeployments.cluster.x-k8s.io"),
			apiFaults("cluster-api", "delete machines.cluster.x-k8s.io", "update,patch machines.cluster.x-k8s.io", "update,patch machines.cluster.x-k8s.io/status",
				"update,patch machinesets.cluster.x-k8s.io", "update,patch machinesets.cluster.x-k8s.io/status", "update,patch machinedeployments.cluster.x-k8s.io/status",
				"watch machines.cluster.x-k8s.io", "watch machinesets.cluster.x-k8s.io", "watch machinedeployments.cluster.x-k8s.io")),
	},
	"cluster-autoscaler/externalgrpc": {
		program:          "cluster-autoscaler",
		settings:         clusterAutoscalerFlags("price"),
		cores:            map[string]int{"small": 2, "medium": 4, "large": 8},
		groupsHaveBounds: true,
		setsTarget: func(g Group, n int) []step {
			return plain(`the target size of the group "%s" is set to %d by hand`, g.Name, n)
		},
		removes: func(g Group) []step { return plain(`the group "%s" is removed from the cloud`, g.Name) },
		given: func(s Schedule) []step {
			return withClusterAutoscaler(s, "", step{text: "a cloud of node groups"}, step{text: "the Nodes of instances that are gone are removed"},
				step{"these nodes:", "| name | type | taints |\n| control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |\n"})
		},
		faults: slices.Concat(groupFaults, machineFaults, apiFaults("cluster-autoscaler", "update,patch nodes", "create pods/eviction", "watch pods", "watch nodes")),
	},
	"cluster-autoscaler/hetzner": {
		program:          "cluster-autoscaler",
		settings:         clusterAutoscalerFlags(),
		cores:            hetznerCores,
		groupsHaveBounds: true,
		given: func(s Schedule) []step {
			return withClusterAutoscaler(s, "fsn1", step{text: `a Hetzner Cloud project that still has the server type "cx11"`},
				step{text: "the Nodes of instances that are gone are removed"}, step{text: `a Ready node "control-plane" on a server of the project`})
		},
		faults: slices.Concat(serverFaults, machineFaults, apiFaults("cluster-autoscaler", "update,patch nodes", "create pods/eviction", "watch pods", "watch nodes")),
	},
	"karpenter/instances": {
		program:     "karpenter",
		settings:    karpenterSettings,
		cores:       kwokCores,
		setsMaximum: limitsNodePool,
		edits:       editsNodePool,
		given:       func(s Schedule) []step { return withKarpenter(s, step{text: "a cloud of instances"}) },
		faults:      slices.Concat(instanceFaults, machineFaults, karpenterFaults),
	},
	"karpenter/kwok": {
		program:     "karpenter",
		settings:    karpenterSettings,
		cores:       kwokCores,
		setsMaximum: limitsNodePool,
		edits:       editsNodePool,
		given:       func(s Schedule) []step { return withKarpenter(s) },
		faults:      slices.Concat(machineFaults[1:], karpenterFaults), // the provider itself registers machines
	},
}

// hetznerCores are server types of the Hetzner Cloud.
var hetznerCores = map[string]int{"cx22": 2, "cx32": 4, "cx42": 8}

// withClusterAutoscaler has its node groups in one zone, or wherever the cloud has them.
func withClusterAutoscaler(s Schedule, zone string, cloud ...step) []step {
	table := "| name | type | min | max |\n"
	if zone != "" {
		table = "| name | type | min | max | zone |\n"
	}
	for _, g := range s.Groups {
		table += fmt.Sprintf("| %s | %s | %d | %d |", g.Name, g.Type, g.Min, g.Max)
		if zone != "" {
			table += " " + zone + " |"
		}
		table += "\n"
	}
	given := append([]step{s.cluster(), {text: "faults need not take effect"}}, cloud...)
	return append(given, step{"these node groups:", table},
		// As short as leaves a schedule time for all of it; the rest is as the build has it.
		step{"Cluster Autoscaler with the flags:", "| --scale-down-unneeded-time | 3m |\n| --scale-down-delay-after-add | 3m |\n| --max-node-provision-time | 6m |\n" +
			s.settingsOf(func(string) bool { return true })})
}

// cluster is the cluster of a schedule.
func (s Schedule) cluster() step {
	if s.Intolerant {
		return step{text: "a cluster whose API server adds no default tolerations"}
	}
	return step{text: "a cluster"}
}

// kwokCores are the types of Karpenter's provider kwok, which the cloud of instances has too.
var kwokCores = map[string]int{"c-2x-amd64-linux": 2, "c-4x-amd64-linux": 4, "c-8x-amd64-linux": 8}

func limitsNodePool(g Group, n int) []step {
	return []step{{fmt.Sprintf(`"NodePool/%s" is patched with:`, g.Name), fmt.Sprintf("spec: {limits: {cpu: %d}}\n", n*kwokCores[g.Type])}}
}

// editsNodePool has all its machines drift.
func editsNodePool(g Group, n int) []step {
	return []step{{fmt.Sprintf(`"NodePool/%s" is patched with:`, g.Name), fmt.Sprintf("spec: {template: {metadata: {labels: {example.org/edited: \"%d\"}}}}\n", n)}}
}

var karpenterFaults = apiFaults("karpenter", "create nodeclaims.karpenter.sh", "update,patch nodeclaims.karpenter.sh/status", "delete nodeclaims.karpenter.sh",
	"update,patch nodes", "create pods/eviction", "watch pods", "watch nodes", "watch nodeclaims.karpenter.sh")

// hasNodePools tells of sites of Karpenter.
func (s site) hasNodePools() bool { return s.program == "karpenter" }

// nodePool is that of a group, with what else its spec has.
func (s Schedule) nodePool(g Group, spec string) string {
	fields := ""
	for _, field := range s.fieldsOf("template") {
		fields += "      " + field + "\n"
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
`, g.Name, spec, fields, g.Type)
}

// withKarpenter has a NodePool for each group. Objects of kwok become the cloud's own there.
func withKarpenter(s Schedule, cloud ...step) []step {
	objects := "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"
	for _, g := range s.Groups {
		disruption := ""
		if fields := s.fieldsOf("disruption"); len(fields) > 0 {
			if s.Settings["consolidateAfter"] == "" { // the rest goes nowhere without it
				fields = append(fields, "consolidateAfter: 0s")
			}
			disruption = "  disruption: {" + strings.Join(fields, ", ") + "}\n"
		}
		objects += "---\n" + s.nodePool(g, disruption)
	}
	given := []step{s.cluster(), {text: "faults need not take effect"}, {text: `a Ready node "system" for system pods only`}, {text: fmt.Sprintf("machines that register 20s after their launch and are Ready %s later", max(s.Ready, lapse.Duration(time.Second)).Short())}}
	if variables := s.variables(); variables != "" {
		cloud = append(cloud, step{"the target has the environment variables:", variables})
	}
	return append(append(given, cloud...), step{text: "Karpenter"}, step{"these objects:", objects})
}
