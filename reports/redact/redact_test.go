package redact_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/redact"
)

func TestCredentialsAreRemoved(t *testing.T) {
	const key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
	tests := map[string]string{
		"header":          `GET / Authorization: Bearer ` + key,
		"JSON":            `{"level":"info","token":"` + key + `","seq":1}`,
		"escaped JSON":    `{"msg":"{\"hcloud_token\":\"` + key + `\"}"}`,
		"environment":     `HCLOUD_TOKEN=` + key,
		"YAML":            `    client-key-data: ` + key,
		"JWT":             `x eyJhbGciOiJSUzI1NiIsImtpZCI6Ik.eyJpc3MiOiJrdWJlcm5ldGVzL3Nl.` + key,
		"bootstrap token": `kubeadm join --discovery abcdef.0123456789abcdef password: ` + key,
		"one-line key":    `{"key":"-----BEGIN RSA PRIVATE KEY-----\n` + key + `\n-----END RSA PRIVATE KEY-----"}`,
		"key":             "before\n-----BEGIN EC PRIVATE KEY-----\n" + key + "\n" + key + "\n-----END EC PRIVATE KEY-----\nafter",
		"URL":             `https://user:` + key + `@example.com/`,
		"user of a URL":   `git clone https://` + key + `@example.com/`,
		"flag":            `k3s agent --server https://10.0.0.1:6443 --token ` + key + `::server:` + key,
		"flag, quoted":    `kubeadm join --certificate-key "` + key + `"`,
		"list of words":   `{"args":["kubeadm","join","--token","` + key + `"]}`,
		"secret key":      `AWS_SECRET_KEY=` + key,
		"secretKey":       `{"secretKey":"` + key + `"}`,
		"passphrase":      `GPG_PASSPHRASE=` + key,
		"encryption key":  `encryption_key: ` + key,
		"variable":        "env:\n- name: HCLOUD_TOKEN\n  value: " + key + "\n- name: OTHER\n  value: plain",
		"text of a key":   "before: 1\nclient-key-password: |-\n  " + key + "\n\n  " + key + "\nafter: 2",
		"text of a value": "- name: MY_PASSWORD\n  value: >-\n    " + key + "\n  other: plain",
		"escaped list":    `{"body":"{\"args\":[\"--token\", \"` + key + `\"]}"}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			r := &redact.Redactor{}
			var out bytes.Buffer
			if err := r.Copy(&out, strings.NewReader(text+"\n")); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), key[:20]) || strings.Contains(out.String(), "0123456789abcdef") || r.Count == 0 {
				t.Errorf("%d removed, left: %s", r.Count, out.String())
			}
			if name == "key" && (!strings.HasPrefix(out.String(), "before\n") || !strings.Contains(out.String(), "\nafter\n")) {
				t.Errorf("more than the key is gone: %q", out.String())
			}
		})
	}
}

// What follows a secret stays, and so does what only looks like one.
func TestWhatFollowsStays(t *testing.T) {
	for text, want := range map[string]string{
		"- name: HCLOUD_TOKEN\n  value: abcdefgh # why\n- name: OTHER\n  value: plain": "- name: HCLOUD_TOKEN\n  value: [removed]\n- name: OTHER\n  value: plain",
		"- name: HCLOUD_TOKEN\n  valueFrom: {}\n  value: plain":                        "- name: HCLOUD_TOKEN\n  valueFrom: {}\n  value: plain",
		"password: |\n  abc\n  def\nuser: me\n  deep: 1":                               "password: |\n\n\nuser: me\n  deep: 1",
		"summary: >-\n  A text\nname: web\nvalue: 3":                                   "summary: >-\n  A text\nname: web\nvalue: 3",
	} {
		if got := new(redact.Redactor).Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A key whose end is missing takes what may be of it, and not all that follows.
func TestCutOffKeys(t *testing.T) {
	const begin = "-----BEGIN RSA PRIVATE KEY-----"
	for name, test := range map[string]struct{ text, want string }{
		"within an event":     {`{"message":"` + begin + `\nMIIEvQIBADANBg (cut)"}` + "\nnext\n", `{"message":"[removed]"}` + "\nnext\n"},
		"within a text of it": {`{"message":"{\"key\":\"` + begin + `\\nMIIE\"}"}` + "\n", `{"message":"{\"key\":\"[removed]\"}"}` + "\n"},
		"in lines":            {begin + "\n" + strings.Repeat("MIIE\n", 255) + "last\nnext\n", "[removed]" + strings.Repeat("\n", 257) + "next\n"},
		"at the end":          {begin + "\nMIIE", "[removed]\n"},
	} {
		var out bytes.Buffer
		if err := (&redact.Redactor{}).Copy(&out, strings.NewReader(test.text)); err != nil || out.String() != test.want {
			t.Errorf("%s: %q, %v; want %q", name, out.String(), err, test.want)
		}
	}
}

// What is cut off a long line, and the piece of a credential before it, is gone.
func TestCutOffLines(t *testing.T) {
	const most = 4 << 20
	secret := "hunter2hunter2hunter2"
	for name, line := range map[string]string{
		"behind the cut": strings.Repeat("x ", most/2) + "token=" + secret,
		"at the cut":     strings.Repeat("x ", most/2-8) + "token=" + secret + strings.Repeat(" y", 1<<20),
		"before it":      "token=" + secret + strings.Repeat(" x", most),
	} {
		var out bytes.Buffer
		if err := (&redact.Redactor{}).Copy(&out, strings.NewReader(line+"\nnext\n")); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Contains(text, secret[:6]) {
			t.Errorf("%s: the credential is left", name)
		}
		if len(text) > most+100 || !strings.HasSuffix(text, " [cut after 4 MiB]\nnext\n") {
			t.Errorf("%s: %d bytes, which end in %q", name, len(text), text[max(0, len(text)-60):])
		}
	}
}

// A line takes time by its length, whatever it holds: some hundredths of a second each. By
// the square of the length it were hours, and the test would not end.
func TestLongLinesOfHints(t *testing.T) {
	for _, unit := range []string{"x", "token ", "token=", "bearer ", "bearer  ", "://a:", "://", "-----BEGIN A PRIVATE KEY----- ", "-----BEGIN ", "eyJ", "eyJ-", "eyJaaaaaa.", ".", "abcdef.0123456789abcdef ", "secret\\\" : ", "token=\"", "token='\"", "token=\\'\" ", "--token-", "token,", "--token\",", "://a@"} {
		line := []byte(strings.Repeat(unit, 2<<20/len(unit)))
		if got := (&redact.Redactor{}).Line(line); len(got) == 0 {
			t.Errorf("nothing is left of %q", unit)
		}
	}
}

// Whatever a line holds, what is left of it has no credential, and only credentials
// are gone.
func FuzzLine(f *testing.F) {
	for _, line := range []string{"token=abcdefgh", `{"a":"\"password\": \"hunter22\""}`, "https://a:b@c", "eyJhbGciOiJI.eyJhbGciOiJI.x", "a abcdef.0123456789abcdef", "Authorization: Bearer abcdefghij", "Authorization: token abcdefgh", `{"name":"X_TOKEN","value":"abcdefgh"}`, "- password: a b # c", "-----BEGIN PRIVATE KEY-----a-----END PRIVATE KEY-----"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r := &redact.Redactor{}
		clean := bytes.Clone(r.Line(bytes.Clone(line)))
		if r.Count == 0 && len(clean) > 0 && !bytes.Equal(clean, line) {
			t.Errorf("%q became %q without a credential", line, clean)
		}
		if bytes.Contains(line, []byte(redact.Removed)) {
			return // a piece between two of those may look like a credential by itself
		}
		again := &redact.Redactor{}
		if again.Line(clean); again.Count > 0 {
			t.Errorf("%q became %q, which has %d more", line, clean, again.Count)
		}
	})
}

// A password may have any character; what is beside it stays.
func TestWholePasswords(t *testing.T) {
	for line, want := range map[string]string{
		`{"password":"pa,ssw0rd-rest","a":"b"}`:                          `{"password":"[removed]","a":"b"}`,
		`{"password":"pa\"ss\\","a":"b"}`:                                `{"password":"[removed]","a":"b"}`,
		`{"m":"{\"password\":\"pa\\\"ss\\\\\",\"a\":1}","a":"b"}`:        `{"m":"{\"password\":\"[removed]\",\"a\":1}","a":"b"}`,
		`{"m":"password=\"hunter22 (cut off)","a":"b"}`:                  `{"m":"password=\"[removed]","a":"b"}`,
		`{"m":"password='hunter22 \"(cut off)","a":"b"}`:                 `{"m":"password='[removed]\"(cut off)","a":"b"}`,
		`password: "correct horse battery" # staple`:                     `password: "[removed]" # staple`,
		`password: 'it''s horse' # staple`:                               `password: '[removed]' # staple`,
		`password: abc`:                                                  `password: abc`, // a word of prose, or empty
		`{"name":"X_TOKEN","value":"pa,ss","a":"b"}`:                     `{"name":"X_TOKEN","value":"[removed]","a":"b"}`,
		`{"m":"{\"name\": \"X_SECRET\", \"value\": \"pa ss\"}","a":1}`:   `{"m":"{\"name\": \"X_SECRET\", \"value\": \"[removed]\"}","a":1}`,
		`- {name: X_TOKEN, value: hunter22}`:                             `- {name: X_TOKEN, value: [removed]}`,
		`{"name":"X_TOKEN","valueFrom":{"a":"b"}}`:                       `{"name":"X_TOKEN","valueFrom":{"a":"b"}}`,
		`  password: correct horse battery # staple`:                     `  password: [removed] # staple`,
		`- api-key: correct, horse battery`:                              `- api-key: [removed]`,
		`I1122 main.go:3] the token: expired an hour ago`:                `I1122 main.go:3] the token: [removed] an hour ago`,
		`curl -H Authorization: token hunter22 https://a`:                `curl -H Authorization: [removed] https://a`,
		`password=pa,ssw0rd-rest user=a`:                                 `password=[removed] user=a`,
		`a=1,token=abcd{e}f,b=2`:                                         `a=1,token=[removed],b=2`,
		`{a: 1, token: pa\$$word}`:                                       `{a: 1, token: [removed]}`,
		`{"token":12345678,"secrets":null,"tokens":[],"secret":{"a":1}}`: `{"token":[removed],"secrets":null,"tokens":[],"secret":{"a":1}}`,
		`{"m":"password=hunter22\nnext","a":"b"}`:                        `{"m":"password=[removed]\nnext","a":"b"}`,
		`useradd --password hunter22 --secret --verbose`:                 `useradd --password [removed] --secret --verbose`,
		`{"m":"no flag --token","next":"x"}`:                             `{"m":"no flag --token","next":"x"}`,
		`the token has the-long-name-of-something`:                       `the token has the-long-name-of-something`,
		`https://a:p@ss@b/c@d`:                                           `https://a:[removed]@b/c@d`,
		`ssh://git@github.com/a/b docker://pause@sha256:abc`:             `ssh://git@github.com/a/b docker://pause@sha256:abc`,
	} {
		r := &redact.Redactor{}
		if got := string(r.Line([]byte(line))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", line, got, want)
		}
	}
}

