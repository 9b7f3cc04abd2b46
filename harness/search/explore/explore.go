// Package explore keeps what a search over schedules has done: which were drawn, what came of
// each, what they have covered, and which invariants were broken. It draws the next one, and
// plays none itself.
package explore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/schedule"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/seed"
)

// Files of an exploration's folder.
const (
	settingsFile = "explore.json"
	playsFile    = "plays.ndjson"
	schedules    = "schedules"
)

// Settings are what an exploration is about; one that goes on has the same.
type Settings struct {
	Target  string   `json:"target"`
	Site    string   `json:"site"`
	Profile string   `json:"profile"`
	Faults  []string `json:"faults,omitempty"`
	// Before are the releases before the target that run first where a schedule upgrades it, the last first.
	Before []string `json:"before,omitempty"`
	Seed   uint64   `json:"seed"`
	// Again is how often a suspect is played again, to know how often it shows.
	Again int `json:"again,omitempty"`
}

func (s Settings) drawing() schedule.Drawing {
	_, version, _ := strings.Cut(s.Target, "@")
	return schedule.Drawing{Site: s.Site, Profile: s.Profile, Version: version, Before: s.Before, Faults: s.Faults}
}

// Play is one schedule and what came of it.
type Play struct {
	N int `json:"n"` // from 1
	// Parent is the play whose schedule this one's was drawn from; zero: from nothing.
	Parent int `json:"parent,omitempty"`
	// Again is the play of which this is another one, of the same schedule.
	Again   int             `json:"again,omitempty"`
	Verdict verdict.Verdict `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	// Keys are what it broke: names of invariants, and Liveness.
	Keys []string `json:"keys,omitempty"`
	// Why says of each key what broke it.
	Why map[string]string `json:"why,omitempty"`
	// Known are the documented failures that explain a key.
	Known map[string]string `json:"known,omitempty"`
	// DiedAtOnce says that the target died before it could do anything.
	DiedAtOnce bool `json:"diedAtOnce,omitempty"`
	// New is what none before it had covered.
	New            []string `json:"new,omitempty"`
	VirtualSeconds float64  `json:"virtualSeconds"`
	WallSeconds    float64  `json:"wallSeconds"`
	// Run is the folder of the run, if it was kept.
	Run string `json:"run,omitempty"`
}

// Suspects are its keys that no documented failure explains.
func (p Play) Suspects() (keys []string) {
	for _, key := range p.Keys {
		if p.Known[key] == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// Exploration is a search. It is safe for concurrent use.
type Exploration struct {
	Settings
	dir string

	mu      sync.Mutex
	next    int
	plays   []Play
	covered map[string]bool
	fertile []int       // plays that covered something new, and broke nothing
	again   map[int]int // how often a play is to be played again, still
	log     *os.File
}

// Open begins an exploration in a folder, or goes on with the one that is there.
func Open(dir string, s Settings) (*Exploration, error) {
	if err := s.drawing().Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, schedules), 0o755); err != nil {
		return nil, err
	}
	e := &Exploration{Settings: s, dir: dir, next: 1, covered: map[string]bool{}, again: map[int]int{}}
	path := filepath.Join(dir, settingsFile)
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	want = append(want, '\n')
	have, err := strict.ReadFile(path, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.WriteFile(path, want, 0o644)
	case err == nil && string(have) != string(want):
		return nil, fmt.Errorf("%s has another exploration, of %s; go on with its flags, or name another folder", dir, oneline.Of(string(have)))
	}
	if err != nil {
		return nil, err
	}
	if err := strict.Regular(filepath.Join(dir, playsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if e.log, err = os.OpenFile(filepath.Join(dir, playsFile), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := lock(e.log); err != nil {
		_ = e.log.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another exploration goes on there; end it, or name another folder")
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err := e.read(); err != nil {
		_ = e.log.Close()
		return nil, err
	}
	return e, nil
}

// read takes in what was played before. A last line that was cut off is taken off.
func (e *Exploration) read() error {
	r := bufio.NewReader(e.log)
	at := int64(0)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				return e.log.Truncate(at)
			}
			return nil
		}
		var p Play
		if err := json.Unmarshal(line, &p); err != nil {
			return fmt.Errorf("%s: line %d: %w", playsFile, len(e.plays)+1, err)
		}
		at += int64(len(line))
		e.add(p)
		if p.Again != 0 {
			// mutant: who goes on plays suspects again from the beginning
			e.again[p.Again]--
		}
		e.next = max(e.next, p.N+1)
	}
}

func (e *Exploration) add(p Play) {
	if slices.ContainsFunc(p.Suspects(), func(key string) bool { return e.isFirst(p, key) && e.first(key) == 0 }) {
		e.again[p.N] += e.Again
	}
	for _, key := range p.New {
		e.covered[key] = true
	}
	// What has broken something would only break it again.
	// mutant: schedules are drawn from what broke something
	if len(p.New) > 0 && len(p.Keys) == 0 && p.Verdict != verdict.Inconclusive {
		e.fertile = append(e.fertile, p.N)
	}
	e.plays = append(e.plays, p)
}

// first is the play that showed a key first which no documented failure explains; zero: none did.
func (e *Exploration) first(key string) int {
	for _, p := range e.plays {
		if e.isFirst(p, key) && slices.Contains(p.Suspects(), key) {
			return p.N
		}
	}
	return 0
}

// isFirst reports whether what a play shows is its own finding: it is the first of its schedule, or the
// first that shows it.
func (e *Exploration) isFirst(p Play, key string) bool {
	return p.Again == 0 || !slices.ContainsFunc(e.plays, func(of Play) bool {
		return of.N < p.N && (of.N == p.Again || of.Again == p.Again) && slices.Contains(of.Keys, key)
	})
}

// lived reports whether the target has not died at once in every play so far.
func (e *Exploration) lived() bool {
	return len(e.plays) == 0 || slices.ContainsFunc(e.plays, func(p Play) bool { return !p.DiedAtOnce })
}

// neverLives is after how many schedules, in all of which the target died at once, it is not to be
// expected that it ever lives.
const neverLives = 3

// Futile reports whether nothing is to be learned of the target: it has died at once in every
// schedule, and there were some.
func (e *Exploration) Futile() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.plays) >= neverLives && !e.lived()
}

// Close ends it.
func (e *Exploration) Close() error { return e.log.Close() }

// Next draws the next schedule and writes it, and its feature, into a folder of its own.
func (e *Exploration) Next() (p Play, feature string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.N = e.next
	for _, n := range slices.Sorted(maps.Keys(e.again)) {
		if e.again[n] <= 0 || !e.lived() { // another schedule shows more of a target that has never lived
			continue
		}
		s, err := schedule.Load(e.schedule(n))
		if err != nil {
			return p, "", err
		}
		// mutant: a suspect is played again for ever
		e.again[n]--
		e.next++
		p.Again = n
		feature, err = Write(e.folder(p.N), fmt.Sprintf("schedule-%d", p.N), s)
		return p, feature, err
	}
	random := seed.Stream(e.Seed, "explore", fmt.Sprint(p.N))
	s, err := e.draw(&p, random)
	if err != nil {
		return p, "", fmt.Errorf("drawing the schedule %d: %w", p.N, err)
	}
	e.next++
	feature, err = Write(e.folder(p.N), fmt.Sprintf("schedule-%d", p.N), s)
	return p, feature, err
}

// draw draws from nothing, or two times of three, once there are some, from a schedule that
// has covered something new and broken nothing; from later ones sooner.
func (e *Exploration) draw(p *Play, random *rand.Rand) (schedule.Schedule, error) {
	from := random.Uint64()
	if len(e.fertile) == 0 || random.IntN(3) == 0 {
		return e.drawing().Draw(from)
	}
	i := max(random.IntN(len(e.fertile)), random.IntN(len(e.fertile)))
	parent, err := schedule.Load(e.schedule(e.fertile[i]))
	if err != nil {
		return parent, err
	}
	p.Parent = e.fertile[i]
	return e.drawing().Vary(parent, from)
}

// Write writes a schedule and its feature as NAME.yaml and NAME.feature.
func Write(dir, name string, s schedule.Schedule) (feature string, err error) {
	text, err := s.Feature()
	if err != nil {
		return "", err
	}
	feature = filepath.Join(dir, name+".feature")
	return feature, errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, name+".yaml"), s.YAML(), 0o644),
		os.WriteFile(feature, []byte(text), 0o644),
	)
}

func (e *Exploration) folder(n int) string {
	return filepath.Join(e.dir, schedules, fmt.Sprint(n))
}

func (e *Exploration) schedule(n int) string {
	return filepath.Join(e.folder(n), fmt.Sprintf("schedule-%d.yaml", n))
}

// Schedule is the one of a play.
func (e *Exploration) Schedule(n int) (schedule.Schedule, error) {
	return schedule.Load(e.schedule(n))
}

// Learn notes what came of a play, and of what it has covered what is new.
func (e *Exploration) Learn(p Play, covered []string) (Play, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.Verdict != verdict.Inconclusive {
		for _, key := range covered {
			if !e.covered[key] {
				p.New = append(p.New, key)
			}
		}
	}
	line, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	if _, err := e.log.Write(append(line, '\n')); err != nil {
		return p, err
	}
	e.add(p)
	return p, nil
}

// Found is a key that plays have shown, with the first of them.
type Found struct {
	Key   string `json:"key"`
	Known string `json:"known,omitempty"`
	First int    `json:"first"`
	Plays int    `json:"plays"`
	// Shown of Decided plays of the first one's schedule showed it: it, and those again.
	Shown   int `json:"shown"`
	Decided int `json:"decided"`
}

// Unstable reports whether a suspect shows in less than nine of ten plays.
func (f Found) Unstable() bool { return f.Shown*10 < f.Decided*9 }

// Summary is how an exploration stands.
type Summary struct {
	Settings
	Plays        int `json:"plays"`
	Inconclusive int `json:"inconclusive"`
	Covered      int `json:"covered"`
	// VirtualHours and WallHours count what was played.
	VirtualHours float64 `json:"virtualHours"`
	WallHours    float64 `json:"wallHours"`
	Found        []Found `json:"found"`
}

// Summary summarizes the exploration so far.
func (e *Exploration) Summary() Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Summary{Settings: e.Settings, Plays: len(e.plays), Covered: len(e.covered), Found: []Found{}}
	for _, p := range e.plays {
		if p.Verdict == verdict.Inconclusive {
			s.Inconclusive++
		}
		s.VirtualHours += p.VirtualSeconds / 3600
		s.WallHours += p.WallSeconds / 3600
		for _, key := range p.Keys {
			if !e.isFirst(p, key) {
				continue
			}
			known := p.Known[key]
			i := slices.IndexFunc(s.Found, func(f Found) bool { return f.Key == key && f.Known == known })
			if i < 0 {
				s.Found = append(s.Found, Found{Key: key, Known: known, First: p.N})
				i = len(s.Found) - 1
			}
			s.Found[i].Plays++
		}
	}
	for i := range s.Found {
		f := &s.Found[i]
		for _, p := range e.plays {
			if p.N != f.First && p.Again != f.First || p.Verdict == verdict.Inconclusive {
				continue
			}
			f.Decided++
			if slices.Contains(p.Keys, f.Key) {
				f.Shown++
			}
		}
	}
	return s
}
