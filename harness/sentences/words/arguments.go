package words

import (
	"fmt"
	"slices"
	"strings"
)

// Argument is a part of a sentence that a feature chooses.
type Argument struct {
	Name    string `json:"name"`
	Means   string `json:"means"`
	Example string `json:"example"`

	pattern string // with one group
}

// shown is the argument as the words of a sentence have it.
func (a Argument) shown() string {
	if strings.HasPrefix(a.pattern, `"`) {
		return `"` + a.Name + `"`
	}
	return a.Name
}

// mayBeEmpty reports whether the argument can be left out, with the space or comma that it begins with.
func (a Argument) mayBeEmpty() bool {
	return strings.HasPrefix(a.pattern, "((?:") && strings.ContainsAny(a.Example[:1], " ,")
}

// Parts of the patterns below.
const (
	ordinal = `(?:first|second|third|fourth|fifth|\d+(?:st|nd|rd|th))`
	aSpan   = `(?:\d+(?:\.\d+)?(?:ms|h|m|s))+`
	chance  = `(?:, with probability 0?\.\d+)?`
	start   = `(?:, once \{.+\})?(?:, from ` + aSpan + ` on)?`
)

// Record is what a record in words looks like, in one group.
const Record = `((?:"[^"]+"|a client) has (?:ever )?(?:sent|been refused|recorded) ` + calls + `(?: \d+ times)?)`

// calls are what a record in words is about.
const calls = `"[^"]+" of "[^"]+"(?: "[^"]+")?(?: with "[^"]+")?`

// which is an argument that chooses among all of a noun.
func which(noun, example string) Argument {
	said := noun
	if noun == "instance" { // which the Hetzner Cloud calls a server
		said = `(?:instance|server)`
	}
	return Argument{
		Name: "EVERY-" + strings.ToUpper(noun[strings.LastIndex(noun, " ")+1:]),
		Means: fmt.Sprintf("which: every %[1]s, the first %[1]s, the 12th %[1]s, each of the first 3 %[1]ss, or every %[1]s from the third on",
			noun),
		Example: example,
		pattern: `(every ` + said + `(?: from the ` + ordinal + ` on)?|the ` + ordinal + ` ` + said + `|each of the first \d+ ` + said + `s)`,
	}
}

