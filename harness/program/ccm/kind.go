package ccm

import "nodestorm/harness/program/deploy"

// Kind is the cloud controller manager of the Hetzner Cloud.
var Kind = deploy.Kind{Name: Name, Sentences: []deploy.Sentences{sentences}}
