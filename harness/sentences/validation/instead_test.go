package validation

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"
)

func TestDidYouMean(t *testing.T) {
	for _, test := range []struct {
		kind       messages.PickleStepType
		said, want string
	}{
		{messages.PickleStepType_ACTION, `a pod "web" that requests 1 CPU gets created`,
			`did you mean "When a pod \"NAME\" that requests CPU is created"`},
		{messages.PickleStepType_ACTION, `the pod "web" is deleted`, `did you mean "When \"KIND/NAME\" is deleted"`},
		{messages.PickleStepType_OUTCOME, `the pod "web" is Running within 5mm`,
			`5mm is not virtual time, such as 30s, 5m or 2m30s, in "Then the pod`},
		{messages.PickleStepType_OUTCOME, `the pod web is Running within 5m`, `web is not a name in quotes, in "Then the pod`},
		{messages.PickleStepType_ACTION, `the pod "web" is Running within 5m`, "it is a Then, and not a When"},
		{messages.PickleStepType_OUTCOME, `the node "a" is Ready within 5m`,
			`its step "Then the node \"a\" is Ready within 5m" is called "the Node \"a\" is Ready within 5m" now: nodestorm lint --fix`},
		{messages.PickleStepType_OUTCOME, `nothing like any sentence there is at all`, "matches nothing; nodestorm sentences prints"},
	} {
		wrong := Problems([]*messages.PickleStep{{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"},
			{Type: test.kind, Text: test.said}}, nil)
		if len(wrong) != 1 || wrong[0].Step != 1 || !strings.Contains(wrong[0].Err.Error(), test.want) {
			t.Errorf("%s: %+v, want %s", test.said, wrong, test.want)
		}
	}
}
