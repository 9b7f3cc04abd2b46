package sentences

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/cloudinit"
)

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
func checkUserData(_ *scene.Feature, a words.Args) error {
	system, err := bootedWith(a.Quoted)
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
func checkKubelet(ctx context.Context, s *scene.Scene, userData string) error {
	system, err := bootedWith(userData)
	if err != nil {
		return fmt.Errorf("the user data: %w", err)
	}
	err = s.Kubelets.Check(ctx, kubelet.Machine{Name: "server", System: system})
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
