package externalgrpc_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/externalgrpc/protocol"
	"nodestorm/fakecloud/table"
)

// large is a client of a cloud with 100 groups of 100 running instances.
func large(b *testing.B) protocol.CloudProviderClient {
	b.Helper()
	clk := testclock.NewFakeClock(time.Now())
	cloud, err := fakecloud.New(fakecloud.Config{Clock: clk, Seed: 1, Catalogue: fakecloud.Plain(), GroupLabel: "group"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cloud.Close)
	err = cloud.Update(func(tx *fakecloud.Tx) error {
		for n := range 100 {
			g := fakecloud.Group{Meta: table.Meta{Name: fmt.Sprint("g", n)}, Max: 200, Target: 100, Type: "medium", Location: "zone-a",
				Image: fakecloud.PlainImage}
			if _, err := tx.CreateGroup(g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	clk.Step(time.Minute)
	s, err := externalgrpc.Serve(b.Context(), externalgrpc.Config{Cloud: cloud})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	conn, err := grpc.NewClient(s.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return protocol.NewCloudProviderClient(conn)
}

// Calls of many clients at once, about one group each.
func BenchmarkTargetSize(b *testing.B) {
	c := large(b)
	var n atomic.Int64
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.NodeGroupTargetSize(b.Context(), &protocol.NodeGroupTargetSizeRequest{Id: fmt.Sprint("g", n.Add(1)%100)}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// One group's 100 instances of 10,000.
func BenchmarkNodes(b *testing.B) {
	c := large(b)
	var took []time.Duration
	b.ResetTimer()
	for n := range b.N {
		began := time.Now()
		list(b, c, n%100)
		took = append(took, time.Since(began))
	}
	median(b, took)
}

// All 10,000, as the autoscaler lists them: group by group.
func BenchmarkAllNodes(b *testing.B) {
	c := large(b)
	var took []time.Duration
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		for g := range 100 {
			list(b, c, g)
		}
		took = append(took, time.Since(began))
	}
	median(b, took)
}

func list(b *testing.B, c protocol.CloudProviderClient, group int) {
	r, err := c.NodeGroupNodes(b.Context(), &protocol.NodeGroupNodesRequest{Id: fmt.Sprint("g", group)})
	if err != nil || len(r.GetInstances()) != 100 {
		b.Fatal(len(r.GetInstances()), err)
	}
}

func median(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}
