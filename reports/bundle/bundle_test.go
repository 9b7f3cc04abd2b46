package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/bundle"
)

// archive is a gzip-compressed tar archive of the headers, each with content x.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, h := range headers {
		h.Mode = 0o777
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	whole := archive(t, file("run/run.json"))
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"no archive", []byte("junk"), "no bundle of runs"},
		{"empty", archive(t), "the archive is empty"},
		{"cut off", whole[:len(whole)-12], "the archive is damaged"},
		{"out of it", archive(t, file("../evil")), "its name leads out of the archive"},
		{"out of it, later", archive(t, file("a/../../evil")), "its name leads out of the archive"},
		{"absolute", archive(t, file("/etc/evil")), "its name leads out of the archive"},
		{"backslash", archive(t, file(`a\..\..\evil`)), "its name leads out of the archive"},
		{"link", archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}), "neither a file nor a folder"},
		{"through a link", archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: ".."}, file("a/evil")), "neither a file nor a folder"},
		{"hard link", archive(t, tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "/etc/passwd"}), "neither a file nor a folder"},
		{"device", archive(t, tar.Header{Typeflag: tar.TypeChar, Name: "a"}), "neither a file nor a folder"},
		{"twice", archive(t, file("a"), file("a")), "file exists"},
		{"deep", archive(t, file(strings.Repeat("a/", 20)+"b")), "deeper than 8 folders"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "in", "here")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := bundle.Unpack(bytes.NewReader(test.data), dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			for _, outside := range []string{parent, filepath.Dir(dir)} {
				if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
					t.Errorf("outside of the folder: %v, %v", entries, err)
				}
			}
		})
	}
}

// An archive that says it is huge is refused before anything of that is written.
func TestHugeArchive(t *testing.T) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := bundle.Unpack(&out, dir); err == nil || !strings.Contains(err.Error(), "more than 4 GiB") {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
}

func TestPackAndUnpack(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"001-run/run.json": "{}", "001-run/logs/a.log": "line\n"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bundle.Pack(&out, from, "given"); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Unpack(bytes.NewReader(out.Bytes()), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"given/001-run/run.json": "{}", "given/001-run/logs/a.log": "line\n"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "given/link")); err == nil {
		t.Error("a link was packed")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "run/run.json"}))
	f.Add([]byte("junk"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "here")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_ = bundle.Unpack(bytes.NewReader(data), dir) // whether it is refused is its own matter
		if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
			t.Errorf("outside of the folder: %v, %v", entries, err)
		}
	})
}

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
		"escaped list":    `{"body":"{\"args\":[\"--token\", \"` + key + `\"]}"}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			r := &bundle.Redactor{}
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

// A key whose end is missing takes what may be of it, and not all that follows.
func TestCutOffKeys(t *testing.T) {
	const begin = "-----BEGIN RSA PRIVATE KEY-----"
	for name, test := range map[string]struct{ text, want string }{
		"within a record":     {`{"message":"` + begin + `\nMIIEvQIBADANBg (cut)"}` + "\nnext\n", `{"message":"[removed]"}` + "\nnext\n"},
		"within a text of it": {`{"message":"{\"key\":\"` + begin + `\\nMIIE\"}"}` + "\n", `{"message":"{\"key\":\"[removed]\"}"}` + "\n"},
		"in lines":            {begin + "\n" + strings.Repeat("MIIE\n", 255) + "last\nnext\n", "[removed]" + strings.Repeat("\n", 257) + "next\n"},
		"at the end":          {begin + "\nMIIE", "[removed]\n"},
	} {
		var out bytes.Buffer
		if err := (&bundle.Redactor{}).Copy(&out, strings.NewReader(test.text)); err != nil || out.String() != test.want {
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
		if err := (&bundle.Redactor{}).Copy(&out, strings.NewReader(line+"\nnext\n")); err != nil {
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

// A line takes time by its length, whatever it holds.
func TestLongLinesOfHints(t *testing.T) {
	for _, unit := range []string{"x", "token ", "token=", "bearer ", "bearer  ", "://a:", "://", "-----BEGIN A PRIVATE KEY----- ", "-----BEGIN ", "eyJ", "eyJ-", "eyJaaaaaa.", ".", "abcdef.0123456789abcdef ", "secret\\\" : ", "token=\"", "token='\"", "token=\\'\" ", "--token-", "token,", "--token\",", "://a@"} {
		line := []byte(strings.Repeat(unit, 2<<20/len(unit)))
		began := time.Now()
		(&bundle.Redactor{}).Line(line)
		// Some hundredths of a second; hours if it took time by the square of the length.
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("2 MiB of %q take %s", unit, took)
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
		r := &bundle.Redactor{}
		clean := bytes.Clone(r.Line(bytes.Clone(line)))
		if r.Count == 0 && len(clean) > 0 && !bytes.Equal(clean, line) {
			t.Errorf("%q became %q without a credential", line, clean)
		}
		if bytes.Contains(line, []byte(bundle.Removed)) {
			return // a piece between two of those may look like a credential by itself
		}
		again := &bundle.Redactor{}
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
		`the token has the-long-name-of-somebody`:                        `the token has the-long-name-of-somebody`,
		`https://a:p@ss@b/c@d`:                                           `https://a:[removed]@b/c@d`,
		`ssh://git@github.com/a/b docker://pause@sha256:abc`:             `ssh://git@github.com/a/b docker://pause@sha256:abc`,
	} {
		r := &bundle.Redactor{}
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
		if len(password) < 4 || strings.Contains(bundle.Removed, password) {
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
		want := map[string]string{"a": "before", "password": bundle.Removed, "z": "after"}
		if got := read((&bundle.Redactor{}).Line(bytes.Clone(inner))); !maps.Equal(got, want) {
			t.Errorf("%q: %s became %v", password, inner, got)
		}
		if got := read([]byte(read((&bundle.Redactor{}).Line(bytes.Clone(outer)))["message"])); !maps.Equal(got, want) {
			t.Errorf("%q: %s became %v", password, outer, got)
		}
	})
}

// What tells the story stays, byte for byte.
func TestTheRestStays(t *testing.T) {
	text, err := os.ReadFile("../page/testdata/affected.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	r := &bundle.Redactor{Texts: map[string]string{"/home/somebody": "~"}}
	var out bytes.Buffer
	if err := r.Copy(&out, strings.NewReader(string(text)+"no end of line /home/somebody/x")); err != nil {
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
