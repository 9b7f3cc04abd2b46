package draft

import (
	"encoding/json"
	"regexp"
	"strings"

	"nodestorm/harness/world/objects"
)

var (
	statusName = regexp.MustCompile(`(?m)^\s*Name:\s*(\S+)`)
	statusOf   = regexp.MustCompile(`cloudProviderTarget=(\d+)(?:, | \()minSize=(\d+), maxSize=(\d+)`)
)

// status reads what Cluster Autoscaler keeps in its ConfigMap: YAML from 1.30 on, and lines of its own before.
func (c *Cluster) status(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	c.runs(ClusterAutoscaler, "")
	c.readAny++
	if len(text) > 1<<20 {
		c.addNote("the status of Cluster Autoscaler is larger than 1 MiB, and was left out")
		return
	}
	groups := c.statusYAML(text)
	if groups == 0 {
		groups = c.statusLines(text)
	}
	// mutant: a status that nothing is read of is passed over
	if groups == 0 && strings.Contains(text, "cloudProviderTarget") {
		c.addNote("the status of Cluster Autoscaler names node groups in a form that is not known here: they were left out")
	}
}

// statusYAML takes the status of 1.30 and later, and returns how many groups it has.
func (c *Cluster) statusYAML(text string) int {
	var status struct {
		NodeGroups []struct {
			Name   string `json:"name"`
			Health struct {
				CloudProviderTarget *int `json:"cloudProviderTarget"`
				MinSize             *int `json:"minSize"`
				MaxSize             *int `json:"maxSize"`
			} `json:"health"`
		} `json:"nodeGroups"`
	}
	asJSON, err := objects.JSON([]byte(text))
	if err != nil || json.Unmarshal(asJSON, &status) != nil {
		return 0
	}
	for _, one := range status.NodeGroups {
		g, health := c.groupCalled(one.Name), one.Health
		if health.MinSize != nil && health.MaxSize != nil {
			g.bounds(*health.MinSize, *health.MaxSize)
		}
		if health.CloudProviderTarget != nil {
			g.setFirstSize(*health.CloudProviderTarget)
		}
	}
	return len(status.NodeGroups)
}

// statusLines takes the status of releases before 1.30, and returns how many groups it has.
func (c *Cluster) statusLines(text string) (groups int) {
	names := statusName.FindAllStringSubmatchIndex(text, mostObjects)
	for i, at := range names {
		end := len(text)
		if i+1 < len(names) {
			end = names[i+1][0]
		}
		if m := statusOf.FindStringSubmatch(text[at[1]:end]); m != nil {
			g := c.groupCalled(text[at[2]:at[3]])
			g.bounds(number(m[2]), number(m[3]))
			g.setFirstSize(number(m[1]))
			groups++
		}
	}
	return groups
}
