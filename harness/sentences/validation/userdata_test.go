package validation_test

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/validation"
)

// User data that no machine can follow is one line before anything starts.
func TestUserDataCheck(t *testing.T) {
	const join = "runcmd:\n- kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification\n"
	file := func(path, content string) string {
		return "#cloud-config\nwrite_files:\n- path: " + path + "\n  content: |\n    " + content + "\n" + join
	}
	for _, test := range []struct{ name, data, want string }{
		{"right", "#cloud-config\n" + join, ""},
		{"a machine that joins nothing", "#cloud-config\nruncmd: [\"true\"]\n", ""},
		{"no YAML", "#cloud-config\nruncmd: [\n", "its user data: "},
		{"wrong type", "#cloud-config\nwrite_files: 7\n", "line 2"},
		{"unit file", file("/etc/systemd/system/kubelet.service.d/20.conf", "nonsense"), "20.conf (user data write_files[0]) line 1"},
		{"metadata", "#cloud-config\nruncmd:\n- echo \"KUBELET_EXTRA_ARGS=--provider-id=hcloud://$(curl -sf http://169.254.169.254/hetzner/v1/metadata/instance-id)\" > /etc/default/kubelet\n" + strings.TrimPrefix(join, "runcmd:\n"), ""},
		{"labels", file("/etc/default/kubelet", "KUBELET_EXTRA_ARGS=--node-labels=a=b=c"), "--node-labels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := validation.Steps([]*messages.PickleStep{
				{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"},
				{Type: messages.PickleStepType_CONTEXT, Text: "servers of the node groups boot with this user data:",
					Argument: &messages.PickleStepArgument{DocString: &messages.PickleDocString{Content: test.data}}},
			}, nil)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(),
				"\n")) {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	if err := validation.Steps([]*messages.PickleStep{
		{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"},
		{Type: messages.PickleStepType_CONTEXT, Text: "servers of the node groups boot with this user data:"},
	}, nil); err == nil || !strings.Contains(err.Error(), "want the user data below the step") {
		t.Errorf("without user data: %v", err)
	}
}
