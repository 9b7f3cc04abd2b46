package requirements

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cucumber/messages/go/v21"
	"golang.org/x/mod/semver"

	"nodestorm/harness/sentences/scene"
)

// oldestKubelet is how many minor versions kubelets may be behind kube-apiserver
// (https://kubernetes.io/releases/version-skew-policy/#kubelet).
const oldestKubelet = 3

// FirstKubernetes is the release that the control plane is of until steps upgrade it; empty if it is the run's own from the start.
func FirstKubernetes(steps []*messages.PickleStep) (first string) {
	eachWants(steps, func(w scene.Wants, _ error) {
		if w.Plane != nil && w.Plane.First != "" {
			first = w.Plane.First
		}
	})
	return first
}

// CheckKubernetes finds what steps ask for and Kubernetes does not support, where the run's own release is the one given: how it
// upgrades a control plane, and which kubelets a control plane may have.
func CheckKubernetes(steps []*messages.PickleStep, own string) (err error) {
	now := own
	if first := FirstKubernetes(steps); first != "" {
		now, err = first, checkStep(first, own)
	}
	var behind string // the oldest kubelets so far
	eachWants(steps, func(w scene.Wants, _ error) {
		if w.Plane != nil && w.Plane.Upgraded {
			now = own
		}
		if w.Kubelets != "" && (behind == "" || semver.Compare(w.Kubelets, behind) < 0) {
			behind = w.Kubelets
		}
		switch {
		case err != nil:
		// mutant: simulated kubelets may be newer than the API server
		case w.Kubelets != "" && semver.Compare(w.Kubelets, now) > 0:
			err = fmt.Errorf("kubelets of Kubernetes %s are newer than kube-apiserver (%s), which no cluster may have: want kubelets of %[2]s "+
				"or up to %d minor releases older", w.Kubelets, now, oldestKubelet)
		case behind != "" && minor(now)-minor(behind) > oldestKubelet:
			err = fmt.Errorf("kubelets of Kubernetes %s are more than %d minor releases older than kube-apiserver (%s), which Kubernetes "+
				"does not support", behind, oldestKubelet, now)
		}
	})
	return err
}

// checkStep reports whether a control plane may be upgraded so: never back, as kubeadm refuses it and what a newer release stored
// need not be known to an older one, and over no minor release
// (https://kubernetes.io/releases/version-skew-policy/#kube-apiserver-1).
func checkStep(from, to string) error {
	// mutant: a control plane may be downgraded
	if semver.Compare(from, to) > 0 {
		return fmt.Errorf("the control plane cannot go back from Kubernetes %s to %s: Kubernetes supports upgrades only; "+
			"want --kubernetes %[1]s or newer", from, to)
	}
	if minor(to)-minor(from) > 1 {
		return fmt.Errorf("the control plane cannot be upgraded from Kubernetes %s to %s: Kubernetes supports one minor release at a time",
			from, to)
	}
	return nil
}

// minor is 36 of v1.36.3.
func minor(version string) int {
	_, number, _ := strings.Cut(semver.MajorMinor(version), ".")
	n, _ := strconv.Atoi(number)
	return n
}
