package scene

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"nodestorm/harness/cloud"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/cloudinit"
)

// CheckUserData finds user data that no machine can follow: what does not parse, and a
// setting with which no kubelet starts. A machine that joins no cluster is none of it.
func CheckUserData(_ *Feature, a words.Args) error {
	system, err := bootedWith(a.Quoted)
	if err == nil {
		_, err = system.Kubelet()
	}
	if err != nil && !errors.As(err, new(*cloudinit.NoJoinError)) {
		return fmt.Errorf("its user data: %w", err)
	}
	return nil
}

// CheckKubelet asks a real kubelet whether it would start with what the user data says;
// only a kubelet knows an unknown flag, for example.
func (s *Scene) CheckKubelet(ctx context.Context, userData string) error {
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
	metadata := map[string]string{}
	for _, c := range cloud.All() {
		maps.Copy(metadata, c.Metadata)
	}
	return config.Boot(cloudinit.Machine{Name: "server", Metadata: metadata})
}
