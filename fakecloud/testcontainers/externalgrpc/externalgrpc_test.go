package externalgrpc_test

import (
	"bytes"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"nodestorm/fakecloud/testcontainers/externalgrpc"
	"nodestorm/fakecloud/testcontainers/internal/needs"
)

func TestNodeGroups(t *testing.T) {
	needs.Image(t, externalgrpc.Image)
	cloud, err := externalgrpc.Run(t.Context(), externalgrpc.Image, externalgrpc.WithGroups(`groups:
- {name: pool-of-tests, min: 0, max: 5, target: 1, type: medium}
`))
	testcontainers.CleanupContainer(t, cloud)
	if err != nil {
		t.Fatal(err)
	}
	address, err := cloud.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	// Without Cluster Autoscaler's own types: what is not known of a message is kept.
	var groups emptypb.Empty
	if err := connection.Invoke(t.Context(), "/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/NodeGroups", &emptypb.Empty{},
		&groups); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(groups.ProtoReflect().GetUnknown(), []byte("pool-of-tests")) {
		t.Errorf("the groups are %q", groups.ProtoReflect().GetUnknown())
	}
}
