package buildstore

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/program"
	"nodestorm/sim/strict"
)

// usual is how long a first build of parts of worlds takes on two processors, as [program.Facts] have it of programs.
var usual = map[string]time.Duration{
	builds.Kubernetes.Name:  15 * time.Minute,
	builds.Node.Name:        3 * time.Minute,
	builds.CCM.Name:         time.Minute,
	builds.CCMVSphere.Name:  90 * time.Second,
	builds.CSRApprover.Name: 30 * time.Second,
}

// timesFile, in the store, has how many seconds the last build of each name took.
const timesFile = "build-times.json"

// Expected is how long a build will take about: as long as the last of its name here, or else
// as a first one does on as many processors as there are. Zero is not known.
func (s *Store) Expected(ref builds.Ref) time.Duration {
	if seconds := s.times()[ref.Name]; seconds > 0 {
		return time.Duration(seconds * float64(time.Second))
	}
	return cmp.Or(usual[ref.Name], program.Named(ref.Name).FirstBuild.Duration) * 2 / time.Duration(runtime.NumCPU())
}

// times are what timesFile says; nothing if it cannot be read, as it is only a help.
func (s *Store) times() map[string]float64 {
	times := map[string]float64{}
	if text, err := strict.ReadFile(filepath.Join(s.dir, timesFile), maxText); err == nil {
		_ = json.Unmarshal(text, &times)
	}
	return times
}

// noteTime keeps how long a build took. Of two that end at once one is forgotten.
func (s *Store) noteTime(ref builds.Ref, took time.Duration) {
	times := s.times()
	times[ref.Name] = took.Seconds()
	text, err := json.Marshal(times)
	path := filepath.Join(s.dir, timesFile)
	if err == nil && os.WriteFile(path+".new", text, 0o644) == nil {
		_ = os.Rename(path+".new", path)
	}
}
