package contract

import (
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/offer"
)

// Pages of all that is paged: each thing is there once, and there are as many pages as there have to be.
func TestPages(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	profile(t, a)
	for k := range 7 {
		template(t, a, fmt.Sprintf("template-%d", k))
		must[*iam.CreateInstanceProfileOutput](t)(a.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{
			InstanceProfileName: sdk.String(fmt.Sprintf("profile-%d", k)), Path: sdk.String("/karpenter/"),
		}))
	}
	many := fleet(t, a, "template-1", "on-demand", "m5.large")
	many.TargetCapacitySpecification.TotalTargetCapacity = sdk.Int32(12)
	must[*ec2.CreateFleetOutput](t)(a.ec2.CreateFleet(ctx, many))
	addSubnets(a, 9)

	types_, pages := map[string]bool{}, 0
	for p := ec2.NewDescribeInstanceTypesPaginator(a.ec2, &ec2.DescribeInstanceTypesInput{
		MaxResults: sdk.Int32(100), Filters: []types.Filter{
			filter("supported-virtualization-type", "hvm"), filter("processor-info.supported-architecture", "x86_64", "arm64"),
		},
	}); p.HasMorePages(); pages++ {
		for _, is := range must[*ec2.DescribeInstanceTypesOutput](t)(p.NextPage(ctx)).InstanceTypes {
			types_[string(is.InstanceType)] = true
		}
	}
	want(t, "types", len(types_), len(offer.Types()), pages, (len(offer.Types())+99)/100)

	offered, pages := 0, 0
	for p := ec2.NewDescribeInstanceTypeOfferingsPaginator(a.ec2, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, MaxResults: sdk.Int32(1000),
	}); p.HasMorePages(); pages++ {
		offered += len(must[*ec2.DescribeInstanceTypeOfferingsOutput](t)(p.NextPage(ctx)).InstanceTypeOfferings)
	}
	want(t, "offerings", offered, 3*len(offer.Types()), pages, (3*len(offer.Types())+999)/1000)

	prices, pages := 0, 0
	for p := ec2.NewDescribeSpotPriceHistoryPaginator(a.ec2, &ec2.DescribeSpotPriceHistoryInput{MaxResults: sdk.Int32(500)}); p.HasMorePages(); pages++ {
		prices += len(must[*ec2.DescribeSpotPriceHistoryOutput](t)(p.NextPage(ctx)).SpotPriceHistory)
	}
	if pages < 3 || prices%3 != 0 || prices == 0 {
		t.Errorf("%d spot prices on %d pages", prices, pages)
	}

	instances, pages := map[string]bool{}, 0
	for p := ec2.NewDescribeInstancesPaginator(a.ec2, &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(5)}); p.HasMorePages(); pages++ {
		for _, r := range must[*ec2.DescribeInstancesOutput](t)(p.NextPage(ctx)).Reservations {
			for _, i := range r.Instances {
				instances[*i.InstanceId] = true
			}
		}
	}
	want(t, "instances", len(instances), 12, pages, 3)

	statuses, pages := 0, 0
	for p := ec2.NewDescribeInstanceStatusPaginator(a.ec2, &ec2.DescribeInstanceStatusInput{MaxResults: sdk.Int32(5)}); p.HasMorePages(); pages++ {
		statuses += len(must[*ec2.DescribeInstanceStatusOutput](t)(p.NextPage(ctx)).InstanceStatuses)
	}
	want(t, "statuses", statuses, 12, pages, 3)

	templates, pages := 0, 0
	for p := ec2.NewDescribeLaunchTemplatesPaginator(a.ec2, &ec2.DescribeLaunchTemplatesInput{
		MaxResults: sdk.Int32(3), Filters: []types.Filter{filter("tag:eks:eks-cluster-name", "c1")},
	}); p.HasMorePages(); pages++ {
		templates += len(must[*ec2.DescribeLaunchTemplatesOutput](t)(p.NextPage(ctx)).LaunchTemplates)
	}
	want(t, "templates", templates, 7, pages, 3)

	subnets, pages := 0, 0
	for p := ec2.NewDescribeSubnetsPaginator(a.ec2, &ec2.DescribeSubnetsInput{MaxResults: sdk.Int32(5)}); p.HasMorePages(); pages++ {
		subnets += len(must[*ec2.DescribeSubnetsOutput](t)(p.NextPage(ctx)).Subnets)
	}
	want(t, "subnets", subnets, 12, pages, 3)

	images, pages := 0, 0
	for p := ec2.NewDescribeImagesPaginator(a.ec2, &ec2.DescribeImagesInput{MaxResults: sdk.Int32(3), Owners: []string{"amazon"}}); p.HasMorePages(); pages++ {
		images += len(must[*ec2.DescribeImagesOutput](t)(p.NextPage(ctx)).Images)
	}
	want(t, "images", images, len(offer.Images()), pages, (len(offer.Images())+2)/3)

	profiles, pages := 0, 0
	for p := iam.NewListInstanceProfilesPaginator(a.iam, &iam.ListInstanceProfilesInput{
		PathPrefix: sdk.String("/karpenter/"), MaxItems: sdk.Int32(3),
	}); p.HasMorePages(); pages++ {
		profiles += len(must[*iam.ListInstanceProfilesOutput](t)(p.NextPage(ctx)).InstanceProfiles)
	}
	want(t, "profiles", profiles, 8, pages, 3)
}

func want(t *testing.T, what string, got, want, pages, wantPages int) {
	t.Helper()
	if got != want || pages != wantPages {
		t.Errorf("%d %s on %d pages, want %d on %d", got, what, pages, want, wantPages)
	}
}

// addSubnets has the VPC have more subnets in its first zone.
func addSubnets(a *account, n int) {
	_ = a.cloud.Update(func(tx *fakecloud.Tx) error {
		tx.Networks.Update(tx.Networks.All()[0].ID, func(of *fakecloud.Network) {
			for k := range n {
				of.Subnets = append(of.Subnets[:len(of.Subnets):len(of.Subnets)], fakecloud.Subnet{
					Type: "cloud", Name: fmt.Sprintf("subnet-%017x", k), Zone: "us-west-2a", Reserved: 4, Range: small(k),
				})
			}
		})
		return nil
	})
}
