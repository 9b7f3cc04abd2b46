package contract

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"nodestorm/fakecloud"
)

// A capacity reservation as Karpenter looks for it, and an instance that is launched into it.
func TestReservations(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	profile(t, a)
	template(t, a, "template-1")
	const id = "cr-0123456789abcdef0"
	err := a.cloud.Update(func(tx *fakecloud.Tx) error {
		r := fakecloud.Reservation{Type: "m5.large", Location: "us-west-2a", Count: 1, Targeted: true, Ends: tx.Now().Add(time.Hour)}
		r.Name, r.Labels = id, map[string]string{"app": "db"}
		_, err := tx.AddReservation(r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := func() types.CapacityReservation {
		out := must[*ec2.DescribeCapacityReservationsOutput](t)(a.ec2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{
			MaxResults: sdk.Int32(1000), Filters: []types.Filter{
				filter("state", "active"), filter("owner-id", "123456789012"), filter("tag:app", "db"), filter("instance-match-criteria", "targeted"),
			},
		}))
		if len(out.CapacityReservations) != 1 {
			t.Fatalf("found %+v", out.CapacityReservations)
		}
		return out.CapacityReservations[0]
	}
	if r := found(); *r.CapacityReservationId != id || *r.TotalInstanceCount != 1 || *r.AvailableInstanceCount != 1 || r.EndDateType != "limited" ||
		time.Until(*r.EndDate) < 50*time.Minute || *r.Interruptible || r.ReservationType != "default" || *r.AvailabilityZoneId != "usw2-az1" {
		t.Errorf("the reservation: %+v", r)
	}
	into := &ec2.RunInstancesInput{
		MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: "m5.large",
		LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("template-1")},
		Placement:      &types.Placement{AvailabilityZone: sdk.String("us-west-2a")},
		CapacityReservationSpecification: &types.CapacityReservationSpecification{
			CapacityReservationPreference: types.CapacityReservationPreferenceCapacityReservationsOnly,
			CapacityReservationTarget:     &types.CapacityReservationTarget{CapacityReservationId: sdk.String(id)},
		},
	}
	run := must[*ec2.RunInstancesOutput](t)(a.ec2.RunInstances(ctx, into))
	is := described(t, a, *run.Instances[0].InstanceId)
	if may := is.CapacityReservationSpecification; sdk.ToString(is.CapacityReservationId) != id ||
		may.CapacityReservationPreference != types.CapacityReservationPreferenceCapacityReservationsOnly ||
		*may.CapacityReservationTarget.CapacityReservationId != id {
		t.Errorf("the instance is in %v, and may %+v", is.CapacityReservationId, may)
	}
	if r := found(); *r.AvailableInstanceCount != 0 {
		t.Errorf("%d places are free", *r.AvailableInstanceCount)
	}
	into.ClientToken = sdk.String("second")
	if _, err := a.ec2.RunInstances(ctx, into); code(err) != "ReservationCapacityExceeded" {
		t.Errorf("into one that is full: %v", err)
	}
	into.ClientToken = sdk.String("third")
	into.CapacityReservationSpecification.CapacityReservationPreference = types.CapacityReservationPreferenceNone
	if _, err := a.ec2.RunInstances(ctx, into); code(err) != "InvalidParameterCombination" {
		t.Errorf("into one, and into none: %v", err)
	}
}
