package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Autoscalers whose records are of one cloud each, or of one of several.
const (
	clusterAutoscaler = "cluster-autoscaler"
	karpenter         = "karpenter"
	karpenterAWS      = "karpenter-aws"
	awsCCM            = "aws-ccm"
	vpaRecommender    = "vpa-recommender"
)

// bootstrap is the system of clusters that come up, on whatever cloud.
const bootstrap = "bootstrap"

// Systems are the folders of features and records. Those of further clouds come by AddCloud.
var Systems = []string{"hetzner", "clusterapi", karpenter, "externalgrpc", bootstrap, "aws", "vpa"}

// aboutIn are the autoscalers of records of a system, where not all can be.
var aboutIn = map[string][]string{
	"hetzner": {clusterAutoscaler}, "externalgrpc": {clusterAutoscaler},
	"clusterapi": {clusterAutoscaler, "cluster-api"}, karpenter: {karpenter},
	"aws": {karpenterAWS, awsCCM, clusterAutoscaler}, "vpa": {vpaRecommender},
}

// kwok is the cloud that comes with Karpenter, and makes Nodes. The instances of its others are launched one by one.
const kwok = "kwok"

var karpenterClouds = []string{"instances", kwok}

// AddCloud has records be about a cloud, as far as they cannot be yet: it is a system if Cluster Autoscaler can have it, and
// a cloud of Karpenter's if that can.
func AddCloud(name string, autoscalers []string) {
	if slices.Contains(autoscalers, clusterAutoscaler) && !slices.Contains(Systems, name) {
		Systems = append(Systems, name)
		aboutIn[name] = []string{clusterAutoscaler}
	}
	if slices.Contains(autoscalers, karpenter) && !slices.Contains(karpenterClouds, name) {
		karpenterClouds = append(karpenterClouds, name)
	}
}

// OnlyCloud is the one cloud of Karpenter on which the failure can be seen; empty: it can be
// on all, or is not Karpenter's.
func (r *Record) OnlyCloud() string {
	switch {
	case r.Autoscaler != karpenter:
		return ""
	case slices.Contains(karpenterClouds, r.System): // of a feature without a record
		return r.System
	}
	return r.Cloud
}

// ForProgram is the record as builds of a program are played on it, and whether they can be: those of Karpenter that name no cloud are
// also played on Karpenter for AWS, of whose releases, which have other versions, they promise nothing.
func (r Record) ForProgram(program string) (Record, bool) {
	if r.Autoscaler == karpenter && program == karpenterAWS && r.OnlyCloud() == "" {
		r.Autoscaler, r.Affected, r.Fixed, r.Releases, r.Targets = program, "", "", nil, nil
	}
	return r, r.Autoscaler == program
}

// Provider is the cloud that the target's build has to serve, where builds differ
// in that. Empty is any.
func (r *Record) Provider() string {
	switch only := r.OnlyCloud(); {
	case only != "" && only != kwok:
		return only
	case r.Autoscaler != clusterAutoscaler:
		return ""
	case r.System == bootstrap:
		return r.Cloud
	}
	return r.System
}

// OnAnother reports whether a build for a cloud of Karpenter's is for another than the record is about.
func (r *Record) OnAnother(provider string) bool {
	return r.Autoscaler == karpenter && provider != kwok && slices.Contains(karpenterClouds, provider) && r.OnlyCloud() != provider
}

// checkCloud finds what is wrong with Cloud.
func (r *Record) checkCloud() error {
	if r.Autoscaler == karpenter {
		if r.Cloud == "" || slices.Contains(karpenterClouds, r.Cloud) {
			return nil
		}
		return fmt.Errorf("want a provider of Karpenter's: %s, or nothing where both show it", strings.Join(karpenterClouds, " or "))
	}
	if (r.Cloud != "") != (r.System == bootstrap && r.Autoscaler == clusterAutoscaler) {
		return errors.New("want a provider of Cluster Autoscaler's in the system bootstrap, and elsewhere none")
	}
	return nil
}
