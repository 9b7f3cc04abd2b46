package builds

import "testing"

// A build stands for the release that it is named after if it was made of what the release is made of.
func TestOfRelease(t *testing.T) {
	named := func(name, version, provider string) Ref { return Ref{Name: name, Version: version, Provider: provider} }
	const karpenter = "sigs.k8s.io/karpenter"
	for what, test := range map[string]struct {
		ref  Ref
		src  Source
		want bool
	}{
		"the recipe's":         {named("karpenter", "v1.7.0", Kwok), Source{Kind: FromModule, Module: karpenter, Version: "v1.7.0", Package: "./kwok"}, true},
		"for instances":        {named("karpenter", "v1.7.0", Instances), Source{Kind: FromModule, Module: karpenter, Version: "v1.7.0", Package: "./nodestorm", Graft: "h1:a="}, true},
		"for AWS":              {named(KarpenterAWS, "v1.14.0", AWS), Source{Kind: FromModule, Module: "github.com/aws/karpenter-provider-aws", Version: "v1.14.0", Package: "./cmd/controller"}, true},
		"for AWS, its kwok":    {named(KarpenterAWS, "v1.14.0", AWS), Source{Kind: FromModule, Module: "github.com/aws/karpenter-provider-aws", Version: "v1.14.0", Package: "./kwok"}, false},
		"for AWS, its nodes":   {named(AWSCCM, "v1.34.3", AWS), Source{Kind: FromModule, Module: "k8s.io/cloud-provider-aws", Version: "v1.34.3", Package: "./cmd/aws-cloud-controller-manager"}, true},
		"its other program":    {named(AWSCCM, "v1.34.3", AWS), Source{Kind: FromModule, Module: "k8s.io/cloud-provider-aws", Version: "v1.34.3", Package: "./cmd/ecr-credential-provider"}, false},
		"another version":      {named("karpenter", "v1.14.1", Kwok), Source{Kind: FromModule, Module: karpenter, Version: "v1.7.0", Package: "./kwok"}, false},
		"another module":       {named("karpenter", "v1.7.0", Kwok), Source{Kind: FromModule, Module: "example.com/karpenter", Version: "v1.7.0", Package: "./kwok"}, false},
		"another package":      {named("karpenter", "v1.7.0", Kwok), Source{Kind: FromModule, Module: karpenter, Version: "v1.7.0", Package: "./mine"}, false},
		"with tags":            {named("karpenter", "v1.7.0", Kwok), Source{Kind: FromModule, Module: karpenter, Version: "v1.7.0", Package: "./kwok", Tags: []string{"mine"}}, false},
		"of a folder":          {named("karpenter", "v1.7.0", Kwok), Source{Kind: FromFolder}, false},
		"as given":             {named("karpenter", "v1.14.1", Kwok), Source{Kind: FromBinary}, false},
		"an image":             {named("cluster-autoscaler", "1.33.0", "hetzner"), Source{Kind: FromImage}, false},
		"a published image":    {named("cluster-autoscaler", "1.33.0", ""), Source{Kind: FromImage, Published: true}, true},
		"of a repository":      {named("cluster-autoscaler", "1.33.0", "hetzner"), Source{Kind: FromFolder, Ref: "cluster-autoscaler-1.33.0"}, true},
		"with changes":         {named("cluster-autoscaler", "1.33.0", "hetzner"), Source{Kind: FromFolder, Dirty: true}, false},
		"as given, a branch's": {named("karpenter", "main", Kwok), Source{Kind: FromBinary}, true},
		"a pre-release":        {named("karpenter", "v1.7.0-mine", Kwok), Source{Kind: FromBinary}, true},
		"nodestorm's own":      {Kubernetes, Source{Kind: FromModule, Module: "nodestorm/sim/kubernetes"}, true},
		"another release":      {named("kubernetes", "v1.35.4", ""), Source{Kind: FromModule, Module: "k8s.io/kubernetes", Version: "v1.35.4", Graft: "h1:a="}, true},
		"a plane as given":     {Kubernetes, Source{Kind: FromBinary}, false},
		"a part as given":      {CCM, Source{Kind: FromBinary}, false},
		"Cluster API":          {named("cluster-api", "v1.12.0", ""), Source{Kind: FromModule, Module: "sigs.k8s.io/cluster-api", Version: "v1.12.0", Package: "."}, true},
		"Cluster API's core":   {named("cluster-api", "v1.14.2", ""), Source{Kind: FromModule, Module: "sigs.k8s.io/cluster-api", Version: "v1.14.2", Package: "./core"}, true},
		"not its core":         {named("cluster-api", "v1.14.2", ""), Source{Kind: FromModule, Module: "sigs.k8s.io/cluster-api", Version: "v1.14.2", Package: "./cmd/clusterctl"}, false},
		"an order":             {named("kubespray", "v2.28.0", ""), Source{Kind: FromOrder}, true},
		"of nothing":           {named("karpenter", "v1.7.0", Kwok), Source{}, false},
	} {
		if got := (Manifest{Ref: test.ref, Source: test.src}).OfRelease(); got != test.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
