package clusterautoscaler

import (
	"context"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
)

// Kind is Cluster Autoscaler.
var Kind = deploy.Kind{
	Name: Name, Check: checkRequest, CheckUpgrade: deploy.WithoutCRDs, Manifest: &manifestOptions, Sentences: []deploy.Sentences{sentences},
}

var manifestOptions = manifest.Options{Program: Name, Provided: []string{"HCLOUD_TOKEN", "HCLOUD_ENDPOINT"}}

func checkRequest(ctx context.Context, r deploy.Request) error {
	return Check(ctx, Config{
		Target: r.Target, Manifest: r.Manifest, Intent: Intent{Provider: r.Provider}, Flags: r.Flags, Unlisted: r.Unlisted,
	})
}
