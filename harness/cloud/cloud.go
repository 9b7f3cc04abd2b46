// Package cloud has what is known of clouds without a world: each folder below it with a cloud.yaml is one. What they do
// in a world is in their packages, see live and all. It needs none of them, and no program.
package cloud

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"nodestorm/sim/strict"
)

// Facts are what is known of a cloud.
type Facts struct {
	// Name is what records, builds and Cluster Autoscaler's --cloud-provider call it.
	Name string `json:"name"`
	// Programs are the autoscalers that can have it.
	Programs []string `json:"programs,omitempty"`
	// Implied says that the worlds of builds for it have it without a sentence.
	Implied bool `json:"implied,omitempty"`
	// TypedGroups says that Cluster Autoscaler's --nodes has the types and locations of its groups.
	TypedGroups bool `json:"typedGroups,omitempty"`
	// Zones are those that machine types of a feature are in, unless it says which.
	Zones []string `json:"zones,omitempty"`
	// Metadata are answers of its metadata service, for example, by their paths.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Drawn is its part in schedules that are drawn; nil: it has none.
	Drawn *Drawn `json:"drawn,omitempty"`
}

// Drawn is what drawn schedules have of a cloud. Its sentences have GROUP where the name of a group stands, and NUMBER
// where one does.
type Drawn struct {
	// Types are machine types that groups can have, with their processors.
	Types map[string]int `json:"types"`
	// Zone is where all groups are; empty: wherever the cloud has them.
	Zone string `json:"zone,omitempty"`
	// Requirement is one more of NodePools, as YAML; empty: none.
	Requirement string `json:"requirement,omitempty"`
	// Given are the steps that bring it.
	Given []Step `json:"given,omitempty"`
	// Scarce are the steps after those that leave little of it, for searches.
	Scarce []Step `json:"scarce,omitempty"`
	// Parts are programs of its world that can be killed, beside the control plane's.
	Parts []string `json:"parts,omitempty"`
	// Expanders are those of Cluster Autoscaler that only some clouds can have.
	Expanders []string `json:"expanders,omitempty"`
	// Target is how the size of a group is set by hand, Maximum how many machines it may have from then on, Pause and
	// Resume have controllers leave a group alone and take it up again, and Remove takes it away. Empty: none can.
	Target  string `json:"target,omitempty"`
	Maximum string `json:"maximum,omitempty"`
	Pause   string `json:"pause,omitempty"`
	Resume  string `json:"resume,omitempty"`
	Remove  string `json:"remove,omitempty"`
	// Faults are sentences about faults of the cloud, and Lasting those of its machines that can have no end. In braces
	// are the words of which one is drawn, with | between them, or a name for such words.
	Faults  []string `json:"faults,omitempty"`
	Lasting []string `json:"lasting,omitempty"`
	// Calls are those to the API server that can fail, if others than the program's own.
	Calls []Calls `json:"calls,omitempty"`
}

// Step is one of a feature, with the table below it.
type Step struct {
	Text  string `json:"text"`
	Table string `json:"table,omitempty"`
}

// Calls are those of a program to the API server.
type Calls struct {
	Program string   `json:"program"`
	Calls   []string `json:"calls"`
}

//go:embed */cloud.yaml
var files embed.FS

// All are those that there are, by their names.
var All = sync.OnceValue(func() (all []Facts) {
	names, err := fs.Glob(files, "*/cloud.yaml")
	for _, name := range names {
		var text []byte
		var f Facts
		if text, err = files.ReadFile(name); err == nil {
			err = strict.Unmarshal(text, &f)
		}
		if err != nil {
			break
		}
		all = append(all, f)
	}
	if err != nil {
		panic(fmt.Sprintf("the facts of clouds: %v", err)) // they are part of the program
	}
	slices.SortFunc(all, func(a, b Facts) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// Named is the one that is called that, nil if none is.
func Named(name string) *Facts {
	i := slices.IndexFunc(All(), func(f Facts) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &All()[i]
}

// Implied reports whether the worlds of builds for a provider have that cloud without a sentence.
func Implied(provider string) bool {
	f := Named(provider)
	return f != nil && f.Implied
}

// NamesFor are the names of those that a program can have.
func NamesFor(program string) (names []string) {
	for _, f := range All() {
		if slices.Contains(f.Programs, program) {
			names = append(names, f.Name)
		}
	}
	return names
}
