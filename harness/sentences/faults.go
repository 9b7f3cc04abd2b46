package sentences

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"
	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud/externalgrpc"
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
)

// A sentence about a fault is a fault in YAML in other words: what it is about, the
// effect, and when. All of them are made from the table below, and read into the list
// that "these faults:" has in YAML; what is wrong is found there.

// What the arguments of such sentences look like. Those that begin with "((?:" may be empty.
const (
	apiCall    = `"([a-z,]+ [a-z0-9.*/-]+(?: [^" ]+)?)"`
	apiList    = `"(list [a-z0-9.*/-]+(?: [^" ]+)?)"`
	apiWatch   = `"(watch [a-z0-9.*/-]+(?: [^" ]+)?)"`
	caller     = `"([^"]{1,})"`
	cloudList  = `"(list [a-z_ ]+)"`
	cloudCall  = `"([a-z_]+ [a-z_ ]+)"`
	cloudWork  = `"([a-z]+_[a-z_]+)"`
	forGroup   = `((?: for servers of the group "[^"]+")?)`
	ofGroup    = `((?: of the group "[^"]+")?)`
	inLocation = `((?: in "[^"]+")?)`
	fieldNames = `"([A-Za-z_]+(?:[.,][A-Za-z_]+)*)"`
	fieldValue = `"([A-Za-z_]+(?:\.[A-Za-z_]+)*=[^"]*)"`
	faultName  = `"(.+)"` // one that a sentence has armed is called what that says, quotes and all
	status     = `([45]\d\d)`
	ordinal    = `(?:first|second|third|fourth|fifth|\d+(?:st|nd|rd|th))`
	aSpan      = `(?:\d+(?:\.\d+)?(?:ms|h|m|s))+`
	chance     = `(?:, with probability 0?\.\d+)?)`
	start      = `((?:, once \{.+\})?(?:, from ` + aSpan + ` on)?`
	when       = start + `(?:, for ` + aSpan + `)?` + chance
	since      = start + chance
	perhaps    = `(` + chance
)

// every is which of the noun's.
func every(noun string) string {
	return `(every ` + noun + `(?: from the ` + ordinal + ` on)?|the ` + ordinal + ` ` + noun + `|each of the first \d+ ` + noun + `s)`
}

// faultArguments are those arguments for people.
func faultArguments() []Argument {
	which := func(noun, example string) Argument {
		return Argument{"EVERY-" + strings.ToUpper(noun[strings.LastIndex(noun, " ")+1:]),
			fmt.Sprintf("which: every %[1]s, the first %[1]s, the 12th %[1]s, each of the first 3 %[1]ss, or every %[1]s from the third on", noun), example, every(noun)}
	}
	return []Argument{
		which("call", "the first call"), which("action", "every action"), which("server", "the first server"),
		which("machine", "every machine"), which("further simulated node", "every further simulated node"),
		{"CALL", "calls in quotes, VERB RESOURCE[.GROUP][/SUBRESOURCE] [[NAMESPACE/]NAME], with verbs as in RBAC and commas between them", `"update,patch machinedeployments.cluster.x-k8s.io/scale web"`, apiCall},
		{"PROGRAM", `a program in quotes, as it calls itself to the API server: "karpenter", "cluster-autoscaler", or "cluster-api" for the controllers of Cluster API`, `"cluster-autoscaler"`, caller},
		{"LIST", "lists in quotes, as CALL with the verb list", `"list nodes"`, apiList},
		{"WATCH", "watches in quotes, as CALL with the verb watch", `"watch nodes"`, apiWatch},
		{"LIST", "lists in quotes: list servers, or of actions, such as list actions", `"list servers"`, cloudList},
		{"CALL", "calls in quotes, such as create servers, delete servers, list servers, list actions of servers; of a cloud of node groups increase groups, delete instances, list instances, get templates; of one of instances launch instances, terminate instances, describe instances", `"create servers"`, cloudCall},
		{"ACTION", "an action of the cloud in quotes, such as create_server, start_server or delete_server", `"start_server"`, cloudWork},
		{"FAULT", "a fault in quotes: the name that it has in YAML, or the sentence that armed it", `"the server type "cx22" cannot be had"`, faultName},
		{"FIELDS", "fields of a reply in quotes, by their paths in the cloud's API, with commas between", `"instances.status"`, fieldNames},
		{"FIELD=VALUE", "a field of a reply in quotes, by its path in the cloud's API, and its value: a number, true, false or text", `"servers.status=unknown"`, fieldValue},
		{"STATUS", "an HTTP status that is an error, 400 to 599", "503", status},
		{"FOR-GROUP", `nothing, or: for servers of the group "NAME"`, ` for servers of the group "web"`, forGroup},
		{"OF-GROUP", `nothing, or: of the group "NAME"`, ` of the group "web"`, ofGroup},
		{"IN-LOCATION", `nothing, or: in "LOCATION"`, ` in "fsn1"`, inLocation},
		{"WHEN", "nothing, or any of these in this order: `, once {PATTERN}` (a record of the history, as in symptoms), `, from DURATION on` (since then), `, for DURATION`, `, with probability 0.3`", ", from 30s on, for 5m", when},
		{"SINCE", "as WHEN, without `, for DURATION`", ", from 30s on", since},
		{"PERHAPS", "nothing, or `, with probability 0.3`", ", with probability 0.3", perhaps},
	}
}

