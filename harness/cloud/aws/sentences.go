package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nodestorm/fakecloud/aws"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// Kind is that of an account of AWS.
var Kind = live.Register(&live.Kind{
	Facts: cloud.Named(Name), Sentences: sentences, Start: start,
	Alone: alone, Calls: aws.Calls, Operations: aws.Operations, Call: call,
	Examples: "of AWS CreateFleet, TerminateInstances, DescribeInstances",
})

var sentences = scene.Sentences{
	Worlds:  "Karpenter, Cluster Autoscaler or the cloud controller manager of AWS",
	Records: "the cloud's instances and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `an AWS region behind AWS_ENDPOINT_URL`, Check: hasClasses, Act: regionBehind},
		{Role: scene.Given, Words: `an AWS region`, Check: hasClasses, Act: region},
		{Role: scene.Given, Words: `a subnet "NAME" in "NAME" with N free addresses`, Needs: []scene.Need{Needed}, Act: anotherSubnet},
		{Role: scene.Either, Words: `the subnet "NAME" has N free addresses`, Needs: []scene.Need{Needed}, Act: freeAddresses},
		{Role: scene.Given, Words: `(an open|a targeted) capacity reservation "NAME" of N instance[s] of the type "NAME" in "NAME"`,
			Needs: []scene.Need{Needed}, Act: reserved},
		{Role: scene.Either, Words: `the capacity reservation "NAME" ends in DURATION`, Needs: []scene.Need{Needed}, Act: reservationEnds},
		{Role: scene.Either, Words: `a zonal shift away from "NAME" is started for DURATION`, Needs: []scene.Need{Needed}, Act: shiftStarted},
		{Role: scene.Either, Words: `the zonal shift away from "NAME" is cancelled`, Needs: []scene.Need{Needed}, Act: shiftCancelled},
		{Role: scene.Either, Words: `an instance of the type "NAME" is launched in "NAME"`, Needs: []scene.Need{Needed}, Act: launched},
		{Role: scene.Either, Words: `an instance of the type "NAME" whose kubelet has no provider ID is launched in "NAME"`,
			Needs: []scene.Need{Needed}, Act: launchedUnnamed},
	},
}

// Needed is that the scenario has one.
var Needed = scene.CloudIs[*Region](`there is no AWS region yet: say "an AWS region" before`)

func anotherSubnet(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.AddSubnet(a.Text(0), a.Text(1), a.Int(2))
}

func freeAddresses(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.LeaveFree(a.Text(0), a.Int(1))
}

func reserved(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.AddReservation(a.Text(1), a.Text(3), a.Text(4), a.Int(2), a.Text(0) == "a targeted")
}

func reservationEnds(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.EndReservation(a.Text(0), a.Duration(1))
}

func shiftStarted(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.ShiftAway(a.Text(0), a.Duration(1))
}

func shiftCancelled(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).server.CancelShift(a.Text(0))
}

func launched(ctx context.Context, s *scene.Scene, a words.Args) error {
	r := scene.CloudOf[*Region](s)
	config, err := nodeConfig(r.world.Cluster.Admin(), "", nil)
	if err != nil {
		return err
	}
	return r.Launch(ctx, a.Text(0), a.Text(1), config)
}

func launchedUnnamed(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Region](s).Launch(ctx, a.Text(0), a.Text(1), kubeadm)
}

// call is one by the name that AWS gives it: that is unlike what other clouds call theirs.
func call(said string) (operation string, known []string) {
	if slices.Contains(aws.Calls(), said) {
		return said, nil
	}
	return "", aws.Calls()
}

// hasClasses notes that node classes of AWS can be there once Karpenter runs.
func hasClasses(f *scene.Feature, _ words.Args) error {
	f.Brings(builds.KarpenterAWS)
	return nil
}

func region(ctx context.Context, s *scene.Scene, _ words.Args) error { return start(ctx, s) }

// regionBehind starts a region of which programs know by a variable where it is. Those of before SDK v2 (v1.0 of Karpenter) do not
// look at it.
func regionBehind(ctx context.Context, s *scene.Scene, _ words.Args) (err error) {
	if err := start(ctx, s); err != nil {
		return err
	}
	r := scene.CloudOf[*Region](s)
	r.endpoint, err = r.world.Egress().Open(aws.Hosts(aws.Region)[0])
	return err
}

// launchTakes is how long an instance is pending.
const launchTakes = 5 * time.Second

// start is for a region that is there without the sentence, too: every build for AWS needs it.
func start(ctx context.Context, s *scene.Scene) error {
	if err := s.Meet(scene.NoCloud); err != nil {
		return err
	}
	if s.Rig.Target.Provider != Name {
		return fmt.Errorf("%s does not know AWS: take %s, %s, or a Cluster Autoscaler that was built for it", s.Rig.Target.Ref,
			builds.KarpenterAWS, builds.AWSCCM)
	}
	if len(s.Settings.Types) > 0 {
		return errors.New("an AWS region has AWS's own instance types, and no others")
	}
	r, err := Start(s.LaunchSetting(launchTakes))
	if err != nil {
		return err
	}
	s.Cloud = r
	if s.Rig.Target.Name == builds.AWSCCM {
		return nil // the scenario says when it comes
	}
	return r.StandIn(ctx)
}

// RemoveNodes is done already, see machines.StandIn.
func (*Region) RemoveNodes(context.Context, *scene.Scene) error { return nil }
