package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	messages "github.com/cucumber/messages/go/v21"
	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/executable"
	"nodestorm/harness/run"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/world"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/clock"
)

// ControlPlane is another control plane than that of nodestorm's own Kubernetes: a release of the
// store, or programs that someone else built. The zero value is none.
type ControlPlane struct {
	// Folder has the programs. The controllers may be missing in a user's: those of nodestorm's
	// own Kubernetes then take their place.
	Folder string
	// Version is the release: "v1.33.5".
	Version string
	// Build is that of the store; nil of a user's folder.
	Build *builds.Target
	// goes are the programs of a user's folder, by name, and the Go that built each; empty of
	// one that is not Go's.
	goes map[string]string
}

// Chosen reports whether there is one.
func (c ControlPlane) Chosen() bool { return c.Folder != "" }

// String is what people call it.
func (c ControlPlane) String() string {
	if c.Build != nil || !c.Chosen() {
		return c.Version
	}
	return fmt.Sprintf("%s (of the folder %s)", c.Version, filepath.Base(c.Folder))
}

// OfBuild is that of a build of the store.
func OfBuild(t builds.Target) ControlPlane {
	return ControlPlane{Folder: t.Bin(), Version: t.Version, Build: &t}
}

// OfFolder looks at the programs of a user's folder. The error names the one that is missing, is
// none of this machine or too old, and what can be done.
func OfFolder(ctx context.Context, folder string) (c ControlPlane, err error) {
	if c.Folder, err = filepath.Abs(folder); err != nil {
		return c, err
	}
	c.goes = map[string]string{}
	for _, name := range world.ControlPlanePrograms {
		path := filepath.Join(c.Folder, name)
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) && slices.Contains(controllers, name) {
			continue
		}
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return c, fmt.Errorf("%s has no program %s; name a folder with etcd and kube-apiserver, as envtest's or a release's is, "+
				"or a release, such as %s", folder, name, builds.Kubernetes.Version)
		}
		if err := strict.Regular(path); err != nil {
			return c, err
		}
		if c.goes[name], err = executable.GoOf(path); err != nil {
			return c, fmt.Errorf("%s %w", path, err)
		}
	}
	if c.Version, err = versionOf(ctx, filepath.Join(c.Folder, "kube-apiserver")); err != nil {
		return c, err
	}
	if err := buildstore.CheckKubernetes(c.Version); err != nil {
		return c, fmt.Errorf("%s: %w", folder, err)
	}
	// mutant: controllers may be newer than the API server
	if missing := c.Missing(); len(missing) > 0 && olderMinor(c.Version) {
		return c, fmt.Errorf("%s has no %s, and those of %s are newer than its kube-apiserver (%s), which no cluster may have; "+
			"put those of the release beside it, or name the release itself",
			folder, strings.Join(missing, " and no "), builds.Kubernetes, c.Version)
	}
	return c, nil
}

// controllers are the programs that a folder may lack, as envtest's does.
var controllers = []string{"kube-controller-manager", "kube-scheduler"}

// Missing are the programs that nodestorm's own take the place of.
func (c ControlPlane) Missing() (names []string) {
	if !c.Chosen() || c.Build != nil {
		return nil
	}
	for _, name := range controllers {
		if _, has := c.goes[name]; !has {
			names = append(names, name)
		}
	}
	return names
}

// olderMinor reports whether a release is of an older minor version than nodestorm's own.
func olderMinor(version string) bool {
	return semver.Compare(semver.MajorMinor(version), semver.MajorMinor(builds.Kubernetes.Version)) < 0
}

// versionOf is what kube-apiserver says of itself.
func versionOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	says, err := cmd.Output()
	version, is := strings.CutPrefix(strings.TrimSpace(string(says)), "Kubernetes ")
	if err != nil || !is {
		return "", errors.Join(fmt.Errorf("%s does not say which release it is: --version says %.100q", path, says), err)
	}
	return version, nil
}

// checkClock reports whether its programs can live in such time.
func (c ControlPlane) checkClock(mode clock.Mode) error {
	if !c.Chosen() || !mode.Virtual() {
		return nil
	}
	if c.Build != nil {
		return CheckClock(mode, *c.Build)
	}
	for name, version := range c.goes {
		if version == "" {
			return fmt.Errorf("%s is no Go program, of which alone it is known how they wait: use --clock real", filepath.Join(c.Folder, name))
		}
	}
	if err := clock.TryGuest(); err != nil {
		return fmt.Errorf("the programs of %s cannot live in virtual time as they are: %w; use --clock real", c.Folder, err)
	}
	return nil
}

// noted is what a run keeps of it.
func (c ControlPlane) noted() (*run.ControlPlane, error) {
	if !c.Chosen() {
		return nil, nil
	}
	noted := &run.ControlPlane{Version: c.Version}
	if c.Build != nil {
		return noted, nil
	}
	noted.Name = filepath.Base(c.Folder)
	for _, name := range world.ControlPlanePrograms {
		file, err := run.Digest(filepath.Join(c.Folder, name))
		if errors.Is(err, os.ErrNotExist) && slices.Contains(controllers, name) {
			continue
		}
		if err != nil {
			return nil, err
		}
		noted.Programs = append(noted.Programs, file)
	}
	return noted, nil
}

// kubernetes is the build that a run notes as its Kubernetes.
func (r Request) kubernetes() builds.Manifest {
	if r.ControlPlane.Build != nil {
		return r.ControlPlane.Build.Manifest
	}
	return r.Kubernetes.Manifest
}

// CheckKubernetes reports whether the record can be played on the chosen release. It needs Record,
// Features, Target and ControlPlane only.
func (r Request) CheckKubernetes() error {
	version := builds.Kubernetes.Version
	if r.ControlPlane.Chosen() {
		version = r.ControlPlane.Version
	}
	if needs := r.Record.Kubernetes; needs != "" {
		if has, err := needs.Has(version); err != nil || !has {
			return errors.Join(fmt.Errorf("it needs Kubernetes %s, and this is %s", needs, version), err)
		}
	}
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		first := requirements.FirstKubernetes(pickle)
		if check := r.program().CheckKubernetes; check != nil {
			if err := check(r.Target, cmp.Or(first, version)); err != nil {
				return err
			}
		}
		if err := cmp.Or(requirements.CheckKubernetes(pickle, version), checkBuilt(first)); err != nil || !olderMinor(version) {
			return err
		}
		for _, step := range pickle {
			// mutant: kubelets may be newer than the API server
			if realKubelets.MatchString(step.Text) {
				return fmt.Errorf("its kubelets are of %s, and may not be newer than kube-apiserver (%s): %q", builds.Kubernetes, version, step.Text)
			}
		}
		return nil
	})
}

// checkBuilt reports whether the store has a release of Kubernetes that steps name, which is built only for those who ask for it.
func checkBuilt(version string) error {
	ref := builds.Ref{Name: builds.Kubernetes.Name, Version: version}
	if version == "" || !ref.OtherKubernetes() {
		return nil
	}
	store, err := buildstore.Open("")
	if err != nil {
		return err
	}
	// mutant: a replay builds another Kubernetes unasked
	if _, err = store.Get(ref); errors.As(err, new(*buildstore.NotFoundError)) {
		return fmt.Errorf("it begins with Kubernetes %s, which the store lacks; build it: %s", version,
			oneline.Command("nodestorm", "target", "build", ref.String()))
	}
	return err
}

// realKubelets are the words of steps without which no real kubelet, which is nodestorm's own, is
// in a world.
var realKubelets = regexp.MustCompile(`^a cluster that kubelets can join`)