// part is some words of a sentence, and what of the fault they say.
type part struct {
	pattern string
	// says is called with what a group of the pattern has matched; nil: the words have none.
	says func(f map[string]any, text string) error
	// field is the one that they set.
	field string
}

func plain(text string) part { return part{pattern: regexp.QuoteMeta(text)} }

// sets has a group be the value of a field, by its path.
func sets(path, pattern string) part {
	return part{pattern: pattern, field: path, says: func(f map[string]any, text string) error {
		value := any(text)
		if pattern == number || pattern == status {
			n, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			value = n
		}
		setField(f, path, value)
		return nil
	}}
}

// quoted has what is in quotes be the value of a field, if there is anything.
func quoted(path, pattern string) part {
	return part{pattern: pattern, field: path, says: func(f map[string]any, text string) error {
		if _, inside, ok := strings.Cut(text, `"`); ok {
			setField(f, path, strings.TrimSuffix(inside, `"`))
		}
		return nil
	}}
}

// listed has what is in quotes, with commas between, be a list.
func listed(path, pattern string) part {
	return part{pattern: pattern, field: path, says: func(f map[string]any, text string) error {
		setField(f, path, strings.Split(text, ","))
		return nil
	}}
}

// setting has what is in quotes, FIELD=VALUE, be a value of a mapping.
func setting(path, pattern string) part {
	return part{pattern: pattern, field: path, says: func(f map[string]any, text string) error {
		field, text, _ := strings.Cut(text, "=")
		var value any = text
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			value = n
		} else if truth, err := strconv.ParseBool(text); err == nil {
			value = truth
		}
		setField(f, path, map[string]any{field: value})
		return nil
	}}
}

// left has the effect of a half deletion say what it leaves.
func left(what string) part {
	return part{field: "leaves: " + what, says: func(f map[string]any, _ string) error { f["leaves"] = what; return nil }}
}

func setField(f map[string]any, path string, value any) {
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		below, ok := f[step].(map[string]any)
		if !ok {
			below = map[string]any{}
			f[step] = below
		}
		f = below
	}
	f[steps[len(steps)-1]] = value
}

// which says on which occasions.
func which(noun string) part {
	return part{pattern: every(noun), says: func(f map[string]any, text string) error {
		numbers := strings.NewReplacer("first", "1", "second", "2", "third", "3", "fourth", "4", "fifth", "5")
		n := 0
		for _, word := range strings.Fields(strings.TrimPrefix(text, "each of the first")) {
			word = strings.TrimRight(numbers.Replace(word), "stndrh")
			if got, err := strconv.Atoi(word); err == nil {
				n = got
			}
		}
		each := strings.HasPrefix(text, "each")
		switch {
		case n == 0 && (each || text != "every "+noun):
			return fmt.Errorf("%q: want counting to begin with the first", text)
		case each:
			f["limit"] = n
		case strings.HasPrefix(text, "every"):
			if n > 1 {
				f["skip"] = n - 1
			}
		default:
			f["limit"] = 1
			if n > 1 {
				f["skip"] = n - 1
			}
		}
		return nil
	}}
}

