package clusterautoscaler

import (
	"context"
	"fmt"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world/process"
)

// Kind is Cluster Autoscaler.
var Kind = deploy.Kind{
	Name: Name, Check: checkRequest, CheckReplicas: checkReplicas, CheckUpgrade: deploy.WithoutCRDs, Manifest: &manifestOptions,
	Sentences: []deploy.Sentences{sentences},
}

var manifestOptions = manifest.Options{Program: Name, Provided: []string{"HCLOUD_TOKEN", "HCLOUD_ENDPOINT"}}

func checkRequest(ctx context.Context, r deploy.Request) error {
	return Check(ctx, Config{
		Target: r.Target, Manifest: r.Manifest, Intent: Intent{Provider: r.Provider}, Flags: r.Flags, Unlisted: r.Unlisted,
	})
}

func checkReplicas(n int) error {
	// mutant: a machine that cannot name hosts has replicas of Cluster Autoscaler
	if n > 1 && !process.NamesHosts() {
		return fmt.Errorf("%d replicas of Cluster Autoscaler need a host name each, as it elects a leader by that, and only root can give one "+
			"(in a container: root with CAP_SYS_ADMIN): run nodestorm as root, or the target with one replica", n)
	}
	return nil
}
