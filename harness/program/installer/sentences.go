package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/tree"
	"nodestorm/harness/cloud/vsphere"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var sentences = deploy.Sentences{
	Sentences: scene.Sentences{
		Worlds: vsphere.Kind.Sentences.Worlds, Records: vsphere.Kind.Sentences.Records,
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `the Deployment "NAME" tolerates the taint "NAME"`, Act: deploymentTolerates},
			{Role: scene.When, Words: `Kubespray installs the cluster's add-ons`, Act: kubesprayInstalls},
			{Role: scene.When, Words: `a user asks for the logs of the DaemonSet "NAME" and the metrics of every Node for DURATION`,
				Needs: []scene.Need{needsMachines}, Act: askKubelets},
		},
	},
	Thens: then.Kubespray,
}

// installation is an installer's run.
type installation struct{ order *Order }

var needsMachines = scene.Need{There: func(s *scene.Scene) bool { return len(vsphere.Machines(s)) > 0 },
	Missing: `there are no virtual machines yet: say "the virtual machines …" before`}

// orderOf is the order of the installer under test.
func orderOf(s *scene.Scene) (order *Order, err error) {
	of := scene.State[installation](s)
	if of.order != nil {
		return of.order, nil
	}
	if s.Rig.Order == "" {
		of.order, _, err = Known(s.Rig.Target.Name, s.Rig.Target.Version)
		return of.order, err
	}
	o, text, err := Load(s.Rig.Order)
	if err == nil {
		err = checkOrder(o, text, s.Rig.Target.Manifest)
	}
	if err != nil {
		return nil, err
	}
	of.order = o
	return o, nil
}

// checkOrder makes sure that a user's order, which is read anew, is still the target.
func checkOrder(o *Order, text []byte, target builds.Manifest) error {
	_, files, err := filesOf(o, text, nil)
	if err != nil {
		return err
	}
	assets, err := tree.DigestOf(files)
	if sum := sha256.Sum256(text); err == nil && (hex.EncodeToString(sum[:]) != target.SHA256 || assets != target.Assets) {
		err = fmt.Errorf("the order of %s, or what it applies, has changed since the command began; give it again", target.Ref)
	}
	return err
}

func deploymentTolerates(_ context.Context, s *scene.Scene, a words.Args) error {
	o, err := orderOf(s)
	if err != nil {
		return err
	}
	taint := corev1.Toleration{Key: a.Text(1), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	return o.Tolerate("Deployment", metav1.NamespaceSystem, a.Text(0), taint)
}

// kubesprayInstalls is over when the installer is, whether it succeeds or not: that is
// for a Then to say.
func kubesprayInstalls(ctx context.Context, s *scene.Scene, _ words.Args) error {
	o, err := orderOf(s)
	if err != nil {
		return err
	}
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := s.World.Alive(ctx)
	defer cancel(nil)
	// What it did, and whether it succeeded, is in the history.
	_ = Runner{Client: c, Clock: s.World.Clock(), History: s.World.History()}.Run(ctx, o)
	return context.Cause(ctx)
}
