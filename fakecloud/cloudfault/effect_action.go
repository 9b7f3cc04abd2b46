package cloudfault

import (
	"cmp"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// ActionHangs means that the action never ends. It stays running, with some progress.
type ActionHangs struct{}

var _ = work.Add("actionHangs", ActionHangs{}, fault.Say("never ends"))

// Work implements Worker.
func (ActionHangs) Work(w *Work) { w.Takes = -1 }

// ActionTakes sets how long the action takes.
type ActionTakes struct {
	// Time counts from the action's begin. Required.
	Time strict.Duration `json:"time" want:"positive"`
}

var _ = work.Add("actionTakes", ActionTakes{}, fault.Say("takes DURATION", "time"))

// Work implements Worker.
func (e ActionTakes) Work(w *Work) {
	w.Takes = time.Duration(e.Time)
	w.Felt = min(w.Felt, w.Takes)
}

// ActionFails means that the action ends in an error, and what it should have done is not done: a
// failed create_server leaves no instance, a failed start_server one that is off, a failed
// delete_server one that runs on.
type ActionFails struct {
	// After is when, from the action's begin. Zero means when it would have succeeded.
	After strict.Duration `json:"after"`
	// Code is that of the action's error. Without it, it is action_failed.
	Code string `json:"code"`
	// Message is that of the action's error. Without it, it is "Action failed".
	Message string `json:"message"`
}

var _ = work.Add("actionFails", ActionFails{}, fault.Say("fails"), fault.Say("fails after DURATION", "after"))

// Work implements Worker.
func (e ActionFails) Work(w *Work) {
	if e.After > 0 {
		w.Takes = time.Duration(e.After)
	}
	w.Felt = w.Takes
	w.Fails = &struct{ Code, Message string }{cmp.Or(e.Code, "action_failed"), cmp.Or(e.Message, "Action failed")}
}