// whenever says from when to when.
func whenever(pattern string) part { return part{pattern: pattern, says: readWhen} }

func readWhen(f map[string]any, text string) error {
	if before, record, ok := strings.Cut(text, ", once {"); ok {
		end := strings.LastIndex(record, "}")
		pattern := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte("{"+record[:end]+"}"), &pattern); err != nil {
			return fmt.Errorf("once {%s}: %s", record[:end], oneline.Of(err.Error()))
		}
		f["when"] = pattern
		text = before + record[end+1:]
	}
	for clause := range strings.SplitSeq(text, ", ") {
		switch value := strings.Fields(clause); {
		case len(value) == 0:
		case value[0] == "from":
			f["at"] = value[1]
		case value[0] == "for":
			f["for"] = value[1]
		default:
			p, err := strconv.ParseFloat(value[2], 64)
			if err != nil {
				return err
			}
			f["probability"] = p
		}
	}
	return nil
}

// theCall is one to the API server.
func theCall(pattern string) part { return part{pattern: pattern, says: readCall} }

func readCall(f map[string]any, text string) error {
	call := strings.Fields(text)
	setField(f, "match.verbs", strings.Split(call[0], ","))
	resource, sub, _ := strings.Cut(call[1], "/")
	setField(f, "match.resource", resource)
	if sub != "" {
		setField(f, "match.subresource", sub)
	}
	if len(call) > 2 {
		name := call[2]
		if namespace, in, ok := strings.Cut(name, "/"); ok {
			setField(f, "match.namespace", namespace)
			name = in
		}
		setField(f, "match.name", name)
	}
	return nil
}

// theCloudCall is one to the cloud.
func theCloudCall(pattern string) part { return part{pattern: pattern, says: readCloudCall} }

func readCloudCall(f map[string]any, text string) error {
	name, known := hcloud.Call(text)
	for _, call := range []func(string) (string, []string){externalgrpc.Call, instanceapi.Call} {
		if name == "" {
			var others []string
			name, others = call(text)
			known = append(known, others...)
		}
	}
	if name == "" {
		return fmt.Errorf("no cloud knows a call %q%s (such as create servers, delete servers, list servers; of a cloud of node groups increase groups, delete instances, list instances; of one of instances launch instances, terminate instances, describe instances)", text, strict.Meant(text, known))
	}
	setField(f, "match.operation", name)
	return nil
}

// breakable is what faults of a list are about, and what can be done to it.
type breakable struct {
	list    string // of faultLists
	subject []part
	effects []effect
}

// effect is a field of a fault, with the words for it. Its parts set fields below it.
type effect struct {
	key  string
	says []part
	// when is what can be said of its time and chance.
	when string
}

func is(key string, says ...part) effect { return effect{key, says, when} }

// at has an effect have another time than others.
func (e effect) at(when string) effect {
	e.when = when
	return e
}

