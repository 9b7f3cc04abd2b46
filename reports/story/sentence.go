package story

import (
	"encoding/json"
	"fmt"
	"strings"

	"nodestorm/reports/wording"
	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// maxFact bounds a fact of a sentence, in characters.
const maxFact = 160

// Sentence describes an event in a few words, for people who do not know the
// history's form.
func (s *Story) Sentence(i int) string {
	e := s.Events[i]
	k, o := s.Kinds[e.Kind], s.Objects[e.Object]
	detail := history.Detail{}
	_ = json.Unmarshal([]byte(s.Details[e.Detail]), &detail) // no detail, no facts
	fact := func(key string) string { return wording.Cut(wording.Clean(detail.Text(key)), maxFact) }
	what := o.Name
	if kind := vocabulary.Kind(o.Resource); kind != "" {
		what = kind + " " + o.Name
	} else if o.Resource != "" {
		what = strings.TrimSpace(o.Resource + " " + o.Name)
	}
	switch history.Source(k.Source) {
	case history.Step:
		words := strings.TrimSpace(history.Role(fact("kind")).Keyword() + " " + fact("text"))
		if err := fact("error"); err != "" {
			words += " — " + err
		}
		return words
	case history.Logged:
		return logSentence(k, o, detail, fact)
	case history.Fault:
		return fmt.Sprintf("fault %s on %s: %s", wording.Clean(detail.Text("fault")), what, k.Verb)
	case history.Harness:
		if k.Verb == history.Rounds {
			seconds, _ := detail.Number("seconds")
			return fmt.Sprintf("a round of %s takes %.3g s", k.Actor, seconds)
		}
		switch value, _ := detail.Number("value"); k.Verb {
		case history.Measured:
			return fmt.Sprintf("%s exposes %s, of value %g", k.Actor, what, value)
		case history.Unmeasured:
			return fmt.Sprintf("%s no longer exposes %s, of value %g", k.Actor, what, value)
		}
		if k.Verb == history.Uninvited {
			calls, _ := detail.Number("of")
			return fmt.Sprintf("%s came to %s from no program of the world: without credentials", wording.Counted(int(calls), "call"), o.Name)
		}
		return strings.TrimSpace(fmt.Sprintf("harness: %s %s %s", k.Actor, k.Verb, fact("error")))
	case history.Cloud:
		if k.IsCall() {
			return cloudCall(k, o, detail, fact)
		}
		return becameOf(k, o, detail, fact)
	}
	return callSentence(k, what, detail, fact)
}

// logSentence is about a line of a log.
func logSentence(k Kind, o Object, detail history.Detail, fact func(string) string) string {
	words := fact("message")
	if k.Verb == "loop" { // Cluster Autoscaler's
		return k.Actor + " begins a round of its main loop"
	}
	if words == "" {
		words = strings.TrimSpace(k.Verb + " " + o.Name)
		for _, key := range sorted(detail) {
			words += " " + wording.Clean(key) + " " + wording.Cut(wording.Clean(fmt.Sprint(detail[key])), maxFact)
		}
	}
	if claim := name(detail, "NodeClaim"); claim != "" {
		words += " " + wording.Clean(claim)
	}
	if pods := fact("Pods"); pods != "" {
		words += ": " + pods
	}
	return fmt.Sprintf("%s logs: %s", k.Actor, words)
}

// callSentence is about a call to the API server, or about a node.
func callSentence(k Kind, what string, detail history.Detail, fact func(string) string) string {
	verb := map[string]string{"create": "creates", "delete": "deletes", "patch": "changes", "update": "changes",
		"register": "registers"}[k.Verb]
	switch {
	case k.Subresource == "binding":
		return fmt.Sprintf("%s binds %s to Node %s", k.Actor, what, fact("node"))
	case k.Subresource == "scale":
		verb = "scales"
	case verb == "":
		verb = k.Verb
	}
	words := []string{k.Actor, verb, what}
	if k.Code >= 300 {
		words = append(words, fmt.Sprintf("— refused with %d", k.Code), fact("error"))
	}
	var facts []string
	for _, taint := range detail.Texts("added") {
		facts = append(facts, "tainted "+wording.Clean(taint))
	}
	for _, taint := range detail.Texts("removed") {
		facts = append(facts, "no longer "+wording.Clean(taint))
	}
	for _, key := range []string{"providerID", "reason", "message"} {
		if value := fact(key); value != "" && len(facts) == 0 {
			facts = append(facts, map[string]string{"providerID": "provider ID "}[key]+value)
		}
	}
	sentence := strings.TrimSpace(strings.Join(words, " "))
	if len(facts) > 0 {
		sentence += ": " + wording.Cut(strings.Join(facts, ", "), 2*maxFact)
	}
	return sentence
}

// happened are the words for what became of something in a cloud where its verb says it badly.
var happened = map[string]string{
	"interrupted": "gets notice that it is interrupted", "impaired": "fails its checks", "maintenance": "has maintenance listed",
	"failed": "fails", "target": "gets another target size",
}

// becameOf is about what became of something that a cloud keeps: of a new instance what it is, and what it costs.
func becameOf(k Kind, o Object, detail history.Detail, fact func(string) string) string {
	words := happened[k.Verb]
	if words == "" {
		words = "is " + k.Verb
	}
	sentence := strings.TrimSpace(vocabulary.Kind(o.Resource) + " " + o.Name + " " + words)
	if k.Verb == "created" {
		facts := placed(fact)
		if hourly, priced := detail.Number("hourly"); priced {
			facts = append(facts, fmt.Sprintf("%.4g %s an hour", hourly, fact("currency")))
		}
		if len(facts) > 0 {
			sentence += ": " + strings.Join(facts, ", ")
		}
	}
	if err := fact("error"); err != "" {
		sentence += ": " + err
	}
	return sentence
}

// placed is what the details say of an instance, or of one that is asked for: type, where, which capacity.
func placed(fact func(string) string) (facts []string) {
	for _, key := range []string{"type", "location", "capacity"} {
		if value := fact(key); value != "" {
			facts = append(facts, value)
		}
	}
	return facts
}

// cloudCall is about a call to a cloud, and what came of it.
func cloudCall(k Kind, o Object, detail history.Detail, fact func(string) string) string {
	sentence := k.Actor + " calls " + k.Verb
	if about := strings.Join(placed(fact), ", "); o.Name != "" {
		sentence += " for " + o.Name
	} else if about != "" {
		sentence += " for " + about
	}
	instances := detail.Texts("instances")
	if asked, launches := detail.Number("asked"); launches {
		sentence += fmt.Sprintf(" — gets %d of %s", len(instances), wording.Counted(int(asked), "instance"))
		if len(instances) > 0 {
			sentence += ": " + wording.Cut(wording.Clean(strings.Join(instances, ", ")), maxFact)
		}
	}
	if messages := detail.Texts("messages"); len(messages) > 0 {
		sentence += " — of messages: " + wording.Cut(wording.Clean(strings.Join(messages, ", ")), maxFact)
	}
	switch err := fact("error"); {
	case detail.Truth("dryRun"):
		sentence += " — only to see whether it may: yes"
	case k.Code == 0:
		sentence += " — and is never answered"
	case k.Code >= 300:
		sentence += fmt.Sprintf(" — refused with %d %s", k.Code, err)
	case err != "":
		sentence += " — with the error " + err
	}
	return strings.TrimSpace(sentence)
}
