package aws

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/harness/builds"
	"nodestorm/sim/machine/cloudinit"
)

// Launch launches an instance by hand, with a tag that says that it is the cluster's.
func (r *Region) Launch(ctx context.Context, typeName, zone, userData string) error {
	t := r.Catalogue().ServerType(typeName)
	if t == nil {
		return fmt.Errorf("AWS has no instance type %q: want for example m5.large", typeName)
	}
	form := url.Values{
		"Action": {"RunInstances"}, "MinCount": {"1"}, "MaxCount": {"1"}, "InstanceType": {typeName},
		"ImageId": {r.image(t.Architecture)}, "Placement.AvailabilityZone": {zone},
		"UserData":                        {base64.StdEncoding.EncodeToString([]byte(userData))},
		"TagSpecification.1.ResourceType": {"instance"}, "TagSpecification.1.Tag.1.Key": {"kubernetes.io/cluster/" + cluster},
		"TagSpecification.1.Tag.1.Value": {"owned"},
	}
	if err := r.server.CallAsOwner(ctx, "ec2", form); err != nil {
		return fmt.Errorf("launching an instance of the type %s in %s: %w", typeName, zone, err)
	}
	return nil
}

// image is the ID of an image of EKS with Amazon Linux for an architecture.
func (r *Region) image(architecture string) (id string) {
	r.View(func(tx *fakecloud.Tx) {
		for _, i := range tx.Images.All() {
			if i.Architecture == architecture && strings.Contains(i.Name, "al2023") {
				id = offer.AMI(strings.ReplaceAll(i.Name, "%s", minor(builds.Kubernetes.Version)))
				return
			}
		}
	})
	return id
}

// nodeConfig is user data of an instance that nodeadm makes a node, which registers with labels, as in "a=b,c=d", and taints.
func nodeConfig(admin *rest.Config, labels string, taints []string) (string, error) {
	spec := map[string]any{"cluster": map[string]any{
		"name": cluster, "apiServerEndpoint": admin.Host, "cidr": services,
		"certificateAuthority": base64.StdEncoding.EncodeToString(admin.CAData),
	}}
	kubelet := map[string]any{}
	if labels != "" {
		kubelet["flags"] = []string{"--node-labels=" + labels}
	}
	var all []corev1.Taint
	for _, text := range taints {
		taint, err := cloudinit.ParseTaint(text)
		if err != nil {
			return "", err
		}
		all = append(all, taint)
	}
	if all != nil {
		kubelet["config"] = map[string]any{"registerWithTaints": all}
	}
	if len(kubelet) > 0 {
		spec["kubelet"] = kubelet
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec})
	return `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

` + string(text) + `
--//--
`, err
}

// kubeadm is user data of an instance that kubeadm makes a node, with a kubelet that leaves its provider ID to the controller manager.
// The token opens nothing.
const kubeadm = `#cloud-config
runcmd:
  - NAME=$(curl -sf http://169.254.169.254` + metadata + `local-hostname)
  - echo "KUBELET_EXTRA_ARGS=--cloud-provider=external --hostname-override=$NAME" > /etc/default/kubelet
  - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
`

// CloudConfig is the configuration of the cloud controller manager as EKS has it, which runs it in an account of its own: with it the
// program asks no metadata service where it runs.
func (r *Region) CloudConfig() string {
	config := "[Global]\nRegion=" + aws.Region + "\nKubernetesClusterID=" + cluster + "\n"
	r.View(func(tx *fakecloud.Tx) {
		vpc := tx.Networks.All()[0]
		config += "VPC=" + vpc.Name + "\nSubnetID=" + vpc.Subnets[0].Name + "\n"
	})
	return config
}
