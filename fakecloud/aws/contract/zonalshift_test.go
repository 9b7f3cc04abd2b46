package contract

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

// A zonal shift as Karpenter asks for it: by the ARN that EKS gives the cluster, whose slash is escaped in the path.
func TestZonalShift(t *testing.T) {
	a, ctx := start(t), t.Context()
	cluster := must[*eks.DescribeClusterOutput](t)(a.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String("c1")})).Cluster
	if !*cluster.ZonalShiftConfig.Enabled {
		t.Error("the cluster takes no part in zonal shift")
	}
	managed := func() *arczonalshift.GetManagedResourceOutput {
		return must[*arczonalshift.GetManagedResourceOutput](t)(a.shift.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{
			ResourceIdentifier: cluster.Arn,
		}))
	}
	if is := managed(); len(is.ZonalShifts) != 0 || len(is.AppliedWeights) != 3 || is.AppliedWeights["usw2-az1"] != 1 || *is.Name != "c1" {
		t.Errorf("without a shift: %+v", is)
	}
	if err := a.server.ShiftAway("us-west-2a", 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	is := managed()
	if len(is.ZonalShifts) != 1 || is.AppliedWeights["usw2-az1"] != 0 || is.AppliedWeights["usw2-az2"] != 1 {
		t.Fatalf("with a shift: %+v", is)
	}
	if s := is.ZonalShifts[0]; *s.AwayFrom != "usw2-az1" || s.AppliedStatus != types.AppliedStatusApplied || s.ShiftType != types.ShiftTypeZonalShift ||
		s.ExpiryTime.Sub(*s.StartTime) != 2*time.Hour || time.Since(*s.StartTime) > time.Hour || *s.ResourceIdentifier != *cluster.Arn ||
		s.ZonalShiftId == nil || s.Comment == nil {
		t.Errorf("the shift: %+v", s)
	}
	if err := a.server.CancelShift("us-west-2a"); err != nil {
		t.Fatal(err)
	}
	if is := managed(); len(is.ZonalShifts) != 0 || is.AppliedWeights["usw2-az1"] != 1 {
		t.Errorf("after it was cancelled: %+v", is)
	}
	_, err := a.shift.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: sdk.String(*cluster.Arn + "/other")})
	if code(err) != "ResourceNotFoundException" {
		t.Errorf("of another cluster: %v", err)
	}
}
