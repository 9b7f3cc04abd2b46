package hetzner

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"nodestorm/harness/program/manifest"
)

// Variables that say to Cluster Autoscaler how servers of its groups join: the first
// that is not empty counts, in this order. The second names a file with the same as JSON;
// the third is user data for all groups.
const (
	clusterConfigFileVariable = "HCLOUD_CLUSTER_CONFIG_FILE"
	cloudInitVariable         = "HCLOUD_CLOUD_INIT"
)

// CheckConfig reports whether a build finds in the container how servers join: without it,
// or with something that it cannot read, it ends at once. Known says which variables the
// build asks for, given those that the scenario sets.
func CheckConfig(c *manifest.Container, known func(variable string) (bool, error), given []string) error {
	value := map[string]string{}
	for _, v := range c.Env {
		value[v.Name] = v.Value
	}
	var asked []string
	for _, name := range []string{ClusterConfigVariable, clusterConfigFileVariable, cloudInitVariable} {
		if is, err := known(name); err != nil {
			return err
		} else if !is {
			continue
		}
		if slices.Contains(given, name) {
			return nil
		}
		asked = append(asked, name)
		// mutant: no cluster configuration is one
		if value[name] == "" {
			continue
		}
		if err := checkConfig(c, name, value[name]); err != nil {
			return fmt.Errorf("%s: env: %s: %w", c.Source, name, err)
		}
		return nil
	}
	return fmt.Errorf("%s: env: no cluster configuration: this build asks for %s, and the manifest gives it nothing there: "+
		"an optional secret or one of its keys may be missing in the file",
		c.Source, strings.Join(asked, " or "))
}

func checkConfig(c *manifest.Container, name, value string) error {
	var text []byte
	switch name {
	case clusterConfigFileVariable:
		found := false
		if text, found = fileOf(c, value); !found {
			return fmt.Errorf("no volume of the manifest has the file %s", value)
		}
	default:
		var err error
		if text, err = base64.StdEncoding.DecodeString(value); err != nil {
			return fmt.Errorf("want base64: %w", err)
		}
	}
	if name == cloudInitVariable {
		return nil
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("want a cluster configuration in JSON: %w", err)
	}
	return nil
}

// fileOf is a file that the container has mounted.
func fileOf(c *manifest.Container, name string) ([]byte, bool) {
	for _, m := range c.Mounts {
		for below, text := range m.Files {
			if path.Join(m.Path, below) == path.Clean(name) {
				return text, true
			}
		}
	}
	return nil, false
}
