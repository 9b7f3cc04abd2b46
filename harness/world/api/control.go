// Package api is how commands reach a world that another command keeps up: HTTP on a
// socket in the world's folder, which only its user can open. It knows nothing of what is
// asked for.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// socket is the file in the world's folder.
const socket = "control"

// mostBytes bounds a question and an answer.
const mostBytes = 4 << 20

// Server answers until it is closed.
type Server struct {
	http *http.Server
	done chan struct{}
}

// Serve answers with handler at a socket in the folder dir, which must be the user's own.
func Serve(dir string, handler http.Handler) (*Server, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		return nil, fmt.Errorf("%w; a shorter TMPDIR may be what it needs", err)
	}
	s := &Server{http: &http.Server{Handler: http.MaxBytesHandler(handler, mostBytes), ReadHeaderTimeout: 10 * time.Second},
		done: make(chan struct{})}
	go func() { defer close(s.done); _ = s.http.Serve(l) }()
	return s, nil
}

// Close ends the server and removes the socket.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// private says what is wrong with a folder that others could put a socket into.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, is := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !is || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s is no folder of yours alone", dir)
	}
	return nil
}

// Find finds the folder of a world that answers: that of the kubeconfig, if it is one of a
// world, or else the only one below temp whose name has the prefix.
func Find(ctx context.Context, kubeconfig, temp, prefix string) (string, error) {
	if dir := filepath.Dir(kubeconfig); kubeconfig != "" && strings.HasPrefix(filepath.Base(dir), prefix) {
		if answers(ctx, dir) {
			return dir, nil
		}
		return "", fmt.Errorf("the world of KUBECONFIG=%s is over; nodestorm up starts another", kubeconfig)
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		return "", err
	}
	var found []string
	for _, entry := range entries {
		if dir := filepath.Join(temp, entry.Name()); strings.HasPrefix(entry.Name(), prefix) && answers(ctx, dir) {
			found = append(found, dir)
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("no world is running; nodestorm up starts one")
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", fmt.Errorf("%d worlds are running; set KUBECONFIG as the nodestorm up of the one that is meant has printed", len(found))
}

func answers(ctx context.Context, dir string) bool {
	if private(dir) != nil {
		return false
	}
	c, err := dial(ctx, dir)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

func dial(ctx context.Context, dir string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "unix", filepath.Join(dir, socket))
}

// Call asks the world in a folder, and fills answer in, unless it is nil.
func Call(ctx context.Context, dir, method, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://world"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, dir) },
	}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("asking the world: %w", errors.Unwrap(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	switch {
	case err != nil:
		return fmt.Errorf("asking the world: %w", err)
	case response.StatusCode != http.StatusOK:
		return errors.New(strings.TrimSpace(string(text)))
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// Handle is a handler that reads a question and answers it. Errors are one line.
func Handle[Question, Answer any](answer func(Question) (Answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked Question
		err := json.NewDecoder(r.Body).Decode(&asked)
		var is Answer
		if err == nil {
			is, err = answer(asked)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_ = json.NewEncoder(w).Encode(is)
	}
}