// arguments are all that sentences can have. A malformed one makes its step match nothing, and that is found before
// anything starts.
var arguments = []Argument{
	which("call", "the first call"), which("action", "every action"), which("instance", "the first instance"),
	which("machine", "every machine"), which("new simulated node", "every new simulated node"),
	{"CALL", "calls in quotes, VERB RESOURCE[.GROUP][/SUBRESOURCE] [[NAMESPACE/]NAME], with verbs as in RBAC and commas between them",
		`"update,patch nodes"`, `"([a-z,]+ [a-z0-9.*/-]+(?: [^" ]+)?)"`},
	{"PROGRAM", `a program in quotes, as it calls itself to the API server: "karpenter", "cluster-autoscaler", "cluster-api" for ` +
		`the controllers of Cluster API, "kube-controller-manager" or "kube-scheduler"`, `"cluster-autoscaler"`, `"([^"]{1,})"`},
	{"LIST", "lists in quotes, as CALL with the verb list", `"list nodes"`, `"(list [a-z0-9.*/-]+(?: [^" ]+)?)"`},
	{"WATCH", "watches in quotes, as CALL with the verb watch", `"watch nodes"`, `"(watch [a-z0-9.*/-]+(?: [^" ]+)?)"`},
	{"CLOUD-LIST", "lists in quotes: list servers, or of actions, such as list actions; of AWS DescribeInstances", `"list servers"`,
		`"(list [a-z_ ]+|(?:Describe|List)[A-Za-z]+)"`},
	{"CLOUD-CALL", "calls in quotes, such as create servers, delete servers, list servers, list actions of servers. A cloud of node " +
		"groups has increase groups, delete instances, list instances, get templates. One of instances has launch instances, terminate " +
		"instances, describe instances. AWS's have AWS's own names, such as CreateFleet", `"create servers"`,
		`"([a-z_]+ [a-z_ ]+|[A-Z][A-Za-z]+)"`},
	{"ACTION", "an action of the cloud in quotes, such as create_server, start_server or delete_server", `"start_server"`,
		`"([a-z]+_[a-z_]+)"`},
	// A fault that a sentence has armed is called what that says, quotes and all.
	{"FAULT", "a fault in quotes: the name that it has in YAML, or the sentence that armed it",
		`"the server type "cx22" is out of stock"`, `"(.+)"`},
	{"FIELDS", "fields of a reply in quotes, by their paths in the cloud's API, with commas between", `"instances.status"`,
		`"([A-Za-z_]+(?:[.,][A-Za-z_]+)*)"`},
	{"FIELD=VALUE", "a field of a reply in quotes, by its path in the cloud's API, and its value: a number, true, false or text",
		`"servers.status=unknown"`, `"([A-Za-z_]+(?:\.[A-Za-z_]+)*=[^"]*)"`},
	{"STATUS", "an HTTP status that is an error, 400 to 599", "503", `([45]\d\d)`},
	{"FOR-GROUP", `nothing, or: for instances of the group "NAME" (of the Hetzner Cloud: servers)`, ` for instances of the group "web"`,
		`((?: for (?:instances|servers) of the group "[^"]+")?)`},
	{"OF-GROUP", `nothing, or: of the group "NAME"`, ` of the group "web"`, `((?: of the group "[^"]+")?)`},
	{"OF-TYPE", `nothing, or: of the type "NAME"`, ` of the type "m5.large"`, `((?: of the type "[^"]+")?)`},
	{"IN-LOCATION", `nothing, or: in "LOCATION"`, ` in "fsn1"`, `((?: in "[^"]+")?)`},
	{"WHEN", "nothing, or any of these in this order: `, once {PATTERN}` (an event of the history, as in symptoms), " +
		"`, from DURATION on` (since then), `, for DURATION`, `, with probability 0.3`", ", from 30s on, for 5m",
		`(` + start + `(?:, for ` + aSpan + `)?` + chance + `)`},
	{"SINCE", "as WHEN, without `, for DURATION`", ", from 30s on", `(` + start + chance + `)`},
	{"PERHAPS", "nothing, or `, with probability 0.3`", ", with probability 0.3", `(` + chance + `)`},
	{"PATH", "a field of an object in quotes, with dots, and with places in lists from 0 on", `"spec.taints.0.key"`,
		`"([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)"`},
	{"VALUE", "a value in quotes, as YAML reads it: 1, true, null or text", `"1hr"`, `"([^"]*)"`},
	{"NAME", `a name in quotes`, `"web"`, `"([^"]+)"`},
	{"DEVICE", "an extended resource in quotes, DOMAIN/NAME", `"example.com/device"`, `"([^"/]+/[^"/]+)"`},
	{"GATE", "a feature gate in quotes, and whether it is on: GATE=true or GATE=false", `"StaleControllerConsistencyReplicaSet=false"`,
		`"([A-Z][A-Za-z0-9]*=(?:true|false))"`},
	{"METRIC", "a metric in quotes, as Prometheus has it: of a histogram or a summary with _count or _sum behind its name",
		`"karpenter_nodeclaims_created_total"`, `"([a-zA-Z_:][a-zA-Z0-9_:]*)"`},
	{"DURATION", "virtual time, such as 30s, 5m or 2m30s", "5m", `(` + aSpan + `)`},
	{"N", "a whole number", "2", `(\d+)`},
	{"PRICE", "an amount of money with its currency, such as 12 EUR or 0.50 USD", "12 EUR", `(\d+(?:\.\d+)? [A-Z]{3})`},
	{"CPU", "processors, as in 500m CPU or 1 CPU", "1 CPU", `(\d+m|\d+(?:\.\d+)?)` + cpuSuffix},
	{"MEMORY", "an amount of memory, such as 512Mi or 2Gi", "512Mi", `(\d+(?:\.\d+)?(?:Ki|Mi|Gi|Ti)?)`},
	{"TAINT", "a taint in quotes, KEY[=VALUE]:EFFECT, with the effect NoSchedule, PreferNoSchedule or NoExecute",
		`"example.com/agent:NoSchedule"`, `"([^":=]+(?:=[^":]*)?:(?:NoSchedule|PreferNoSchedule|NoExecute))"`},
	{"KIND/NAME", "an object in quotes, KIND/NAME, or KIND/NAMESPACE/NAME outside of the namespace default. After an event was waited for, " +
		"$name, $namespace, $actor and $detail.KEY stand for what that has, here and as whole values of objects and patches in YAML. Of " +
		"those, $now is the time of the world, and $uid(KIND/NAME) the UID of an object that is there. $newest and " +
		"$oldest stand for the Node that the target brought, or the pod, that came last or first", `"Deployment/web"`,
		`"([A-Za-z][A-Za-z0-9.-]*/[^"/]+(?:/[^"/]+)?)"`},
	// Those of one kind, by the names that kubectl has for it.
	{"Pod/NAME", "a pod in quotes, Pod/NAME or Pod/NAMESPACE/NAME; $name, $namespace, $newest and $oldest as in KIND/NAME", `"Pod/web-0"`,
		`"((?:[Pp]ods?|po)/[^"/]+(?:/[^"/]+)?)"`},
	{"Node/NAME", "a node in quotes; $name, $newest and $oldest as in KIND/NAME", `"Node/node-1"`, `"((?:[Nn]odes?|no)/[^"/]+)"`},
	{"KEY=VALUE", "a label or an annotation in quotes; KEY- removes it", `"example.com/team=a"`, `"([^"=]+=[^"]*|[^"]+-)"`},
	{"FILE", "a file in quotes, .yaml, .yml or .json, beside the feature", `"objects.yaml"`, `"([^"]+\.(?:yaml|yml|json))"`},
	{"EVENT", `an event in words: "ACTOR" has sent "VERB" of "RESOURCE", or "SOURCE" has recorded "VERB" of "RESOURCE"; nodestorm ` +
		`sentences --help says more`, `"cluster-autoscaler" has sent "delete" of "nodes"`, Record},
	{"NEVER", `that an event does not occur: "ACTOR" never sends, or is never refused, "VERB" of "RESOURCE"; or "SOURCE" never records ` +
		`"VERB" of "RESOURCE". With has never sent, been refused or recorded, since the start`,
		`"cluster-autoscaler" never sends "delete" of "nodes"`, `((?:"[^"]+"|a client) (?:never (?:sends|records)|is never refused|` +
			`has never (?:sent|been refused|recorded)) ` + calls + `)`},
	{"RELEASE", "a version of the target that the store has, or can build: as builds are called, without the target's name", "v1.7.0",
		`(v?\d+\.\d+\.\d+(?:-[A-Za-z0-9._+-]+)?)`},
	{"VERSION", "a release, or a build of one's own such as v1.9.5-mine", "v1.9.5", `(v\d+\.\d+\.\d+(?:-[A-Za-z0-9._+-]+)?)`},
}

// cpuSuffix is the part of CPU that is a word of its own.
const cpuSuffix = " CPU"

// What stands below a step.
var (
	text  = Argument{Name: "TEXT", Means: `lines between """ below the step`}
	table = Argument{Name: "TABLE", Means: "a table below the step, of names and their values; of node groups with the columns name, " +
		"min, max, and if need be type, zone, labels, taints; of instance types with name, cpu, memory, and if need be price, zones; " +
		"of nodes with name, and if need be type, zone, group, labels, taints"}
)

// Arguments are all that sentences can have, but for what stands below a step.
func Arguments() []Argument { return slices.Clone(arguments) }
