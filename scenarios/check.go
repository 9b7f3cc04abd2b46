package scenarios

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

var (
	idPattern    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	issuePattern = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+#[0-9]+$`)
)

// CheckID reports whether a scenario can be called that.
func CheckID(id string) error {
	if len(id) > 80 || !idPattern.MatchString(id) {
		return fmt.Errorf("%q is no ID: want two or more words of a-z and 0-9 with dashes between them, like "+
			"karpenter-7515-what-fails, 80 characters at most", id)
	}
	return nil
}

// complete gives a record its targets, and finds all that is wrong with it. A record of a user's own
// needs no issue, no ranges of releases and no explanation, and lies wherever the user keeps it.
func (r *Record) complete(releases Releases, own bool) (wrong []error) {
	wrong = r.checkNames(own)
	if slices.Contains(Autoscalers, r.Autoscaler) {
		if err := r.setTargets(releases, own); err != nil {
			wrong = append(wrong, err)
		}
	}
	wrong = append(wrong, r.checkStatements()...)
	wrong = append(wrong, CheckInvariants(r.Invariants)...)
	wrong = append(wrong, r.checkBreaks()...)
	for i, id := range r.Kin {
		if id == r.ID || slices.Contains(r.twins, id) || slices.Contains(r.Kin[:i], id) {
			wrong = append(wrong, fmt.Errorf("kin[%d]: %s is the record itself or its twin, or there twice", i, id))
		}
	}
	return wrong
}

// checkNames finds what is wrong with what the record is called and is about.
func (r *Record) checkNames(own bool) (wrong []error) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	required := []struct{ field, value string }{{"id", r.ID}, {"title", r.Title}, {"feature", r.Feature}}
	if !own {
		required = append(required, []struct{ field, value string }{{"summary", r.Summary}, {"mechanism", r.Mechanism}}...)
	}
	for _, of := range required {
		if strings.TrimSpace(of.value) == "" {
			add("%s is missing", of.field)
		}
	}
	system := slices.Contains(Systems, r.System)
	if !system {
		add("system: unknown value %q (allowed: %s)", r.System, strings.Join(Systems, ", "))
	}
	autoscaler := slices.Contains(Autoscalers, r.Autoscaler)
	if !autoscaler {
		add("autoscaler: unknown value %q (allowed: %s)", r.Autoscaler, strings.Join(Autoscalers, ", "))
	}
	if own && r.ID != "" {
		if err := CheckID(r.ID); err != nil {
			add("id: %w", err)
		}
	}
	if !own && r.ID != "" && system && (!idPattern.MatchString(r.ID) || !strings.HasPrefix(r.ID, r.System+"-")) {
		add("id: %q is not like %s-7515-what-fails", r.ID, r.System)
	}
	if of, known := aboutIn[r.System]; known && autoscaler && !slices.Contains(of, r.Autoscaler) {
		add("autoscaler: %q: records of the system %s are about %s", r.Autoscaler, r.System, strings.Join(of, " or "))
	}
	if (!own || r.Issue != "") && !issuePattern.MatchString(r.Issue) {
		add("issue: %q is not like owner/repository#7515", r.Issue)
	}
	if err := r.checkCloud(); err != nil && system && autoscaler {
		add("cloud: %q: %w", r.Cloud, err)
	}
	if r.Kubernetes != "" {
		if _, err := r.Kubernetes.constraints(); err != nil {
			add("kubernetes: %w", err)
		}
	}
	if r.Fix != "" && !issuePattern.MatchString(r.Fix) {
		add("fix: %q is not like owner/repository#2265", r.Fix)
	}
	if r.Feature != "" && system && !own && (!strings.HasPrefix(r.Feature, r.System+"/") || !strings.HasSuffix(r.Feature, ".feature")) {
		add("feature: %q is not like %s/issue-7515-what-fails.feature", r.Feature, r.System)
	}
	return wrong
}

// checkStatements finds what is wrong with those about histories.
func (r *Record) checkStatements() (wrong []error) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if reflect.ValueOf(r.Trigger).IsZero() {
		add("trigger is missing: write, as a statement and a sequence like the symptom's, what made the " +
			"failure possible and must be in the history of an affected and of a fixed release")
	} else if err := r.Trigger.CheckTrigger(); err != nil {
		add("trigger: %w", err)
	}
	if err := r.Work.check(); err != nil {
		add("work: %w", err)
	}
	if err := r.Symptom.CheckSymptom(); err != nil {
		add("symptom: %w", err)
	}
	if r.Elsewhere != nil {
		if err := r.Elsewhere.CheckTrigger(); err != nil {
			add("elsewhere: %w", err)
		}
	}
	return wrong
}

// setTargets makes the targets of the ranges, or compares those that are there with them.
// The ranges of a user's own record may be empty: the record then names no other
// release than its targets.
func (r *Record) setTargets(releases Releases, own bool) (err error) {
	switch {
	case len(r.Targets) == 0:
		if r.Targets, err = releases.targets(r); err != nil {
			return err
		}
	case len(r.Releases) > 0:
		return errors.New("releases: targets names the builds already; leave one of them out")
	}
	has := func(of Range, version string, otherwise bool) (bool, error) {
		if own && of == "" {
			return otherwise, nil
		}
		return of.Has(version)
	}
	seen := map[string]bool{}
	for i, t := range r.Targets {
		if name, _, ok := strings.Cut(t.Name, "@"); !ok || name != r.Autoscaler {
			return fmt.Errorf("targets[%d].name: %q is not like %s@v1.6.4", i, t.Name, r.Autoscaler)
		}
		if seen[t.Name] {
			return fmt.Errorf("targets[%d].name: %s is there twice", i, t.Name)
		}
		seen[t.Name] = true
		if t.Expected != Reproduced && t.Expected != Healthy {
			return fmt.Errorf("targets[%d].expected: unknown value %q (allowed: %s, %s)", i, t.Expected, Reproduced, Healthy)
		}
		affected, err := has(r.Affected, t.Version(), t.Expected == Reproduced)
		if err != nil {
			return fmt.Errorf("affected, or targets[%d].name: %w", i, err)
		}
		fixed, err := has(r.Fixed, t.Version(), t.Expected == Healthy)
		switch {
		case err != nil:
			return fmt.Errorf("fixed: %w", err)
		case affected && fixed && r.Fixed != "":
			return fmt.Errorf("affected and fixed both have %s", t.Version())
		case t.Expected == Reproduced && !affected:
			return fmt.Errorf("targets[%d]: %s is expected %s, but affected is %q", i, t.Name, t.Expected, r.Affected)
		case t.Expected == Healthy && affected:
			return fmt.Errorf("targets[%d]: %s is expected %s, but affected is %q", i, t.Name, t.Expected, r.Affected)
		}
	}
	return nil
}
