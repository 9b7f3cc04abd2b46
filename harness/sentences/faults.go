package sentences

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/hcloud"
	instanceapi "nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// A sentence about a fault is a fault in YAML in other words: what it is about, the
// effect, and when. All of them are made from the table below, and read into the list
// that "these faults:" has in YAML; what is wrong is found there.

// The arguments of such sentences; those with a space before them may be empty.
const (
	apiCall    = `"CALL"`
	apiList    = `"LIST"`
	apiWatch   = `"WATCH"`
	caller     = `"PROGRAM"`
	cloudList  = `"CLOUD-LIST"`
	cloudCall  = `"CLOUD-CALL"`
	cloudWork  = `"ACTION"`
	forGroup   = ` FOR-GROUP`
	ofGroup    = ` OF-GROUP`
	inLocation = ` IN-LOCATION`
	fieldNames = `"FIELDS"`
	fieldValue = `"FIELD=VALUE"`
	status     = `STATUS`
	when       = ` WHEN`
	since      = ` SINCE`
	perhaps    = ` PERHAPS`
	name       = `"NAME"`
	span       = `DURATION`
	number     = `N`
)

// phrase is some words of a sentence, and what of the fault they say.
type phrase struct {
	words string
	// says is called with what a step has for their argument; nil: they have none.
	says func(f map[string]any, text string) error
	// field is the one that they set.
	field string
}

func plain(text string) phrase { return phrase{words: text} }

