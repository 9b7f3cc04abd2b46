package sentences

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud/externalgrpc"
	cloudfault "nodestorm/fakecloud/fault"
	"nodestorm/fakecloud/hcloud"
	instanceapi "nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/lapse"
)

// theseFaults is a list of faults in YAML, by the part of the world that they break. The
// lists of the cloud and of the API server's proxy are those of `nodestorm cloud
// --faults` and `nodestorm proxy --rules`.
type theseFaults struct {
	cloud    []cloudfault.Fault
	rules    []apifault.Rule
	nodes    []nodeFault
	machines []clusterapi.Fault
	kubelets []kubelet.Fault
}

// The fields of the list, and what they are about.
var faultLists = map[string]string{
	"faults":   "the cloud",
	"rules":    "a program's way to its API server",
	"nodes":    "simulated nodes",
	"machines": "machines of Cluster API",
	"kubelets": "machines with real kubelets",
}

// parseFaults reads and checks a list. An error is one line that names the fault and the
// field, and what is allowed there.
func parseFaults(text []byte) (these theseFaults, err error) {
	var whole any
	if err := yaml.UnmarshalStrict(text, &whole); err != nil {
		return these, oneline.Error(err)
	}
	lists, is := whole.(map[string]any)
	if !is && whole != nil {
		return these, fmt.Errorf("it is no mapping: want lists below one of the fields %s, as in faults: [{name: …}]", known(faultLists))
	}
	if len(lists) == 0 {
		return these, fmt.Errorf("there is no fault: want one of the fields %s", known(faultLists))
	}
	for _, field := range slices.Sorted(maps.Keys(lists)) {
		if faultLists[field] == "" {
			return these, fmt.Errorf("unknown field %q (allowed: %s)%s", field, known(faultLists), strict.Meant(field, slices.Collect(maps.Keys(faultLists))))
		}
		list, err := yaml.Marshal(map[string]any{field: lists[field]})
		if err != nil {
			return these, err
		}
		switch field {
		case "faults":
			these.cloud, err = cloudfault.Parse(list, cloudCalls())
		case "rules":
			these.rules, err = apifault.Load(list)
		case "nodes":
			these.nodes, err = parseNodes(list)
		case "machines":
			these.machines, err = parseMachines(list)
		case "kubelets":
			these.kubelets, err = parseKubelets(list)
		}
		if err != nil {
			return these, err
		}
	}
	return these, nil
}

