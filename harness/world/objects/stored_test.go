package objects

import "testing"

// A field of a stored object becomes another, also one of another type and one that was not there.
func TestWithField(t *testing.T) {
	const stored = `{"spec":{"size":1,"taints":[{"key":"a"},{"key":"b"}]}}`
	for _, test := range []struct {
		path []string
		to   string
		want string // empty: an error
	}{
		{[]string{"spec", "size"}, "large", `{"spec":{"size":"large","taints":[{"key":"a"},{"key":"b"}]}}`},
		{[]string{"spec", "taints", "1", "key"}, "null", `{"spec":{"size":1,"taints":[{"key":"a"},{"key":null}]}}`},
		{[]string{"spec", "taints"}, "-1", `{"spec":{"size":1,"taints":-1}}`},
		{[]string{"status"}, "{phase: x}", `{"spec":{"size":1,"taints":[{"key":"a"},{"key":"b"}]},"status":{"phase":"x"}}`},
		{[]string{"spec", "taints", "2"}, "1", ""},
		{[]string{"status", "phase"}, "x", ""},
		{[]string{"spec", "taints", "-1"}, "x", ""},
		{[]string{"spec", "size", "x"}, "1", ""},
	} {
		to, err := Value(test.to)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := WithField([]byte(stored), test.path, to)
		if string(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v = %s: %s, %v; want %s", test.path, test.to, got, err, test.want)
		}
	}
	if _, was, err := WithField([]byte(stored), []string{"spec", "size"}, 2); err != nil || was != 1.0 {
		t.Errorf("it was %v, %v", was, err)
	}
}
