package sentences

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/words"
)

// What no history could make true, or false, is found before anything starts.
func TestStatementsRefused(t *testing.T) {
	beside := fstest.MapFS{"s.yaml": {Data: []byte("never: {source: apo}")}}
	for _, test := range []struct{ then, quotes, want string }{
		{`somebody has sent "create" of "pods" at least 0 times within 5m`, "", "atLeast: 0: no history could have less"},
		{`somebody has sent "create" of "pods" 0 times within 5m`, "", "atLeast: 0"},
		{`somebody has sent "create" of "pods" within 0s`, "", `"0s" is no duration`},
		{`the pod "web" is Running within 0s`, "", `"0s" is no duration`},
		{`somebody has sent "creates" of "pods" within 5m`, "", `unknown verb "creates" of source api`},
		{`"moon" has recorded "created" of "instances" within 5m`, "", `unknown source "moon"`},
		{`somebody has sent "create" of "pods" 2 times no more than 3 times within 5m`, "", "leave out how many times"},
		{`somebody has sent "create" of "pods" no more than 3 times in any 5m, for each object, within 5m`, "", "every: 5m0s is no part of within: 5m0s"},
		{`somebody has sent "create" of "pods" before somebody has sent "create" of "pods" within 5m`, "", "first and then are the same"},
		{`somebody has ever sent "create" of "pods" before somebody has sent "create" of "nodes" within 5m`, "", "of both records"},
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

// What godog hands over, a text or the name of a file, is what is stated.
func TestQuotedIsStated(t *testing.T) {
	s := &scenario{rig: Rig{Beside: fstest.MapFS{"s.yaml": {Data: []byte("never: {source: apo}")}}}}
	text := &godog.DocString{Content: "never: {source: apo}"}
	with := func(text string) any {
		for _, t := range then.General {
			if _, is := words.New(t.Words).Match(text); is {
				s.text = text
				return s.waiting(t)
			}
		}
		return nil
	}
	for i, err := range []error{
		with("this holds:").(func(context.Context, *godog.DocString) error)(t.Context(), text),
		with("this holds within 5m:").(func(context.Context, string, *godog.DocString) error)(t.Context(), "5m", text),
		with(`this holds from the file "s.yaml"`).(func(context.Context) error)(t.Context()),
		with(`this holds within 5m from the file "s.yaml"`).(func(context.Context) error)(t.Context()),
	} {
		if err == nil || !strings.Contains(err.Error(), `unknown source "apo"`) || s.quoted != text.Content {
			t.Errorf("%d: %v, quoted %q", i, err, s.quoted)
		}
	}
}
