package cloudfault

import (
	"cmp"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/time/lapse"
)

// ActionHangs means that the action never ends. It stays running, with some progress.
type ActionHangs struct{ action }

var _ = Faults.Add(fault.Kind{Key: "actionHangs", Effect: ActionHangs{}, Says: []fault.Words{fault.Say("never ends")}}, work)

func (ActionHangs) String() string { return "actionHangs" }

// Work implements Worker.
func (ActionHangs) Work(w *Work) { w.Takes = -1 }

// ActionTakes sets how long the action takes.
type ActionTakes struct {
	action
	// Time counts from the action's begin. Required.
	Time lapse.Duration `json:"time"`
}

var _ = Faults.Add(fault.Kind{Key: "actionTakes", Effect: ActionTakes{}, Says: []fault.Words{fault.Say("takes DURATION", "time")}}, work)

func (ActionTakes) String() string { return "actionTakes" }

// Check implements fault.Effect.
func (e ActionTakes) Check(fault.Fault) error { return lapse.Positive("actionTakes.time", e.Time) }

// Work implements Worker.
func (e ActionTakes) Work(w *Work) {
	w.Takes = time.Duration(e.Time)
	w.Felt = min(w.Felt, w.Takes)
}

// ActionFails means that the action ends in an error, and what it should have done is not done: a
// failed create_server leaves no instance, a failed start_server one that is off, a failed
// delete_server one that runs on.
type ActionFails struct {
	action
	// After is when, from the action's begin. Zero means when it would have succeeded.
	After lapse.Duration `json:"after"`
	// Code and Message are the action's error. Empty means action_failed and its usual text.
	Code    string `json:"code"`
	Message string `json:"message"`
}

var _ = Faults.Add(fault.Kind{Key: "actionFails", Effect: ActionFails{}, Says: []fault.Words{
	fault.Say("fails"), fault.Say("fails after DURATION", "after"),
}}, work)

func (ActionFails) String() string { return "actionFails" }

// Check implements fault.Effect.
func (e ActionFails) Check(fault.Fault) error { return lapse.NotNegative("actionFails.after", e.After) }

// Work implements Worker.
func (e ActionFails) Work(w *Work) {
	if e.After > 0 {
		w.Takes = time.Duration(e.After)
	}
	w.Felt = w.Takes
	w.Fails = &struct{ Code, Message string }{cmp.Or(e.Code, "action_failed"), cmp.Or(e.Message, "Action failed")}
}
