// Package features holds the features, which are part of the program. Its tests run
// them with godog, each scenario on every target that the catalogue expects something of:
//
//	go test ./features/... -godog.tags='@issue-7515' -v
//
// A scenario passes when its verdict is the expected one: on an affected release
// that is "reproduced". A target that is not in the store is skipped by name, with the
// reason; what else its scenario needs, such as a release of Cluster API, must be there.
//
// NODESTORM_RUNS names a folder of runs that `nodestorm verify` has just made with this
// very code: a scenario that has run there on the build in the store is judged by its
// history, and not played a second time.
package features

import (
	"embed"
	"io/fs"
	"sync"

	"nodestorm/scenarios"
)

// Files are the features, SYSTEM/NAME.feature, and the files that their steps name.
//
//go:embed */*.feature */*.yaml
var Files embed.FS

// Catalogue returns the records and features that are part of the program. The caller may add to it.
func Catalogue() (*scenarios.Catalogue, error) {
	c, err := builtin()
	if err != nil {
		return nil, err
	}
	return c.Clone(), nil
}

// builtin is read once: it takes a tenth of a second, and tests ask for it hundreds of times.
var builtin = sync.OnceValues(func() (*scenarios.Catalogue, error) { return scenarios.BuiltIn(Files) })

// Names are the paths of all features, those without a record among them.
func Names() ([]string, error) { return fs.Glob(Files, "*/*.feature") }

// Example is a file of the folder examples: the formats of files that commands take.
func Example(name string) ([]byte, error) { return Files.ReadFile("examples/" + name) }
