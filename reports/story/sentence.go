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
		if k.Verb == history.Uninvited {
			calls, _ := detail.Number("of")
			return fmt.Sprintf("%s came to %s from no program of the world: without credentials", wording.Counted(int(calls), "call"), o.Name)
		}
		return strings.TrimSpace(fmt.Sprintf("harness: %s %s %s", k.Actor, k.Verb, fact("error")))
	case history.Cloud:
		return s.cloudSentence(k, o, fact)
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

// cloudSentence describes a call to the cloud, or of what became of an instance.
func (s *Story) cloudSentence(k Kind, o Object, fact func(string) string) string {
	if k.Code == 0 {
		return strings.TrimSpace(vocabulary.Kind(o.Resource) + " " + o.Name + " is " + k.Verb)
	}
	sentence := k.Actor + " calls " + k.Verb
	if o.Name != "" {
		sentence += " for " + o.Name
	}
	if k.Code >= 300 {
		sentence += fmt.Sprintf(" — refused with %d %s", k.Code, fact("error"))
	}
	return strings.TrimSpace(sentence)
}
