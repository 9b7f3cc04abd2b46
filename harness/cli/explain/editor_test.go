package explain

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// languageServer is a yaml-language-server of npm: that of make editor, or one on the PATH.
func languageServer(t *testing.T) string {
	t.Helper()
	if path, err := filepath.Abs(filepath.Join(root, "bin/npm/node_modules/.bin/yaml-language-server")); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("yaml-language-server")
	if err != nil {
		t.Skip("no yaml-language-server: make editor installs it, with npm")
	}
	return path
}

// editor is what an editor is to a language server: the other end of JSON-RPC.
type editor struct {
	to       io.Writer
	messages chan message
	last     int
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// start starts a server, which ends with the test.
func start(t *testing.T, server string) *editor {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), server, "--stdio")
	to, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{to: to, messages: make(chan message, 100)}
	go e.read(bufio.NewReader(from))
	t.Cleanup(func() { _ = to.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return e
}

func (e *editor) read(from *bufio.Reader) {
	defer close(e.messages)
	for {
		header, err := textproto.NewReader(from).ReadMIMEHeader()
		if err != nil {
			return
		}
		size, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		text := make([]byte, size)
		var m message
		if _, err := io.ReadFull(from, text); err != nil || json.Unmarshal(text, &m) != nil {
			return
		}
		e.messages <- m
	}
}

func (e *editor) send(t *testing.T, of map[string]any) {
	t.Helper()
	of["jsonrpc"] = "2.0"
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.to, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		t.Fatal(err)
	}
}

func (e *editor) notify(t *testing.T, method string, params any) {
	t.Helper()
	e.send(t, map[string]any{"method": method, "params": params})
}

// ask returns the answer, and hears answers what comes before it.
func (e *editor) ask(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	e.last++
	id := strconv.Itoa(e.last)
	e.send(t, map[string]any{"id": e.last, "method": method, "params": params})
	return e.await(t, func(m message) bool { return m.Method == "" && string(m.ID) == id }).Result
}

// await waits for a message, and answers what the server asks of an editor.
func (e *editor) await(t *testing.T, is func(message) bool) message {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case m, open := <-e.messages:
			switch {
			case !open:
				t.Fatal("the server has ended")
			case m.Method != "" && len(m.ID) > 0:
				settings := map[string]any{"validate": true, "completion": true, "hover": true, "schemaStore": map[string]any{"enable": false}}
				e.send(t, map[string]any{"id": m.ID, "result": []any{settings, map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}}})
			case is(m):
				return m
			}
		case <-late:
			t.Fatal("no such message within a minute")
		}
	}
}

// An editor with yaml-language-server finds what is wrong with a record by the schema beside it, and completes fields.
func TestEditor(t *testing.T) {
	server := languageServer(t)
	dir := t.TempDir()
	schema, err := Text("record")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "record.schema.json"), schema, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "# yaml-language-server: $schema=record.schema.json\n" + strings.NewReplacer("system: karpenter", "system: karpentr",
		"title: ", "titel: ", "source: api, verb: create", "source: apo, verb: create").Replace(good) + "s\n"
	uri := (&url.URL{Scheme: "file", Path: filepath.Join(dir, "mine.yaml")}).String()
	e := start(t, server)
	e.ask(t, "initialize", map[string]any{"processId": os.Getpid(), "rootUri": (&url.URL{Scheme: "file", Path: dir}).String(),
		"capabilities": map[string]any{"workspace": map[string]any{"configuration": true}}})
	e.notify(t, "initialized", map[string]any{})
	open := func(text string) {
		e.notify(t, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	}
	open(strings.TrimSuffix(text, "s\n"))
	var found struct {
		Diagnostics []struct{ Message string }
	}
	e.await(t, func(m message) bool {
		return m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(m.Params, &found) == nil && len(found.Diagnostics) >= 3
	})
	said := fmt.Sprint(found.Diagnostics)
	for _, want := range []string{"titel", `"hetzner"`, `"api"`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	e.notify(t, "textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2},
		"contentChanges": []any{map[string]any{"text": text}}})
	offered := string(e.ask(t, "textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": uri},
		"position": map[string]any{"line": strings.Count(text, "\n") - 1, "character": 1}}))
	for _, want := range []string{"summary", "mechanism", "invariants"} {
		if !strings.Contains(offered, `"label":"`+want+`"`) {
			t.Errorf("%s is not offered: %.2000s", want, offered)
		}
	}
}