// sets has an argument be the value of a field, by its path.
func sets(path, argument string) phrase {
	return phrase{words: argument, field: path, says: func(f map[string]any, text string) error {
		value := any(text)
		if argument == number || argument == status {
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
func quoted(path, argument string) phrase {
	return phrase{words: argument, field: path, says: func(f map[string]any, text string) error {
		if _, inside, ok := strings.Cut(text, `"`); ok {
			setField(f, path, strings.TrimSuffix(inside, `"`))
		}
		return nil
	}}
}

// listed has what is in quotes, with commas between, be a list.
func listed(path, argument string) phrase {
	return phrase{words: argument, field: path, says: func(f map[string]any, text string) error {
		setField(f, path, strings.Split(text, ","))
		return nil
	}}
}

// setting has what is in quotes, FIELD=VALUE, be a value of a mapping.
func setting(path, argument string) phrase {
	return phrase{words: argument, field: path, says: func(f map[string]any, text string) error {
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
func left(what string) phrase {
	return phrase{field: "leaves: " + what, says: func(f map[string]any, _ string) error { f["leaves"] = what; return nil }}
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
func which(noun string) phrase {
	return phrase{words: "EVERY-" + strings.ToUpper(noun[strings.LastIndex(noun, " ")+1:]), says: func(f map[string]any, text string) error {
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
func whenever(argument string) phrase { return phrase{words: argument, says: readWhen} }

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
func theCall(argument string) phrase { return phrase{words: argument, says: readCall} }

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
func theCloudCall(argument string) phrase { return phrase{words: argument, says: readCloudCall} }

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
	subject []phrase
	effects []effect
}

// effect is a field of a fault, with the words for it. Its parts set fields below it.
type effect struct {
	key  string
	says []phrase
	// when is what can be said of its time and chance.
	when string
}

func is(key string, says ...phrase) effect { return effect{key, says, when} }

// at has an effect have another time than others.
func (e effect) at(when string) effect {
	e.when = when
	return e
}

// breakables are all that can break, and how.
var breakables = sync.OnceValue(func() []breakable {
	toAPI := func(calls string) []phrase {
		return []phrase{which("call"), plain(" "), theCall(calls), plain(" of the program "), sets("match.client", caller), plain(" ")}
	}
	toCloud := func(calls string) []phrase {
		return []phrase{which("call"), plain(" "), theCloudCall(calls), plain(" to the cloud"), quoted("match.group", forGroup), plain(" ")}
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
			is("loseReply", plain("is done, and never answered"), phrase{field: "hang: true", says: func(f map[string]any, _ string) error { f["hang"] = true; return nil }}),
		}},
		{list: "faults", subject: toCloud(cloudList), effects: []effect{
			is("stale", plain("lists what there was "), sets("by", span), plain(" before")),
			is("stale", plain("lists what there was when this began")),
			is("partial", plain("lists the first "), sets("keep", number), plain(" only")),
			is("missing", plain("lists none of them")),
			is("missing", plain("lists none of them that is younger than "), sets("for", span)),
		}},
		{list: "faults", subject: []phrase{which("action"), plain(" "), sets("match.operation", cloudWork), plain(" in the cloud"), quoted("match.group", forGroup), plain(" ")}, effects: []effect{
			is("actionHangs", plain("never ends")),
			is("actionTakes", plain("takes "), sets("time", span)),
			is("actionFails", plain("fails")),
			is("actionFails", plain("fails after "), sets("after", span)),
		}},
		{list: "faults", subject: []phrase{which("server"), quoted("match.group", ofGroup), plain(" ")}, effects: []effect{
			is("turnsOff", plain("goes off "), sets("after", span), plain(" after it runs")),
			is("vanishes", plain("vanishes "), sets("after", span), plain(" after it runs")),
			is("interrupted", plain("is interrupted "), sets("after", span), plain(" after it runs, with a notice of "), sets("notice", span)),
			is("notCreated", plain("is owed by the cloud and not created")),
			is("halfDeleted", plain("is deleted and its group's target stays"), left("target")),
			is("halfDeleted", plain("stays when it is deleted, and its group's target falls"), left("instance")),
			is("halfDeleted", plain("is not deleted, nor what its call names after it"), left("rest")),
		}},
		{list: "faults", subject: []phrase{plain("the server type ")}, effects: []effect{
			is("unavailable", sets("type", name), plain(" cannot be had"), quoted("location", inLocation)),
			is("unavailable", sets("type", name), plain(" cannot be had as "), sets("capacity", `(spot|on-demand)`), plain(" capacity"), quoted("location", inLocation)),
			is("retired", sets("type", name), plain(" is withdrawn"), quoted("location", inLocation)),
		}},
		{list: "nodes", subject: []phrase{which("further simulated node"), plain(" ")}, effects: append([]effect{
			is("neverRegisters", plain("never registers")).at(perhaps),
			is("registersLate", plain("registers "), sets("by", span), plain(" late")).at(perhaps),
			is("registersUntainted", plain("registers without its taints")).at(perhaps),
			is("registersAs", plain("registers with the provider ID "), sets("providerID", name)).at(perhaps),
		}, onNode...)},
		{list: "nodes", subject: []phrase{plain("the simulated node "), sets("node", name), plain(" ")}, effects: onNode},
		{list: "machines", subject: []phrase{which("machine"), plain(" of the MachineDeployment "), sets("deployment", name), plain(" ")}, effects: []effect{
			is("stuckInProvisioning", plain("is stuck in Provisioning")),
			is("failsToProvision", plain("fails to be provisioned")),
			is("neverJoins", plain("never joins")),
			is("lostBeforeJoining", plain("gets a provider ID and is lost before it joins")),
			is("reportedFailed", plain("is reported as failed while it runs")),
			is("deletionHeld", plain("is held by a finalizer when it is deleted")),
		}},
		{list: "kubelets", subject: []phrase{plain("the real kubelet of the machine "), sets("machine", name), plain(" ")}, effects: []effect{
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
	words string
	parts []phrase // those that say something
	below []bool   // whether their fields are below the effect's
}

// allFaultSentences are all of them.
var allFaultSentences = sync.OnceValue(func() (all []faultSentence) {
	for _, b := range breakables() {
		for _, e := range b.effects {
			s := faultSentence{breakable: b, effect: e}
			for i, p := range slices.Concat(b.subject, e.says, []phrase{whenever(e.when)}) {
				s.words += p.words
				if p.says != nil {
					s.parts = append(s.parts, p)
					s.below = append(s.below, i >= len(b.subject) && i < len(b.subject)+len(e.says))
				}
			}
			all = append(all, s)
		}
	}
	return all
})

// read makes a fault of the arguments. It is called what the sentence says.
func (s faultSentence) read(text string, args []string) (theseFaults, error) {
	list, err := s.yaml(text, args)
	if err != nil {
		return theseFaults{}, err
	}
	return parseFaults(list)
}

// yaml is the list of faults with the one that the sentence says, called name.
func (s faultSentence) yaml(name string, args []string) ([]byte, error) {
	f, below := map[string]any{"name": name}, map[string]any{}
	for i, p := range s.parts {
		said := ""
		if p.words != "" {
			said, args = args[0], args[1:]
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

// row is the sentence in the table.
func (s faultSentence) row() scene.Sentence {
	return scene.Sentence{
		Role: scene.Either, Words: s.words, Unchecked: true,
		Wants: func(a words.Args) (scene.Wants, error) {
			these, _ := s.read(a.Said, a.Texts())
			return scene.Wants{Breaks: these.programs()}, nil
		},
		Check: func(f *scene.Feature, a words.Args) error {
			if err := checkFilled(f, a.Said); err != nil {
				return err
			}
			if _, err := s.read(a.Said, a.Texts()); err != nil {
				return fmt.Errorf("its fault: %w", err)
			}
			return nil
		},
		Act: func(_ context.Context, on *scene.Scene, a words.Args) error {
			text, err := fill(on, a.Said)
			if err != nil {
				return err
			}
			args := a.Texts()
			for i := range args {
				args[i], _ = fill(on, args[i]) // a part of the text
			}
			these, err := s.read(text, args)
			if err != nil {
				return err
			}
			return arm(on, these)
		},
	}
}

var faultSentences = sync.OnceValue(func() scene.Sentences {
	all := scene.Sentences{Worlds: "any that has what it is about", Records: "faults (fault)"}
	for _, s := range allFaultSentences() {
		all.Rows = append(all.Rows, s.row())
	}
	all.Rows = append(all.Rows,
		scene.Sentence{Role: scene.Either, Words: `these faults:`, Wants: wantsThese, Check: checkThese, Act: armThese},
		scene.Sentence{Role: scene.Either, Words: `these faults from the file "FILE"`, Wants: wantsThese, Check: checkThese, Act: armThese},
		scene.Sentence{Role: scene.When, Words: `the fault "FAULT" is cleared`, Act: clearFault},
		scene.Sentence{Role: scene.Given, Words: `faults need not take effect`, Act: mayMiss},
		scene.Sentence{Role: scene.When, Words: `all faults are cleared`, Act: clearFaults})
	return all
})

// programs are those whose ways to the API server are broken, as rules name them.
func (t theseFaults) programs() (names []string) {
	for _, r := range t.rules {
		names = append(names, r.Match.Client)
	}
	return names
}

// ownWay reports whether rules about a program come on a way that is that program's alone.
func ownWay(program string) bool { return program == clusterapi.Name }

func wantsThese(a words.Args) (scene.Wants, error) {
	these, _ := parseFaults([]byte(a.Quoted))
	return scene.Wants{Breaks: these.programs()}, nil
}

func checkThese(_ *scene.Feature, a words.Args) error {
	if _, err := parseFaults([]byte(a.Quoted)); err != nil {
		return fmt.Errorf("its faults: %w", err)
	}
	return nil
}

func armThese(_ context.Context, s *scene.Scene, a words.Args) error {
	these, err := parseFaults([]byte(a.Quoted))
	if err != nil {
		return err
	}
	return arm(s, these)
}

var cloudToBreak = scene.CloudIs[scene.Cloud](`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups" or ` +
	`"a cloud of instances" before`)

// arm gives the parts of the world their faults.
func arm(s *scene.Scene, these theseFaults) error {
	for _, f := range these.cloud {
		if err := s.Meet(cloudToBreak); err != nil {
			return err
		}
		if err := s.Cloud.Inject(f); err != nil {
			return err
		}
	}
	for _, f := range these.machines {
		if err := s.Meet(needsClusterAPI); err != nil {
			return err
		}
		if err := scene.ProgramOf[clusterAPI](s).api.Inject(f); err != nil {
			return err
		}
	}
	for _, f := range these.kubelets {
		if err := s.Meet(scene.Kubelet); err != nil {
			return err
		}
		if err := s.Kubelets.Inject(f); err != nil {
			return err
		}
	}
	for _, f := range these.nodes {
		if err := breakNode(s, f); err != nil {
			return err
		}
	}
	return armRules(s, these.rules)
}

// armRules arms rules on the ways of the programs that they are about.
func armRules(s *scene.Scene, rules []apifault.Rule) error {
	for _, r := range rules {
		program, missing := s.Target, scene.TargetRuns.Missing
		if own := r.Match.Client; ownWay(own) { // whose agent is named after its file, and has this way for itself
			program, missing, r.Match.Client = s.Programs[own], needsClusterAPI.Missing, ""
		} else if program == nil { // it starts with them
			s.Rules = append(s.Rules, r)
			continue
		}
		if program == nil || program.Way() == nil {
			return fmt.Errorf("rule %q: %w", r.Name, missing)
		}
		if err := program.Way().Inject(r); err != nil {
			return err
		}
	}
	return nil
}

// mayMiss is for scenarios that were drawn: whether a fault meets anything is not known
// before, nor whether there is a newest or an oldest object to do something to.
func mayMiss(_ context.Context, s *scene.Scene, _ words.Args) error {
	s.Drawn = true
	s.World.History().Record(history.Event{Source: history.Harness, Verb: history.MayMiss})
	return nil
}

// clearFaults ends all faults that have been armed and are not over. That some are is no
// matter, but one has to have been.
func clearFaults(_ context.Context, s *scene.Scene, _ words.Args) error {
	var names []string
	armed := armedFaults(s)
	for _, f := range armed {
		if f.State != history.Cleared && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	if len(armed) == 0 {
		return errors.New("no fault has been armed that could be cleared")
	}
	for _, name := range names {
		if err := clearNamed(s, name); err != nil {
			return err
		}
	}
	return nil
}

func clearFault(_ context.Context, s *scene.Scene, a words.Args) error {
	return clearNamed(s, a.Text(0))
}

// clearNamed ends a fault before its time.
func clearNamed(s *scene.Scene, name string) error {
	var clears []func(string) error
	if s.Meet(cloudToBreak) == nil {
		clears = append(clears, s.Cloud.Clear)
	}
	if s.Meet(scene.Kubelet) == nil {
		clears = append(clears, func(name string) error { return s.Kubelets.Clear(name, "") })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Programs)) {
		if way := s.Programs[name].Way(); way != nil {
			clears = append(clears, way.Clear)
		}
	}
	for _, clear := range append(clears, s.ClearNodes) {
		if clear(name) == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no fault %q that could be cleared", name)
}

func breakNode(s *scene.Scene, f nodeFault) error {
	of, err := f.fault()
	if err != nil {
		return err
	}
	if f.Node != "" {
		return s.InjectNode(f.Node, of)
	}
	s.Boots.Inject(of, f.Plan, fault.Recorder{History: s.World.History(), Seed: s.Rig.World.Seed}, s.World.Clock().Now())
	return nil
}
