package history

// Died is the verb of the harness's event of a component that died though nothing was to
// kill it. The actor is the component; detail "error" says how.
const Died = "died"

// Death is the event of it.
func Death(component string, err error) Event {
	return Event{Source: Harness, Verb: Died, Actor: component, Detail: map[string]any{"error": err.Error()}}
}

// Disk is what has died, by its name, where a disk of the world is full.
const Disk = "disk"

// Broken is the event of an invariant that does not hold any more. It is for who watches
// or reads the run, which is judged by the events that break it.
func Broken(invariant, why string) Event {
	return Event{Source: Harness, Verb: "broken", Actor: "invariant", Detail: map[string]any{"error": invariant + ": " + why}}
}

// Role is what a step is for, in Gherkin's own names; And and But take the role of the
// step before.
type Role string

// The roles.
const (
	Given Role = "Context"
	When  Role = "Action"
	Then  Role = "Outcome"
)

// Keyword is what begins a step of the role in a feature; empty of another role.
func (r Role) Keyword() string {
	return map[Role]string{Given: "Given", When: "When", Then: "Then"}[r]
}

// Outcome is how one step came out.
type Outcome struct {
	Role Role
	Text string
	// Quoted is the statement that a Then quotes or reads from a file, if it does.
	Quoted string
	// Status is as godog has it: passed, failed, skipped, undefined, pending,
	// ambiguous.
	Status string
	// Error is why it failed, empty otherwise.
	Error string
}

// Event is the event of the outcome.
func (o Outcome) Event() Event {
	detail := map[string]any{"kind": string(o.Role), "text": o.Text}
	for key, text := range map[string]string{"quoted": o.Quoted, "error": o.Error} {
		if text != "" {
			detail[key] = text
		}
	}
	return Event{Source: Step, Verb: o.Status, Actor: "godog", Detail: detail}
}

// OutcomeOf is what an event says about a step.
func OutcomeOf(r Entry) (o Outcome, ok bool) {
	if r.Source != Step {
		return o, false
	}
	return Outcome{
		Role: Role(r.Detail.Text("kind")), Text: r.Detail.Text("text"), Quoted: r.Detail.Text("quoted"),
		Status: r.Verb, Error: r.Detail.Text("error"),
	}, true
}