// Whatever a password is, it is gone from JSON, and from JSON in JSON, and only it.
func FuzzPassword(f *testing.F) {
	for _, password := range []string{"hunter22", `a"b'c\d`, "a, b; c & d", `\\"`, "{[]}"} {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		if len(password) < 4 || strings.Contains(redact.Removed, password) {
			return
		}
		inner, err := json.Marshal(map[string]string{"a": "before", "password": password, "z": "after"})
		if err != nil {
			t.Fatal(err)
		}
		outer, err := json.Marshal(map[string]string{"message": string(inner)})
		if err != nil {
			t.Fatal(err)
		}
		read := func(line []byte) (fields map[string]string) {
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Errorf("%q: %s is no JSON: %v", password, line, err)
			}
			return fields
		}
		want := map[string]string{"a": "before", "password": redact.Removed, "z": "after"}
		if got := read((&redact.Redactor{}).Line(bytes.Clone(inner))); !maps.Equal(got, want) {
			t.Errorf("%q: %s became %v", password, inner, got)
		}
		if got := read([]byte(read((&redact.Redactor{}).Line(bytes.Clone(outer)))["message"])); !maps.Equal(got, want) {
			t.Errorf("%q: %s became %v", password, outer, got)
		}
	})
}

// The story stays, byte for byte.
func TestTheRestStays(t *testing.T) {
	text, err := os.ReadFile("../page/testdata/affected.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	r := &redact.Redactor{Texts: map[string]string{"/home/jane": "~"}}
	var out bytes.Buffer
	if err := r.Copy(&out, strings.NewReader(string(text)+"no end of line /home/jane/x")); err != nil {
		t.Fatal(err)
	}
	if out.String() != string(text)+"no end of line ~/x" || r.Count != 0 {
		t.Errorf("%d removed of a history without credentials", r.Count)
	}
	const event = `"name":"cluster-autoscaler-status.18ba0d5f7e3c1a42"`
	if got := r.Line([]byte(event)); string(got) != event {
		t.Errorf("the name of an Event became %s", got)
	}
	long := strings.Repeat("x", 5<<20)
	out.Reset()
	if err := r.Copy(&out, strings.NewReader(long+"\nnext\n")); err != nil || out.Len() > 9<<19 || !strings.HasSuffix(out.String(), "MiB]\nnext\n") {
		t.Errorf("a line of 5 MiB became %d bytes, %v", out.Len(), err)
	}
}

// Of a user there is neither the folder nor the name; words that have it in them stay.
func TestUser(t *testing.T) {
	r := &redact.Redactor{Texts: map[string]string{"/home/alice": "~"}, User: "alice"}
	for text, want := range map[string]string{
		"open /home/alice/x: alice may not":      "open ~/x: user may not",
		"/tmp/alice/y, malice, alices, ALICE_1":  "/tmp/user/y, malice, alices, ALICE_1",
		`{"user":"alice","home":"/home/alice"}`:  `{"user":"user","home":"~"}`,
		"alice":                                  "user",
		"line one of alice\nline two of alice\n": "line one of user\nline two of user\n",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// The names of a machine and its user stay where they are words of what happens there, and what was replaced is said.
func TestMachine(t *testing.T) {
	feature := func(word string) bool { return word == "karpenter" || word == "pooled-host" }
	for _, test := range []struct {
		machine    redact.Machine
		text, want string
		replaced   string
	}{
		{machine: redact.Machine{User: "default"}, text: `{"namespace":"default"}`, want: `{"namespace":"default"}`},
		{machine: redact.Machine{User: "source"}, text: `{"seq":1,"source":"api"}`, want: `{"seq":1,"source":"api"}`},
		{machine: redact.Machine{User: "kube-system", Host: "kubernetes"}, text: "kubernetes kube-system", want: "kubernetes kube-system"},
		{machine: redact.Machine{User: "karpenter"}, text: "karpenter-7515", want: "karpenter-7515"},
		{machine: redact.Machine{Host: "pooled-host"}, text: "on pooled-host", want: "on pooled-host"},
		{machine: redact.Machine{User: "alice"}, text: "by alice", want: "by user", replaced: `the user's name "alice"`},
		{machine: redact.Machine{User: "alice", Host: "the-laptop", Home: "/home/alice", Environment: []string{"A_TOKEN=abcdefgh"}},
			text: "alice /home/alice/x the-laptop abcdefgh", want: "user ~/x host [removed]",
			replaced: `the home folder "/home/alice", the machine's name "the-laptop", the user's name "alice", the value of the variable A_TOKEN`},
	} {
		r := test.machine.Redactor(feature)
		if got := r.Text(test.text); got != test.want || strings.Join(r.Replaced(), ", ") != test.replaced {
			t.Errorf("%+v: %q, replaced %q; want %q, %q", test.machine, got, r.Replaced(), test.want, test.replaced)
		}
	}
}

func TestSecretsOfAnEnvironment(t *testing.T) {
	got := redact.Secrets([]string{"HOME=/home/jane", "GITHUB_TOKEN=ghp_12345678", "aws_secret_access_key=abcdefgh", "DB_PASSWORD=short", "SSL_KEY_FILE=/dev/null", "X_KEY"})
	if want := []string{"ghp_12345678", "abcdefgh"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A secret is found as text and as JSON has it, each line of it, and whole where another
// one begins as it does.
func TestSecretsInOtherForms(t *testing.T) {
	t.Setenv("A_TOKEN", "begins-alike")
	t.Setenv("B_TOKEN", "begins-alike-and-goes-on")
	t.Setenv("C_PASSWORD", `p&ss"w<rd\9081`)
	t.Setenv("D_KEY", "first line of it\nand the second\n")
	number, err := json.Marshal(os.Getenv("C_PASSWORD"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"it is begins-alike-and-goes-on.":             "it is [removed].",
		"it is begins-alike.":                         "it is [removed].",
		`it is p&ss"w<rd\9081.`:                       "it is [removed].",
		"it is " + string(number) + ".":               `it is "[removed]".`,
		`it is "p&ss\"w<rd\\9081".`:                   `it is "[removed]".`,
		`it is "first line of it\nand the second\n".`: `it is "[removed]".`,
		"it is\nfirst line of it\nand the second":     "it is\n[removed]\n[removed]",
	} {
		for range 5 { // the order of maps is another each time
			if got := redact.ForHere().Text(text); got != want {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
		}
	}
}

// A value whose strings look like one credential that goes on in the next is one still, without what each has.
func TestValuesStayValues(t *testing.T) {
	type value struct {
		Name string
		List []string
		More map[string]int
	}
	v := value{"a password='; the rest", []string{"'; token=0123456789abcdef0123456789abcdef"}, map[string]int{"a": 7}}
	if err := (&redact.Redactor{}).JSON(&v); err != nil || v.More["a"] != 7 || strings.Contains(v.List[0], "0123456789abcdef") || !strings.HasPrefix(v.Name, "a ") {
		t.Errorf("%+v, %v", v, err)
	}
}