// breakables are all that can break, and how.
var breakables = sync.OnceValue(func() []breakable {
	toAPI := func(calls string) []part {
		return []part{which("call"), plain(" "), theCall(calls), plain(" of the program "), sets("match.client", caller), plain(" ")}
	}
	toCloud := func(calls string) []part {
		return []part{which("call"), plain(" "), theCloudCall(calls), plain(" to the cloud"), quoted("match.group", forGroup), plain(" ")}
	}
	onNode := []effect{
		is("notReady", plain("is NotReady")),
		is("networkDown", plain("has no network")),
		is("flaps", plain("is NotReady for half of every "), sets("every", span)),
		is("heartbeatsStop", plain("is not heard of")),
		is("kubeletRestarts", plain("has its kubelet restarted, which is down for "), sets("down", span), plain(" and reports Ready "), sets("settle", span), plain(" later")).at(since),
		is("taintStays", plain("keeps the taint of its agent "), sets("agent", name)),
		is("nodeDeleted", plain("has its Node deleted")).at(since),
	}
	return []breakable{
		{list: "rules", subject: toAPI(apiCall), effects: []effect{
			is("act.delay", plain("is delayed by "), sets("by", span)),
			is("act.answer", plain("is answered with "), sets("code", status)),
			is("act.answer", plain("is answered with "), sets("code", status), plain(" after "), sets("after", span)),
			is("act.drop", plain("breaks its connection")),
			is("act.hold", plain("is done, and its answer held back for "), sets("for", span)),
			is("act.lose", plain("is done, and its answer lost")),
			is("act.otherWriter", plain("meets another writer of its object")),
		}},
		{list: "rules", subject: toAPI(apiList), effects: []effect{
			is("act.staleList", plain("lists what there was when this began")),
		}},
		{list: "rules", subject: toAPI(apiWatch), effects: []effect{
			is("act.freeze", plain("goes silent for "), sets("for", span)),
			is("act.cut", plain("is cut off after "), sets("after", span)),
			is("act.expire", plain("expires after "), sets("after", span)),
		}},
		{list: "faults", subject: toCloud(cloudCall), effects: []effect{
			is("refuse", plain("is refused with "), sets("code", name)),
			is("refuse", plain("is answered with "), sets("status", status), plain(" and no JSON")),
			is("rateLimit", plain("meets a spent rate limit, full again "), sets("reset", span), plain(" later")),
			is("hang", plain("gets no answer")),
			is("delay", plain("is delayed by "), sets("by", span)),
			is("alterReply", plain("is answered without the fields "), listed("omit", fieldNames)),
			is("alterReply", plain("is answered with the field "), setting("set", fieldValue)),
			is("loseReply", plain("is done, and its answer lost")),
			is("loseReply", plain("is done, and never answered"), part{field: "hang: true", says: func(f map[string]any, _ string) error { f["hang"] = true; return nil }}),
		}},
		{list: "faults", subject: toCloud(cloudList), effects: []effect{
			is("stale", plain("lists what there was "), sets("by", span), plain(" before")),
			is("stale", plain("lists what there was when this began")),
			is("partial", plain("lists the first "), sets("keep", number), plain(" only")),
			is("missing", plain("lists none of them")),
			is("missing", plain("lists none of them that is younger than "), sets("for", span)),
		}},
		{list: "faults", subject: []part{which("action"), plain(" "), sets("match.operation", cloudWork), plain(" in the cloud"), quoted("match.group", forGroup), plain(" ")}, effects: []effect{
			is("actionHangs", plain("never ends")),
			is("actionTakes", plain("takes "), sets("time", span)),
			is("actionFails", plain("fails")),
			is("actionFails", plain("fails after "), sets("after", span)),
		}},
		{list: "faults", subject: []part{which("server"), quoted("match.group", ofGroup), plain(" ")}, effects: []effect{
			is("turnsOff", plain("goes off "), sets("after", span), plain(" after it runs")),
			is("vanishes", plain("vanishes "), sets("after", span), plain(" after it runs")),
			is("interrupted", plain("is interrupted "), sets("after", span), plain(" after it runs, with a notice of "), sets("notice", span)),
			is("notCreated", plain("is owed by the cloud and not created")),
			is("halfDeleted", plain("is deleted and its group's target stays"), left("target")),
			is("halfDeleted", plain("stays when it is deleted, and its group's target falls"), left("instance")),
			is("halfDeleted", plain("is not deleted, nor what its call names after it"), left("rest")),
		}},
		{list: "faults", subject: []part{plain("the server type ")}, effects: []effect{
			is("unavailable", sets("type", name), plain(" cannot be had"), quoted("location", inLocation)),
			is("unavailable", sets("type", name), plain(" cannot be had as "), sets("capacity", `(spot|on-demand)`), plain(" capacity"), quoted("location", inLocation)),
			is("retired", sets("type", name), plain(" is withdrawn"), quoted("location", inLocation)),
		}},
		{list: "nodes", subject: []part{which("further simulated node"), plain(" ")}, effects: append([]effect{
			is("neverRegisters", plain("never registers")).at(perhaps),
			is("registersLate", plain("registers "), sets("by", span), plain(" late")).at(perhaps),
			is("registersUntainted", plain("registers without its taints")).at(perhaps),
			is("registersAs", plain("registers with the provider ID "), sets("providerID", name)).at(perhaps),
		}, onNode...)},
		{list: "nodes", subject: []part{plain("the simulated node "), sets("node", name), plain(" ")}, effects: onNode},
		{list: "machines", subject: []part{which("machine"), plain(" of the MachineDeployment "), sets("deployment", name), plain(" ")}, effects: []effect{
			is("stuckInProvisioning", plain("is stuck in Provisioning")),
			is("failsToProvision", plain("fails to be provisioned")),
			is("neverJoins", plain("never joins")),
			is("lostBeforeJoining", plain("gets a provider ID and is lost before it joins")),
			is("reportedFailed", plain("is reported as failed while it runs")),
			is("deletionHeld", plain("is held by a finalizer when it is deleted")),
		}},
		{list: "kubelets", subject: []part{plain("the real kubelet of the machine "), sets("machine", name), plain(" ")}, effects: []effect{
			is("runtimeDown", plain("gets no answer of its container runtime")),
			is("networkGone", plain("finds no network plugin")),
			is("stopped", plain("is stopped")),
		}},
	}
})

