// Package overlay gives programs the clock when they are built: edits of a Go toolchain's
// standard library, by which they read their time from a clock page, see sim/time/clock.
package overlay

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// additions are files that join a package, PACKAGE/nodestorm.go.txt.
//
//go:embed net runtime
var additions embed.FS

// toolchains are the Go releases that the edits were written for, with all of their
// patch releases, which mend faults and keep to the runtime's design. In another
// release the same lines may mean something else, so that the edits fit it proves
// nothing: read its runtime first, and then name it here.
var toolchains = []string{"go1.26"}

// Supported reports whether programs can be built with the clock for goos and
// goarch. Elsewhere worlds run in real time.
func Supported(goos, goarch string) bool {
	return goos == "linux" && (goarch == "amd64" || goarch == "arm64")
}

// Write writes the edited standard library files of the toolchain at goroot for
// linux and goarch ("amd64" or "arm64") into dir, which it makes. It returns
// the path of the overlay.json that `go build -overlay` takes, and the hex
// SHA-256 over everything the overlay puts into a build. An error names the
// toolchain's release when it is none that the edits were written for, and the file
// when the source is not what they expect.
func Write(goroot, goarch, dir string) (path, hash string, err error) {
	if !Supported("linux", goarch) {
		return "", "", fmt.Errorf("the clock overlay knows linux/amd64 and linux/arm64, not linux/%s; use --clock real", goarch)
	}
	release, err := toolchainRelease(goroot)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", fmt.Errorf("making the overlay folder: %w", err)
	}
	content, err := edited(goroot, release, goarch)
	if err != nil {
		return "", "", err
	}
	if err := add(content, goarch); err != nil {
		return "", "", err
	}
	replace := map[string]string{}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		out := filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".overlay")
		if err := os.WriteFile(out, []byte(content[name]), 0o644); err != nil {
			return "", "", fmt.Errorf("writing the overlay: %w", err)
		}
		replace[filepath.Join(goroot, "src", name)] = out
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content[name]), content[name])
	}
	index, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, index, 0o644); err != nil {
		return "", "", fmt.Errorf("writing the overlay: %w", err)
	}
	return path, hex.EncodeToString(sum.Sum(nil)), nil
}

// edited are the files of the standard library that are edited, by their names.
func edited(goroot, release, goarch string) (map[string]string, error) {
	todo := edits
	if goarch == "amd64" {
		todo = append(append([]edit{}, editsAMD64...), edits...)
	}
	content := map[string]string{}
	for _, e := range todo {
		src, ok := content[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(goroot, "src", e.file))
			if err != nil {
				return nil, fmt.Errorf("%s has no %s, so it can't be given the clock; use another %s, or --clock real: %w",
					release, e.file, known(), err)
			}
			src = string(b)
		}
		if n := strings.Count(src, e.old); n != 1 {
			return nil, fmt.Errorf("%s of %s is not as the clock overlay expects it (%d places instead of 1 for %q); "+
				"use another %s, or --clock real", e.file, release, n, firstLine(e.old), known())
		}
		content[e.file] = strings.Replace(src, e.old, e.new, 1)
	}
	return content, nil
}

// add adds the files that join packages.
func add(content map[string]string, goarch string) error {
	constants := strings.NewReplacer(
		"@UNIXTIME@", unixTime[goarch],
		"@MAGIC@", strconv.Itoa(PageMagic),
		"@PAGE@", strconv.Itoa(PageSize),
		"@SLOTSIZE@", strconv.Itoa(SlotSize),
		"@SLOTS@", strconv.Itoa(SlotCount),
		"@LAGBUCKETS@", strconv.Itoa(LagBuckets),
	)
	for _, pkg := range []string{"runtime", "net"} {
		b, err := additions.ReadFile(pkg + "/nodestorm.go.txt")
		if err != nil {
			return err
		}
		content[pkg+"/nodestorm.go"] = constants.Replace(string(b))
	}
	return nil
}

// released is the name of a release: none of a candidate ("go1.27rc1"), of what is
// between two ("devel go1.28-abc"), or of somebody's own ("go1.26.8-mine").
var released = regexp.MustCompile(`^go1\.\d+(\.\d+)?$`)

// toolchainRelease is the first line of GOROOT/VERSION, "go1.26.8".
func toolchainRelease(goroot string) (string, error) {
	b, err := os.ReadFile(filepath.Join(goroot, "VERSION"))
	if err != nil {
		return "", fmt.Errorf("the Go toolchain at %s does not say which release it is, so it can't be given "+
			"the clock; use %s, or --clock real: %w", goroot, known(), err)
	}
	release := firstLine(string(b))
	if !released.MatchString(release) || !slices.Contains(toolchains, version.Lang(release)) {
		return "", fmt.Errorf("the clock overlay was not written for %s (the Go toolchain at %s); use %s, or --clock real", release,
			goroot, known())
	}
	return release, nil
}

// known are the releases for people: "Go 1.26.x".
func known() string {
	var names []string
	for _, t := range toolchains {
		names = append(names, "Go "+strings.TrimPrefix(t, "go")+".x")
	}
	return strings.Join(names, " or ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
