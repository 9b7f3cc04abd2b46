// Package supply gets the builds that replays need: out of the store, out of registries, or by
// building them, before replays or beside them. It plays none.
package supply

import (
	"fmt"

	"nodestorm/harness/builds/buildstore"
)

// Output is where people read what goes on. It is safe for concurrent use.
type Output interface {
	// Say prints a message.
	Say(format string, args ...any)
	// Remark prints a message that users can do without.
	Remark(format string, args ...any)
	// Detail prints a message for users who ask for many.
	Detail(format string, args ...any)
	// NewLine returns a line for what is under way.
	NewLine() Line
}

// Line shows what is under way: on a terminal one line, which changes; elsewhere lines follow
// each other, a new one for another subject and now and then for the same.
type Line interface {
	Show(subject, text, detail string)
	// Clear removes the line before something else is printed.
	Clear()
	// Changes reports whether it is one line, on a terminal.
	Changes() bool
	// Steps reports whether each step of a world is shown.
	Steps() bool
}

// ShowOn returns a Progress that shows the builds of one command on a line, after its number
// among them and before what is built next.
func ShowOn(line Line, number, next string) buildstore.Progress {
	return func(u buildstore.Update) {
		line.Show(number+u.Ref.String()+string(u.Stage), number+u.String(), u.Package+next)
	}
}

// numbered returns "[2/3] ", or nothing for the only one.
func numbered(nth, of int) string {
	if of < 2 {
		return ""
	}
	return fmt.Sprintf("[%d/%d] ", nth, of)
}
