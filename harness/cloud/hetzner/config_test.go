package hetzner_test

import (
	"strings"
	"testing"

	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/program/manifest"
)

// What would end a build at its start is reported for the manifest.
func TestCheckConfig(t *testing.T) {
	const config, file, init = "HCLOUD_CLUSTER_CONFIG", "HCLOUD_CLUSTER_CONFIG_FILE", "HCLOUD_CLOUD_INIT"
	mounts := []manifest.Mount{{Path: "/config", Files: map[string][]byte{"cluster.json": []byte("{}"), "bad.json": []byte("no")}}}
	for name, test := range map[string]struct {
		env   map[string]string
		known []string
		given []string
		want  string // empty: nothing is wrong
	}{
		"cluster config": {map[string]string{config: "e30="}, []string{config, file, init}, nil, ""},
		"cloud-init":     {map[string]string{init: "I2Nsb3VkLWNvbmZpZwo="}, []string{config, init}, nil, ""},
		"file":           {map[string]string{file: "/config/cluster.json"}, []string{config, file, init}, nil, ""},
		"scenario's own": {nil, []string{config, init}, []string{config}, ""},
		"none": {nil, []string{config, file, init}, nil,
			"m.yaml: env: no cluster configuration: this build asks for " + config + " or " + file + " or " + init},
		"empty":                  {map[string]string{config: ""}, []string{config, init}, nil, "no cluster configuration"},
		"only what is not known": {map[string]string{config: "e30="}, []string{init}, nil, "this build asks for " + init + ", and"},
		"no base64":              {map[string]string{config: "{}"}, []string{config}, nil, config + ": want base64"},
		"no JSON":                {map[string]string{config: "bm8="}, []string{config}, nil, config + ": want a cluster configuration in JSON"},
		"file that is not there": {map[string]string{file: "/config/else"}, []string{config, file}, nil,
			"no volume of the manifest has the file /config/else"},
		"file that is none": {map[string]string{file: "/config/bad.json"}, []string{config, file}, nil,
			"want a cluster configuration in JSON"},
		"the first is what counts": {map[string]string{config: "bm8=", init: "I2Nsb3Vk"}, []string{config, init}, nil, config + ": want"},
	} {
		c := &manifest.Container{Source: "m.yaml", Mounts: mounts}
		for variable, value := range test.env {
			c.Env = append(c.Env, manifest.Variable{Name: variable, Value: value, Secret: true})
		}
		known := func(variable string) (bool, error) {
			for _, k := range test.known {
				if k == variable {
					return true, nil
				}
			}
			return false, nil
		}
		err := hetzner.CheckConfig(c, known, test.given)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
