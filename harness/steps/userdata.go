package steps

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/sim/cloudinit"
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
	text := strings.ReplaceAll(step.Argument.DocString.Content, "ADDRESS", "10.0.0.1")
	config, err := cloudinit.Parse(text)
	if err != nil {
		return fmt.Errorf("its user data: %w", err)
	}
	system, err := config.Boot(cloudinit.Machine{Name: "server", Metadata: metadata})
	if err == nil {
		_, err = system.Kubelet()
	}
	if err != nil && !errors.As(err, new(*cloudinit.NoJoinError)) {
		return fmt.Errorf("its user data: %w", err)
	}
	return nil
}
