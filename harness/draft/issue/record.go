package issue

import (
	"fmt"
	"strings"

	"nodestorm/harness/draft"
	"nodestorm/harness/program"
	"nodestorm/sim/oneline"
)

// record writes what the issue says of the failure, and what it does not.
func (t *text) record(id string, d draft.Draft) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	title := t.title
	if title == "" {
		title = "What the issue is about"
	}
	system := map[string]string{draft.Karpenter: "karpenter", ClusterAPI: "clusterapi", draft.ClusterAutoscaler: "hetzner"}[d.Autoscaler]
	if d.Provider == "clusterapi" {
		system = "clusterapi"
	}
	line("# yaml-language-server: $schema=record.schema.json")
	line("# A draft by nodestorm new --from. It lints, but says little yet: go on where it says TODO.\n")
	line("id: %s\ntitle: %s # TODO: what the software does wrong", id, quoted(title))
	line("system: %s\nautoscaler: %s\nfeature: %s.feature", system, d.Autoscaler, id)
	if t.linked != "" {
		line("# issue: %s # TODO: the first link of the text; is it this one?", t.linked)
	} else {
		line("# issue: owner/repository#123 # TODO: where it is documented")
	}
	if d.Version == "" {
		line("\n# TODO: the text names no release of %s; this one is a guess.", d.Autoscaler)
	} else {
		line("\n# TODO: add a release that does not show it, as healthy.")
	}
	line("targets:\n  - {name: %s, expected: reproduced}", d.Target)
	line("\nsummary: TODO what users see.\nmechanism: TODO why it happens, as far as you know.")
	t.trigger(line, d)
	t.symptom(line, d)
	return b.String()
}

// trigger writes the trigger and the work, of which an issue says least.
func (t *text) trigger(line func(string, ...any), d draft.Draft) {
	line("\n# TODO: what made the failure possible; it has to be in the history of all releases.\ntrigger:")
	if d.Autoscaler == ClusterAPI {
		line("  statement: A machine is created\n  sequence:\n    - match: {source: api, verb: create, resource: machines}")
	} else {
		line("  statement: A pod finds no node\n  sequence:")
		line("    - match: {source: api, verb: patch, resource: pods, actor: kube-scheduler, detail: {message: {exists: true}}}")
	}
	work := "{source: api, verb: create, resource: machines, actor: capi-manager, count: 1, since: start}"
	if facts := program.Named(d.Autoscaler); facts.Drawn != nil {
		work = facts.Drawn.Work
	}
	line("\n# What the target must have done for its health to mean anything.\nwork: %s", work)
}

// symptom writes one of what the issue quotes as errors, or a placeholder.
func (t *text) symptom(line func(string, ...any), d draft.Draft) {
	actor := d.Autoscaler
	if actor == ClusterAPI {
		actor = "capi-manager"
	}
	var all []string
	for _, of := range t.errors {
		match := fmt.Sprintf("{source: log, actor: %s, detail: {message: {contains: %s}}}", actor, quoted(oneline.Cut(of.text, 80)))
		if of.event {
			match = fmt.Sprintf("{source: api, verb: [create, patch], resource: events, detail: {reason: %s}}", quoted(of.text))
		}
		if d.Autoscaler == draft.Karpenter || of.event { // of the others' logs a history has what they decide
			all = append(all, match)
		} else {
			line("# The log of the issue has: %s", oneline.Cut(of.text, 100))
		}
	}
	line("\n# What the failure looks like in the history. See it: nodestorm report -o text RUN")
	if len(all) > 0 {
		line("# TODO: this is the first error of the text, and others are below. Take those that are the failure, in their order.")
		line("symptom:\n  statement: TODO what goes wrong\n  sequence:\n    - as: the complaint\n      match: %s", all[0])
		for _, match := range all[1:] {
			line("    # - match: %s", match)
		}
		return
	}
	line("# TODO: the text has no error that a history has as well. This is a placeholder; replace it by what goes wrong.")
	if d.Autoscaler == ClusterAPI {
		line("symptom:\n  statement: TODO a machine is deleted\n  sequence:")
		line("    - match: {source: api, verb: delete, resource: machines, actor: capi-manager}")
		return
	}
	line("symptom:\n  statement: TODO a pod has no node for ten minutes\n  sequence:\n    - as: the pod")
	line("      match: {source: api, verb: create, resource: pods, detail: {subresource: {exists: false}}}\n      capture: {pod: name}")
	line("    - as: no node\n      absent:")
	line("        - {source: api, verb: create, resource: pods, name: $pod, detail: {subresource: binding}}\n      for: 10m")
	line("    - as: the scheduler's complaint")
	line("      match: {source: api, verb: [create, patch], resource: events, detail: {reason: FailedScheduling}}")
}

// quoted is a text as YAML has it in double quotes, on one line.
func quoted(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\\' || r == 0xfeff || r == 0xfffd {
			return -1
		}
		return r
	}, text)
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}
