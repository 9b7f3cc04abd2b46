package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// Names of what is left in the folder.
const (
	page = "profile.html"
	raw  = "profile.pb.gz"
)

// write writes the profile and its page.
func (s *seen) write(folder string) error {
	file, err := os.Create(filepath.Join(folder, raw))
	if err != nil {
		return err
	}
	if err := errors.Join(s.profile.Write(file), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", raw, err)
	}
	html, err := flameGraph(s.profile)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", page, err)
	}
	return os.WriteFile(filepath.Join(folder, page), html, 0o644)
}

// flameGraph is pprof's own page of one, with a root for each program. pprof would serve it:
// it is asked once, and nothing listens.
func flameGraph(p *profile.Profile) ([]byte, error) {
	var html []byte
	err := driver.PProf(&driver.Options{
		Flagset: &flags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError),
			args: []string{"-http=127.0.0.1:1", "-no_browser", "-symbolize=none", "-tagroot=" + label, raw}},
		Fetch: fetched{p},
		UI:    silent{},
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			answer := httptest.NewRecorder()
			args.Handlers["/flamegraph"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/flamegraph", nil))
			if answer.Code != http.StatusOK {
				return fmt.Errorf("pprof answers %d: %s", answer.Code, answer.Body)
			}
			html = answer.Body.Bytes()
			return nil
		},
	})
	return html, err
}

// flags are pprof's, from a list and not from our command line.
type flags struct {
	*flag.FlagSet
	args []string
}

func (f *flags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}
func (f *flags) Parse(usage func()) []string {
	f.Usage = usage
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

// fetched is a profile that is there already.
type fetched struct{ profile *profile.Profile }

func (f fetched) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.profile, "", nil
}

// silent is the user interface of pprof without a user.
type silent struct{}

func (silent) ReadLine(string) (string, error)     { return "", errors.New("no question is asked") }
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}
