package sentences

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/cloudinit"
)

// quotesUserData ends the text of a step whose quoted text is machines' user data.
const quotesUserData = "this user data:"

// metadata is what clouds answer, for example.
var metadata = map[string]string{
	"/hetzner/v1/metadata/hostname":          "server",
	"/hetzner/v1/metadata/instance-id":       "1001",
	"/hetzner/v1/metadata/public-ipv4":       "192.0.2.1",
	"/hetzner/v1/metadata/region":            "eu-central",
	"/hetzner/v1/metadata/availability-zone": "fsn1-dc14",
}

// checkUserData finds user data that no machine can follow: what does not parse, and a
// setting with which no kubelet starts. A machine that joins no cluster is none of it.
func checkUserData(step *messages.PickleStep) error {
	if !strings.HasSuffix(step.Text, quotesUserData) {
		return nil
	}
	if step.Argument == nil || step.Argument.DocString == nil {
		return errors.New("want the user data below the step, in quotes")
	}
	system, err := bootedWith(step.Argument.DocString.Content)
	if err == nil {
		_, err = system.Kubelet()
	}
	if err != nil && !errors.As(err, new(*cloudinit.NoJoinError)) {
		return fmt.Errorf("its user data: %w", err)
	}
	return nil
}

// checkKubelet asks a real kubelet whether it would start with what the user data says;
// of an unknown flag, for example, nobody else can tell.
func (s *scenario) checkKubelet(ctx context.Context, userData string) error {
	system, err := bootedWith(userData)
	if err != nil {
		return fmt.Errorf("the user data: %w", err)
	}
	err = s.kubelets.Check(ctx, kubelet.Machine{Name: "server", System: system})
	if errors.As(err, new(*cloudinit.NoJoinError)) {
		return nil
	}
	return err
}

// bootedWith is a machine that has followed the user data.
func bootedWith(userData string) (*cloudinit.System, error) {
	config, err := cloudinit.Parse(strings.ReplaceAll(userData, "ADDRESS", "10.0.0.1"))
	if err != nil {
		return nil, err
	}
	return config.Boot(cloudinit.Machine{Name: "server", Metadata: metadata})
}
