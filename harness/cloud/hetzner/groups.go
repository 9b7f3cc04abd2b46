package hetzner

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/harness/program/manifest"
	"nodestorm/sim/machine/cloudinit"
)

// ClusterConfigVariable is the variable from which Cluster Autoscaler has its groups'
// labels and taints. Older builds do not know it.
const ClusterConfigVariable = "HCLOUD_CLUSTER_CONFIG"

// NodeConfig is what Cluster Autoscaler receives of a node group: how its servers join, and
// what their Nodes then have.
type NodeConfig struct {
	CloudInit string            `json:"cloudInit"`
	Labels    map[string]string `json:"labels,omitempty"`
	Taints    []corev1.Taint    `json:"taints,omitempty"`
}

// ConfigOf is that of a group whose kubelets register with labels, as in "a=b,c=d", and
// taints. The autoscaler receives the same.
func ConfigOf(marks string, taints []string) (c NodeConfig, err error) {
	flags := ""
	if marks != "" {
		flags += " --node-labels=" + marks
		if c.Labels, err = labels.ConvertSelectorToLabelsMap(marks); err != nil {
			return c, err
		}
	}
	if len(taints) > 0 {
		flags += " --register-with-taints=" + strings.Join(taints, ",")
	}
	for _, text := range taints {
		taint, err := cloudinit.ParseTaint(text)
		if err != nil {
			return c, err
		}
		c.Taints = append(c.Taints, taint)
	}
	c.CloudInit = UserData(flags)
	return c, nil
}

// ClusterConfig is the variable that describes all groups, in the form of Cluster
// Autoscaler's documentation for Hetzner.
func ClusterConfig(groups map[string]NodeConfig) (manifest.Variable, error) {
	text, err := json.Marshal(map[string]any{
		"imagesForArch": map[string]string{"amd64": Image, "arm64": Image},
		"nodeConfigs":   groups,
	})
	return manifest.Variable{Name: ClusterConfigVariable, Value: base64.StdEncoding.EncodeToString(text)}, err
}