// faultSentence is one of the sentences.
type faultSentence struct {
	breakable
	effect
	pattern *regexp.Regexp
	parts   []part // those that say something
	below   []bool // whether their fields are below the effect's
}

// faultSentences are all of them.
var faultSentences = sync.OnceValue(func() (all []faultSentence) {
	for _, b := range breakables() {
		for _, e := range b.effects {
			s, pattern := faultSentence{breakable: b, effect: e}, ""
			for i, p := range slices.Concat(b.subject, e.says, []part{whenever(e.when)}) {
				pattern += p.pattern
				if p.says != nil {
					s.parts = append(s.parts, p)
					s.below = append(s.below, i >= len(b.subject) && i < len(b.subject)+len(e.says))
				}
			}
			s.pattern = regexp.MustCompile("^" + pattern + "$")
			all = append(all, s)
		}
	}
	return all
})

// read makes a fault of what the sentence's groups have matched. It is called what the
// sentence says.
func (s faultSentence) read(text string, groups []string) (theseFaults, error) {
	list, err := s.yaml(text, groups)
	if err != nil {
		return theseFaults{}, err
	}
	return parseFaults(list)
}

// yaml is the list of faults with the one that the sentence says, called name.
func (s faultSentence) yaml(name string, groups []string) ([]byte, error) {
	f, below := map[string]any{"name": name}, map[string]any{}
	for i, p := range s.parts {
		said := ""
		if p.pattern != "" {
			said, groups = groups[0], groups[1:]
		}
		to := f
		if s.below[i] {
			to = below
		}
		if err := p.says(to, said); err != nil {
			return nil, err
		}
	}
	setField(f, s.key, below)
	return yaml.Marshal(map[string]any{s.list: []any{f}})
}

func (s *scenario) registerFaults(on sentences) {
	for _, sentence := range faultSentences() {
		on.Given(sentence.pattern.String(), s.doing(sentence))
		on.When(sentence.pattern.String(), s.doing(sentence))
	}
	for _, role := range []func(pattern, do any){on.Given, on.When} {
		role(`^these faults:$`, s.armThese)
		role(`^these faults from the file `+file+`$`, s.armTheseOf)
	}
	on.When(`^the fault `+faultName+` is cleared$`, s.clearFault)
	on.Given(`^faults need not take effect$`, s.mayMiss)
	on.When(`^all faults are cleared$`, s.clearFaults)
}

// listsFaults are the steps whose quoted text, or file, is a list of faults.
var listsFaults = regexp.MustCompile(`^these faults( from the file "[^"]+"|:)$`)

// doing is the step of a sentence.
func (s *scenario) doing(sentence faultSentence) any {
	in := []reflect.Type{contextType}
	for range sentence.pattern.NumSubexp() {
		in = append(in, reflect.TypeFor[string]())
	}
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{errorType}, false), func(args []reflect.Value) []reflect.Value {
		text, err := s.fill(s.text)
		var groups []string
		for _, arg := range args[1:] {
			group, _ := s.fill(arg.String()) // a part of the text
			groups = append(groups, group)
		}
		var these theseFaults
		if err == nil {
			these, err = sentence.read(text, groups)
		}
		if err == nil {
			err = s.arm(these)
		}
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}).Interface()
}

