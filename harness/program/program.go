// Package program has what is known of programs without a world: each folder below it with a program.yaml is one, and has
// program-NAME.yaml for another one of the same module. What they do in a world is in their packages, see deploy and programs. It
// needs none of them, and no cloud.
package program

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/strict"
)

// Facts are what is known of a program.
type Facts struct {
	// Name is what its builds are called, and pods, users and logs of it after it.
	Name string `json:"name"`
	// FirstBuild is how long that takes on two processors, rounded up: of a setup that began with an empty build cache
	// beside other work.
	FirstBuild metav1.Duration `json:"firstBuild,omitzero"`
	// Unbuilt says that there are no builds of it.
	Unbuilt bool `json:"unbuilt,omitempty"`
	// Apart says that its builds are dear, and made only for those who ask for them: setup leaves them out.
	Apart bool `json:"apart,omitempty"`
	// ApartReleases are those releases of which that is true, if it is not true of all: the few records that are about them
	// do not make up for their builds.
	ApartReleases []string `json:"apartReleases,omitempty"`
	// PerCloud says that each build is for one cloud, which its records are then of.
	PerCloud bool `json:"perCloud,omitempty"`
	// BuiltIn is the cloud that builds have which are made for none.
	BuiltIn string `json:"builtIn,omitempty"`
	// Drawn is its part in schedules that are drawn; nil: it has none.
	Drawn *Drawn `json:"drawn,omitempty"`
}

// Drawn is what drawn schedules have of an autoscaler.
type Drawn struct {
	// Cloud is the one that it has unless another is named.
	Cloud string `json:"cloud"`
	// Pools says that its machines are of NodePools, and of no groups.
	Pools bool `json:"pools,omitempty"`
	// Upgrades says that another release can take its place while the cluster lives.
	Upgrades bool `json:"upgrades,omitempty"`
	// Pod and Node are the annotations by which it leaves them alone.
	Pod  string `json:"pod"`
	Node string `json:"node"`
	// Calls are those to the API server that can fail, on clouds that are no objects there.
	Calls []string `json:"calls"`
	// Work is a match of the records of what it does.
	Work string `json:"work"`
}

//go:embed */program*.yaml
var files embed.FS

// All are those that there are, by their names.
var All = sync.OnceValue(func() (all []Facts) {
	names, err := fs.Glob(files, "*/program*.yaml")
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
		panic(fmt.Sprintf("the facts of programs: %v", err)) // they are part of the program
	}
	slices.SortFunc(all, func(a, b Facts) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// Named are the facts of the one that is called so, none where there is no such.
func Named(name string) Facts {
	i := slices.IndexFunc(All(), func(f Facts) bool { return f.Name == name })
	if i < 0 {
		return Facts{Name: name}
	}
	return All()[i]
}

// Autoscaler is the name of the autoscaler that something is named after, or "".
func Autoscaler(name string) (found string) {
	for _, f := range All() {
		if f.Drawn != nil && strings.Contains(name, f.Name) {
			found = f.Name
		}
	}
	return found
}
