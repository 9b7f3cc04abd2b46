package sentences

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/program/manifest"
)

// What the sentences about a target's settings end with.
const (
	flagsWords       = "with the flags:"
	unlistedWords    = "with these flags, whether it knows them or not:"
	environmentWords = "the target has the environment variables:"
)

// registerTargets has what holds for any target.
func (s *scenario) registerTargets(on sentences) {
	on.Given(`^`+environmentWords+`$`, s.environment)
	on.Given(`^`+typesWords+`$`, s.instanceTypes)
	on.Given(`^`+groupsWords+`$`, s.nodeGroups)
	on.Given(`^`+nodesWords+`$`, s.nodes)
	on.Given(`^Cluster Autoscaler `+flagsWords+`$`, s.autoscalerWithFlags)
	on.Given(`^Cluster Autoscaler `+unlistedWords+`$`, s.autoscalerWithUnlisted)
	on.Given(`^Karpenter$`, s.karpenterAlone)
	on.Given(`^Karpenter `+flagsWords+`$`, s.karpenterWithFlags)
}

func (s *scenario) environment(table *godog.Table) error {
	env, err := variables(table)
	s.env = append(s.env, env...)
	return err
}

func (s *scenario) autoscalerWithFlags(ctx context.Context, table *godog.Table) (err error) {
	if s.flags, err = flags(table); err != nil {
		return err
	}
	return s.startAutoscaler(ctx)
}

// autoscalerWithUnlisted is for failures that are about the flag itself.
func (s *scenario) autoscalerWithUnlisted(ctx context.Context, table *godog.Table) (err error) {
	if s.unlisted, err = flags(table); err != nil {
		return err
	}
	return s.startAutoscaler(ctx)
}

func (s *scenario) karpenterAlone(ctx context.Context) error { return s.beginKarpenter(ctx) }

func (s *scenario) karpenterWithFlags(ctx context.Context, table *godog.Table) (err error) {
	if s.flags, err = flags(table); err != nil {
		return err
	}
	return s.beginKarpenter(ctx)
}

func (s *scenario) beginKarpenter(ctx context.Context) (err error) {
	if karpenter.OnCloud(s.rig.Target) && s.instances == nil {
		if err := s.cloudOfInstances(ctx); err != nil {
			return err
		}
	}
	if s.karpenter, err = karpenter.Install(ctx, s.world, s.rig.Target, s.instances); err != nil {
		return err
	}
	s.karpenter.Set(s.env, s.flags)
	_, err = s.karpenter.Start(ctx, s.breakable || len(s.rules) > 0, s.rules...)
	return err
}

// Flags are those that steps give the target, as on a command line: ones that it has to
// know, and ones that it may not.
func Flags(steps []*messages.PickleStep) (known, unlisted []string, err error) {
	for _, step := range steps {
		all := &known
		switch {
		case strings.HasSuffix(step.Text, unlistedWords):
			all = &unlisted
		case !strings.HasSuffix(step.Text, flagsWords):
			continue
		}
		more, err := flagsOf(step)
		if err != nil {
			return nil, nil, err
		}
		*all = append(*all, more...)
	}
	return known, unlisted, nil
}

// Environment are the names of the variables that steps give the target.
func Environment(steps []*messages.PickleStep) (names []string, err error) {
	for _, step := range steps {
		switch {
		case step.Text == userDataWords:
			names = append(names, "HCLOUD_CLOUD_INIT")
		case step.Text == environmentWords:
			env, err := environmentOf(step)
			if err != nil {
				return nil, err
			}
			for _, v := range env {
				names = append(names, v.Name)
			}
		case step.Text == groupsWords && System(steps) == "hetzner":
			groups, err := groupsOf(tableOf(step))
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(groups, nodeGroupRow.marked) {
				names = append(names, hetzner.ClusterConfigVariable)
			}
		}
	}
	return names, nil
}

// tableOf is the table below a step, or nil.
func tableOf(step *messages.PickleStep) *messages.PickleTable {
	if step.Argument == nil {
		return nil
	}
	return step.Argument.DataTable
}

func flagsOf(step *messages.PickleStep) ([]string, error) {
	table := tableOf(step)
	if table == nil {
		return nil, errors.New("want a table below the step: | --scan-interval | 20s |")
	}
	return flags(table)
}

func environmentOf(step *messages.PickleStep) ([]manifest.Variable, error) {
	table := tableOf(step)
	if table == nil {
		return nil, errors.New("want a table below the step: | NAME | value |")
	}
	return variables(table)
}

var (
	flagName     = regexp.MustCompile(`^-{0,2}[a-z0-9][a-z0-9-]*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// flags reads rows of a flag, with or without its dashes, and its value. One that is there
// more than once is given more than once.
func flags(table *godog.Table) (all []string, err error) {
	err = rows(table, "flag", func(name, value string) error {
		if !flagName.MatchString(name) {
			return fmt.Errorf("%q is no flag, such as --scan-interval", name)
		}
		all = append(all, "--"+strings.TrimLeft(name, "-")+"="+value)
		return nil
	})
	return all, err
}

// variables reads rows of a variable and its value.
func variables(table *godog.Table) (all []manifest.Variable, err error) {
	err = rows(table, "variable", func(name, value string) error {
		if !variableName.MatchString(name) {
			return fmt.Errorf("%q is no environment variable, such as CAPI_GROUP", name)
		}
		if slices.ContainsFunc(all, func(v manifest.Variable) bool { return v.Name == name }) {
			return fmt.Errorf("%s is there twice", name)
		}
		all = append(all, manifest.Variable{Name: name, Value: value})
		return nil
	})
	return all, err
}

// rows reads a table of names and values. The first row may say what they are.
func rows(table *godog.Table, what string, take func(name, value string) error) error {
	taken := 0
	for i, row := range table.Rows {
		if len(row.Cells) != 2 {
			return fmt.Errorf("row %d has %d cells: want a %s and its value", i+1, len(row.Cells), what)
		}
		name, value := row.Cells[0].Value, row.Cells[1].Value
		if i == 0 && name == what && value == "value" {
			continue
		}
		if err := take(name, value); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		taken++
	}
	if taken == 0 {
		return fmt.Errorf("the table has no %s", what)
	}
	return nil
}