func (s *scenario) armThese(_ context.Context, text *godog.DocString) error {
	return s.armAll(text)
}

func (s *scenario) armTheseOf(_ context.Context, file string) error {
	text, err := s.beside(file)
	if err != nil {
		return err
	}
	return s.armAll(text)
}

func (s *scenario) armAll(text *godog.DocString) error {
	these, err := parseFaults([]byte(text.Content))
	if err != nil {
		return err
	}
	return s.arm(these)
}

// arm gives the parts of the world their faults.
func (s *scenario) arm(these theseFaults) error {
	for _, f := range these.cloud {
		if err := s.inject(f); err != nil {
			return err
		}
	}
	for _, f := range these.machines {
		if s.capi == nil {
			return errNoClusterAPI
		}
		if err := s.capi.Inject(f); err != nil {
			return err
		}
	}
	for _, f := range these.kubelets {
		if err := s.breakReal(f); err != nil {
			return err
		}
	}
	for _, f := range these.nodes {
		if err := s.breakNode(f); err != nil {
			return err
		}
	}
	ofCAPI, ofTarget := partition(these.rules, toClusterAPI)
	for i := range ofCAPI { // whose agent is named after its file, and has this way for itself
		ofCAPI[i].Match.Client = ""
	}
	if err := inject(s.capiWay(), ofCAPI, errNoClusterAPI); err != nil {
		return err
	}
	if s.autoscaler == nil && s.karpenter == nil { // it starts with them
		s.rules = append(s.rules, ofTarget...)
		return nil
	}
	return inject(s.way(), ofTarget, errNoTarget)
}

// inject arms rules on a program's way to its API server, if there are any; missing is why
// there is no way.
func inject(way *apifault.Proxy, rules []apifault.Rule, missing error) error {
	switch {
	case len(rules) == 0:
		return nil
	case way == nil:
		return fmt.Errorf("rule %q: %w", rules[0].Name, missing)
	}
	return way.Inject(rules...)
}

// toClusterAPI tells whether a rule is about calls of Cluster API's controllers.
func toClusterAPI(r apifault.Rule) bool { return r.Match.Client == clusterapi.Name }

func partition[T any](all []T, is func(T) bool) (those, others []T) {
	for _, one := range all {
		if is(one) {
			those = append(those, one)
		} else {
			others = append(others, one)
		}
	}
	return those, others
}

// way is the target's to the API server, nil where it cannot be broken.
func (s *scenario) way() *apifault.Proxy {
	switch {
	case s.karpenter != nil:
		return s.karpenter.Way()
	case s.autoscaler != nil:
		return s.autoscaler.Way()
	}
	return nil
}

// capiWay is that of Cluster API's controllers.
func (s *scenario) capiWay() *apifault.Proxy {
	if s.capi == nil {
		return nil
	}
	return s.capi.Way()
}

// foresee finds out whose ways to the API server steps will break: who starts before has to
// start with one that can be broken.
func (s *scenario) foresee(steps []*messages.PickleStep) {
	for _, step := range steps {
		ofCAPI, ofTarget := partition(rulesOf(step, s.rig.Beside), toClusterAPI)
		// mutant: Cluster API whose way is broken has none that can be
		s.breaksCAPI = s.breaksCAPI || len(ofCAPI) > 0
		// mutant: a target whose way is broken later has none that can be
		s.breakable = s.breakable || len(ofTarget) > 0 && step.Type == messages.PickleStepType_ACTION
	}
}

// rulesOf are those of a step, as far as can be known before it is played.
func rulesOf(step *messages.PickleStep, beside fs.FS) []apifault.Rule {
	text := step.Text
	if m := onceAtEnd.FindStringSubmatch(text); m != nil {
		text = m[1] + m[3]
	}
	if listsFaults.MatchString(text) {
		list, err := (&reader{beside: beside}).text(step)
		if err != nil {
			return nil // playing it tells
		}
		these, _ := parseFaults(list)
		return these.rules
	}
	for _, sentence := range faultSentences() {
		if groups := sentence.pattern.FindStringSubmatch(text); groups != nil {
			these, _ := sentence.read(text, groups[1:])
			return these.rules
		}
	}
	return nil
}

