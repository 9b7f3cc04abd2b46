package cloudfault

import "nodestorm/sim/fault"

// NotLaunched means that one of the instances that a call asks for is not launched. Of a call that can have some of what it
// asks for, as fleets of AWS can, the answer says so; others fail.
type NotLaunched struct {
	// Code is what the answer says, in the words of the wire API, for AWS for example InsufficientInstanceCapacity. Without it, nothing
	// is said.
	Code string `json:"code"`
	// Message is the error's text. Without it, it is the usual one of Code.
	Message string `json:"message"`
}

var _ = launches.Add("notLaunched", NotLaunched{},
	fault.Say(`is not launched, for "NAME"`, "code"), fault.Say("is not launched, and nothing is said of why"))

// Unlaunched implements Launcher.
func (e NotLaunched) Unlaunched() (code, message string) { return e.Code, e.Message }
