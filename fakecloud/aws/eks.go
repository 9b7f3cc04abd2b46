package aws

import (
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribeCluster asks and answers.
type (
	clusterRequest struct {
		Name string `wire:"name,path,required"`
	}
	clusterAnswer struct {
		Cluster eksCluster `wire:"cluster"`
	}
	eksCluster struct {
		Name                    string         `wire:"name"`
		Arn                     string         `wire:"arn"`
		CreatedAt               time.Time      `wire:"createdAt"`
		Version                 string         `wire:"version"`
		Endpoint                string         `wire:"endpoint"`
		RoleArn                 string         `wire:"roleArn"`
		Status                  string         `wire:"status"`
		PlatformVersion         string         `wire:"platformVersion"`
		CertificateAuthority    eksCertificate `wire:"certificateAuthority"`
		KubernetesNetworkConfig eksNetwork     `wire:"kubernetesNetworkConfig"`
		ZonalShiftConfig        eksZonalShift  `wire:"zonalShiftConfig"`
	}
	eksCertificate struct {
		Data string `wire:"data"`
	}
	eksNetwork struct {
		IPFamily        string `wire:"ipFamily"`
		ServiceIPv4CIDR string `wire:"serviceIpv4Cidr"`
	}
	eksZonalShift struct {
		Enabled bool `wire:"enabled"`
	}
)

// clusterARN is what the cluster is called in other services.
func (cfg Config) clusterARN() string {
	return "arn:aws:eks:" + cfg.Region + ":" + cfg.Account + ":cluster/" + cfg.Cluster.Name
}

// clusters are EKS's operations. There is one cluster.
func clusters(cfg Config) []api.Operation {
	created := time.Time{}
	if cfg.Cloud != nil {
		created = cfg.Cloud.Clock().Now()
	}
	describe := func(_ *api.Call, in *clusterRequest) (*clusterAnswer, error) {
		of := cfg.Cluster
		if in.Name != of.Name {
			return nil, wire.Errorf("ResourceNotFoundException", "No cluster found for name: %s.", in.Name)
		}
		return &clusterAnswer{eksCluster{
			Name: of.Name, Arn: cfg.clusterARN(), CreatedAt: created, Version: of.Version, ZonalShiftConfig: eksZonalShift{Enabled: true},
			Endpoint: of.Endpoint, RoleArn: "arn:aws:iam::" + cfg.Account + ":role/" + of.Name, Status: "ACTIVE", PlatformVersion: "eks.1",
			CertificateAuthority:    eksCertificate{of.CABundle},
			KubernetesNetworkConfig: eksNetwork{IPFamily: "ipv4", ServiceIPv4CIDR: of.ServiceCIDR},
		}}, nil
	}
	op := api.Does("DescribeCluster", describe)
	op.Method, op.Path = "GET", "/clusters/{name}"
	return []api.Operation{op, nodegroups(cfg)}
}
