package validation

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	messages "github.com/cucumber/messages/go/v21"
)

// What no history could make true, or false, is found before anything starts.
func TestStatementsRefused(t *testing.T) {
	beside := fstest.MapFS{"s.yaml": {Data: []byte("never: {source: apo}")}}
	for _, test := range []struct{ then, quotes, want string }{
		{`a client has sent "create" of "pods" at least 0 times within 5m`, "", "atLeast: 0: no history could have less"},
		{`a client has sent "create" of "pods" 0 times within 5m`, "", "atLeast: 0"},
		{`a client has sent "create" of "pods" within 0s`, "", `"0s" is no duration`},
		{`the pod "web" is Running within 0s`, "", `"0s" is no duration`},
		{`a client has sent "creates" of "pods" within 5m`, "", `unknown verb "creates" of source api`},
		{`"moon" has recorded "created" of "instances" within 5m`, "", `unknown source "moon"`},
		{`a client has sent "create" of "pods" 2 times no more than 3 times within 5m`, "", "leave out how many times"},
		{`a client has sent "create" of "pods" no more than 3 times in any 5m, for each object, within 5m`, "",
			"every: 5m0s is no part of within: 5m0s"},
		{`a client has sent "create" of "pods" before a client has sent "create" of "pods" within 5m`, "", "first and then are the same"},
		{`a client has ever sent "create" of "pods" before a client has sent "create" of "nodes" within 5m`, "", "of both events"},
		{`this holds:`, "hapens: {source: api}", `did you mean "happens"?`},
		{`this holds:`, "", "the text is empty"},
		{`this holds within 5m:`, "never: {source: api}\nwithin: 1m", "within is said twice"},
		{`this holds within 5m:`, "since: {source: log}\nnever: {source: api}\nwithin: 10m", "it would never be over"},
		{`this holds from the file "s.yaml"`, "", `never: unknown source "apo"`},
		{`this holds from the file "t.yaml"`, "", "t.yaml"},
	} {
		then := &messages.PickleStep{Type: messages.PickleStepType_OUTCOME, Text: test.then}
		if strings.HasSuffix(test.then, ":") {
			then.Argument = &messages.PickleStepArgument{DocString: &messages.PickleDocString{Content: test.quotes}}
		}
		wrong := Problems([]*messages.PickleStep{{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"}, then}, beside)
		if len(wrong) != 1 || wrong[0].Step != 1 || !strings.Contains(wrong[0].Err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.then, test.quotes, fmt.Sprint(wrong), test.want)
		}
	}
}