// mayMiss is for scenarios that were drawn: whether a fault meets anything is not known
// before, nor whether there is a newest or an oldest object to do something to.
func (s *scenario) mayMiss() error {
	if s.world == nil {
		return errNoCluster
	}
	s.drawn = true
	s.world.History().Record(history.Event{Source: history.Harness, Verb: history.MayMiss})
	return nil
}

// clearFaults ends all faults that have been armed and are not over. That some are is no
// matter, but one has to have been.
func (s *scenario) clearFaults() error {
	if s.world == nil {
		return errNoCluster
	}
	var names []string
	armed := s.armedFaults()
	for _, f := range armed {
		if f.State != history.Cleared && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	if len(armed) == 0 {
		return errors.New("no fault has been armed that could be cleared")
	}
	for _, name := range names {
		if err := s.clearFault(name); err != nil {
			return err
		}
	}
	return nil
}

// clearFault ends a fault before its time.
func (s *scenario) clearFault(name string) error {
	var clears []func(string) error
	if s.hetzner != nil {
		clears = append(clears, s.hetzner.Clear)
	}
	if s.groups != nil {
		clears = append(clears, s.groups.Clear)
	}
	if s.instances != nil {
		clears = append(clears, s.instances.Clear)
	}
	if s.capi != nil {
		clears = append(clears, s.capi.Clear)
	}
	if s.kubelets != nil {
		clears = append(clears, func(name string) error { return s.kubelets.Clear(name, "") })
	}
	for _, way := range []*apifault.Proxy{s.way(), s.capiWay()} {
		if way != nil {
			clears = append(clears, way.Clear)
		}
	}
	if s.world != nil {
		clears = append(clears, s.clearOfNodes)
	}
	for _, clear := range clears {
		if clear(name) == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no fault %q that could be cleared", name)
}

// clearOfNodes ends a fault on the nodes that have it, and spares those still to come.
func (s *scenario) clearOfNodes(name string) error {
	s.furtherMu.Lock()
	spared := false
	s.furtherFaults = slices.DeleteFunc(s.furtherFaults, func(f furtherFault) bool {
		if f.Name != name {
			return false
		}
		spared = f.chosen.Clear(s.world.Clock().Now(), further)
		return true
	})
	s.furtherMu.Unlock()
	err := s.world.Fleet().Clear(name)
	if s.containers != nil && s.containers.Clear(name) == nil {
		err = nil
	}
	if spared {
		return nil
	}
	return err
}

func (s *scenario) breakReal(f kubelet.Fault) error {
	if s.kubelets == nil {
		return errNoKubelets
	}
	return s.kubelets.Inject(f)
}

func (s *scenario) breakNode(f nodeFault) error {
	if s.world == nil {
		return errors.New(`there is no cluster yet: say "a cluster" before`)
	}
	of, err := f.fault()
	if err != nil {
		return err
	}
	if f.Node != "" {
		return s.injectNode(f.Node, of)
	}
	s.furtherMu.Lock()
	defer s.furtherMu.Unlock()
	recorder := fault.Recorder{History: s.world.History(), Seed: s.rig.World.Seed}
	plan := fault.Plan{Skip: f.Skip, Limit: f.Limit, Probability: f.Probability}
	s.furtherFaults = append(s.furtherFaults, furtherFault{of, new(recorder.Arm(f.Name, of.Effect.String(), plan, s.world.Clock().Now(), further))})
	return nil
}

// further is what records of faults of further nodes are about: of none until one boots.
var further = fault.About{Actor: node.Actor}

// furtherFault is a fault of simulated nodes that boot from now on, and of which of them.
type furtherFault struct {
	node.Fault
	chosen *fault.Life
}

// nextFaults are those of the next simulated node that boots.
func (s *scenario) nextFaults() []node.Fault {
	s.furtherMu.Lock()
	defer s.furtherMu.Unlock()
	all := slices.Clone(s.profile.Faults)
	for _, f := range s.furtherFaults {
		if f.chosen.Take() {
			all = append(all, f.Fault)
		}
	}
	return all
}