// faultsPage is what a list of faults can have, in Markdown.
func faultsPage() string {
	var page strings.Builder
	page.WriteString("\n## Faults in YAML\n\n`these faults:` takes lists between `\"\"\"` below the step. Each fault has a `name`, one effect, and may have " +
		"`when` (a pattern of the record that it waits for, as in symptoms; of nodes, of what happens on them), `at`, `for`, `skip`, `limit` and `probability`; " +
		"`skip`, `limit` and `probability` count what the sentence counts.\n\n| list | what breaks | its other fields | effect |\n|---|---|---|---|\n")
	fields := map[string]string{
		"faults": "`match: {operation, group, instance}`", "rules": "`match: {client, verbs, resource, subresource, namespace, name}`",
		"nodes": "`node`: one that is there; without, machines that boot from now on", "machines": "`deployment`", "kubelets": "`machine`",
	}
	for _, s := range allFaultSentences() {
		inside := []string{}
		for _, p := range s.effect.says {
			if p.field != "" {
				inside = append(inside, p.field)
			}
		}
		written := s.key + ": {" + strings.Join(inside, ", ") + "}"
		if outer, key, ok := strings.Cut(s.key, "."); ok {
			written = outer + ": {" + key + ": {" + strings.Join(inside, ", ") + "}}"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", s.list, faultLists[s.list], fields[s.list], written)
		if !strings.Contains(page.String(), row) {
			page.WriteString(row)
		}
	}
	return page.String()
}

func known[V any](of map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

// nothing is an effect without fields.
type nothing struct{}

// nodeFault is a fault of simulated nodes as YAML has it; exactly one effect is given.
type nodeFault struct {
	Name string `json:"name"`
	// Node is the name of one that is there. Empty means machines that boot from now on;
	// Skip, Limit and Probability choose among them.
	Node string `json:"node,omitempty"`
	fault.Plan

	NeverRegisters *nothing `json:"neverRegisters,omitempty"`
	RegistersLate  *struct {
		By lapse.Duration `json:"by"`
	} `json:"registersLate,omitempty"`
	RegistersUntainted *nothing `json:"registersUntainted,omitempty"`
	RegistersAs        *struct {
		ProviderID string `json:"providerID"`
	} `json:"registersAs,omitempty"`
	NotReady    *nothing `json:"notReady,omitempty"`
	NetworkDown *nothing `json:"networkDown,omitempty"`
	Flaps       *struct {
		Every lapse.Duration `json:"every"`
	} `json:"flaps,omitempty"`
	HeartbeatsStop  *nothing `json:"heartbeatsStop,omitempty"`
	KubeletRestarts *struct {
		Down   lapse.Duration `json:"down"`
		Settle lapse.Duration `json:"settle,omitzero"`
	} `json:"kubeletRestarts,omitempty"`
	TaintStays *struct {
		Agent string `json:"agent"`
	} `json:"taintStays,omitempty"`
	NodeDeleted *nothing `json:"nodeDeleted,omitempty"`
}

func parseNodes(text []byte) ([]nodeFault, error) {
	var list struct {
		Nodes []nodeFault `json:"nodes"`
	}
	if err := strict.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, f := range list.Nodes {
		if _, err := f.fault(); err != nil {
			return nil, fmt.Errorf("fault %q: %w", f.Name, err)
		}
	}
	return list.Nodes, nil
}

// fault is the fault of one node.
func (f *nodeFault) fault() (node.Fault, error) {
	is := node.Fault{Name: f.Name, At: time.Duration(f.At), For: time.Duration(f.For)}
	effect, err := theEffect(f)
	if err != nil {
		return is, err
	}
	switch effect {
	case "neverRegisters":
		is.Effect = node.NeverRegisters{}
	case "registersLate":
		is.Effect = node.RegistersLate{By: time.Duration(f.RegistersLate.By)}
	case "registersUntainted":
		is.Effect = node.RegistersUntainted{}
	case "registersAs":
		is.Effect = node.RegistersAs{ProviderID: f.RegistersAs.ProviderID}
	case "notReady":
		is.Effect = node.NotReady{}
	case "networkDown":
		is.Effect = node.NotReady{Cause: node.NetworkDown}
	case "flaps":
		is.Effect = node.Flapping{Period: time.Duration(f.Flaps.Every)}
	case "heartbeatsStop":
		is.Effect = node.HeartbeatsStop{}
	case "kubeletRestarts":
		is.Effect = node.KubeletRestart{Down: time.Duration(f.KubeletRestarts.Down), Settle: time.Duration(f.KubeletRestarts.Settle)}
	case "taintStays":
		is.Effect = node.TaintNeverLifted{Agent: f.TaintStays.Agent}
	case "nodeDeleted":
		is.Effect = node.NodeObjectDeleted{}
	}
	if f.When != nil {
		is.When = func(e history.Event) bool { return f.When.Matches(history.Record{Event: e}) }
	}
	if f.Node != "" && (f.Skip != 0 || f.Limit != 0 || f.Probability != 0) {
		return is, errors.New("it acts on one node: want no skip, limit or probability")
	}
	if err := f.Plan.Check(); err != nil {
		return is, err
	}
	// Whether an agent is there, a node knows that has agents.
	if _, agents := is.Effect.(node.TaintNeverLifted); agents {
		return is, nil
	}
	return is, node.CheckFault(is)
}

// machineFault is a fault of Cluster API's machines as YAML has it.
type machineFault struct {
	Name       string `json:"name"`
	Deployment string `json:"deployment"`
	fault.Plan

	StuckInProvisioning *nothing `json:"stuckInProvisioning,omitempty"`
	FailsToProvision    *nothing `json:"failsToProvision,omitempty"`
	NeverJoins          *nothing `json:"neverJoins,omitempty"`
	LostBeforeJoining   *nothing `json:"lostBeforeJoining,omitempty"`
	ReportedFailed      *nothing `json:"reportedFailed,omitempty"`
	DeletionHeld        *nothing `json:"deletionHeld,omitempty"`
}

var machineEffects = map[string]clusterapi.Effect{
	"stuckInProvisioning": clusterapi.StuckInProvisioning, "failsToProvision": clusterapi.FailsToProvision,
	"neverJoins": clusterapi.NeverJoins, "lostBeforeJoining": clusterapi.LostBeforeJoining,
	"reportedFailed": clusterapi.ReportedFailed, "deletionHeld": clusterapi.DeletionHeld,
}

func parseMachines(text []byte) (faults []clusterapi.Fault, err error) {
	var list struct {
		Machines []machineFault `json:"machines"`
	}
	if err := strict.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, f := range list.Machines {
		effect, err := theEffect(&f)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w", f.Name, err)
		}
		is := clusterapi.Fault{Name: f.Name, Deployment: f.Deployment, Plan: f.Plan, Effect: machineEffects[effect]}
		if err := is.Check(); err != nil {
			return nil, err
		}
		faults = append(faults, is)
	}
	return faults, nil
}

// kubeletFault is a fault of a machine with a real kubelet as YAML has it.
type kubeletFault struct {
	Name    string `json:"name"`
	Machine string `json:"machine"`
	fault.Plan

	RuntimeDown *nothing `json:"runtimeDown,omitempty"`
	NetworkGone *nothing `json:"networkGone,omitempty"`
	Stopped     *nothing `json:"stopped,omitempty"`
}

var kubeletEffects = map[string]kubelet.Effect{
	"runtimeDown": kubelet.RuntimeDown, "networkGone": kubelet.NetworkGone, "stopped": kubelet.Stopped,
}

func parseKubelets(text []byte) (faults []kubelet.Fault, err error) {
	var list struct {
		Kubelets []kubeletFault `json:"kubelets"`
	}
	if err := strict.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, f := range list.Kubelets {
		effect, err := theEffect(&f)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w", f.Name, err)
		}
		is := kubelet.Fault{Name: f.Name, Machine: f.Machine, Plan: f.Plan, Effect: kubeletEffects[effect]}
		if err := is.Check(); err != nil {
			return nil, err
		}
		faults = append(faults, is)
	}
	return faults, nil
}

// theEffect is the field of the one effect that a fault in YAML has: a pointer to one of
// the structs above.
func theEffect(of any) (string, error) {
	v := reflect.ValueOf(of).Elem()
	var given, all []string
	for i := range v.NumField() {
		field, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).Kind() != reflect.Pointer || field == "" {
			continue
		}
		if all = append(all, field); !v.Field(i).IsNil() {
			given = append(given, field)
		}
	}
	if len(given) != 1 {
		return "", fmt.Errorf("it has %d effects, want one (allowed: %s)", len(given), strings.Join(all, ", "))
	}
	return given[0], nil
}

// cloudCalls are the calls and actions of all clouds. Each of them refuses those of the others.
func cloudCalls() []string {
	return slices.Concat(hcloud.Operations(), externalgrpc.Operations(), instanceapi.Operations())
}
