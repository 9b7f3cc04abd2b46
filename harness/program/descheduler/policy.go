package descheduler

import (
	"errors"
	"fmt"
	"slices"

	"nodestorm/sim/strict"
)

const (
	version = "descheduler/v1alpha2"
	evictor = "DefaultEvictor" // which is always enabled
)

// policy is a DeschedulerPolicy (pkg/api/v1alpha2), as far as is to be known of it: the descheduler refuses plugins that there are not
// and arguments that they do not have, and takes no notice of other fields that it does not know.
type policy struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Profiles   []profile `json:"profiles"`

	NodeSelector                     any `json:"nodeSelector,omitempty"`
	MaxNoOfPodsToEvictPerNode        any `json:"maxNoOfPodsToEvictPerNode,omitempty"`
	MaxNoOfPodsToEvictPerNamespace   any `json:"maxNoOfPodsToEvictPerNamespace,omitempty"`
	MaxNoOfPodsToEvictTotal          any `json:"maxNoOfPodsToEvictTotal,omitempty"`
	EvictionFailureEventNotification any `json:"evictionFailureEventNotification,omitempty"`
	MetricsCollector                 any `json:"metricsCollector,omitempty"`
	MetricsProviders                 any `json:"metricsProviders,omitempty"`
	GracePeriodSeconds               any `json:"gracePeriodSeconds,omitempty"`

	fields map[string]any // all but version and kind
}

type profile struct {
	Name         string `json:"name"`
	PluginConfig []struct {
		Name string `json:"name"`
		Args any    `json:"args,omitempty"`
	} `json:"pluginConfig"`
	Plugins struct {
		PreSort           plugins `json:"presort"`
		Sort              plugins `json:"sort"`
		Deschedule        plugins `json:"deschedule"`
		Balance           plugins `json:"balance"`
		Filter            plugins `json:"filter"`
		PreEvictionFilter plugins `json:"preevictionfilter"`
	} `json:"plugins"`
}

type plugins struct {
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
}

// readPolicy reads the released format.
func readPolicy(text string) (p policy, err error) {
	if err := errors.Join(strict.Unmarshal([]byte(text), &p), strict.Unmarshal([]byte(text), &p.fields)); err != nil {
		return p, fmt.Errorf("the policy: %w", err)
	}
	if p.Kind != "DeschedulerPolicy" || p.APIVersion != version {
		return p, fmt.Errorf("the policy: want kind DeschedulerPolicy of apiVersion %s", version)
	}
	delete(p.fields, "kind")
	delete(p.fields, "apiVersion")
	evicts := false
	for _, of := range p.Profiles {
		enabled := slices.Concat(of.Plugins.Deschedule.Enabled, of.Plugins.Balance.Enabled)
		evicts = evicts || len(enabled) > 0
		others := []string{evictor}
		for _, set := range []plugins{of.Plugins.PreSort, of.Plugins.Sort, of.Plugins.Filter, of.Plugins.PreEvictionFilter} {
			others = append(others, set.Enabled...)
		}
		for _, c := range of.PluginConfig {
			// mutant: what is configured need not be enabled
			if !slices.Contains(enabled, c.Name) && !slices.Contains(others, c.Name) {
				return p, fmt.Errorf("the policy: the profile %s has arguments of %s, which it does not enable%s", of.Name, c.Name,
					strict.Meant(c.Name, enabled))
			}
		}
	}
	if !evicts {
		return p, errors.New("the policy: no profile enables a plugin to deschedule or to balance, so that nothing is ever evicted")
	}
	return p, nil
}
