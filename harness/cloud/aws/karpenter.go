package aws

import (
	"fmt"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
)

// Class is the kind of Karpenter's node classes.
var Class = schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}

// Environment has the region, a key and, where the scenario wants it so, the endpoint. There is no metadata service that the
// program could ask.
func (r *Region) Environment() []string {
	all := []string{
		"AWS_REGION=" + aws.Region, "AWS_ACCESS_KEY_ID=" + r.id, "AWS_SECRET_ACCESS_KEY=" + r.secret, "AWS_EC2_METADATA_DISABLED=true",
	}
	if r.endpoint != "" {
		all = append(all, "AWS_ENDPOINT_URL="+r.endpoint)
	}
	return all
}

// Values are those that Karpenter's guide sets, and the endpoint, which else Karpenter asks EKS for.
func (r *Region) Values() map[string]any {
	return map[string]any{"settings": map[string]any{
		"clusterName": cluster, "clusterEndpoint": r.world.Cluster.Admin().Host, "interruptionQueue": cluster,
	}}
}

// CRDs of the node classes are the release's.
func (*Region) CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) { return nil, nil }

// Rights on them are in the release's chart.
func (*Region) Rights() ([]*unstructured.Unstructured, error) { return nil, nil }

// Adapt has objects that speak of the node classes, types and zones of Karpenter's provider kwok speak of AWS's: then what is
// written for one is played on both.
func (r *Region) Adapt(o *unstructured.Unstructured, from schema.GroupKind) {
	if o.GroupVersionKind().GroupKind() == from {
		o.SetGroupVersionKind(Class)
		o.Object["spec"] = r.discovered()
		unstructured.RemoveNestedField(o.Object, "status") // it is Karpenter's to say
	}
	for _, path := range [][]string{{"spec"}, {"spec", "template", "spec"}} {
		spec, found, err := unstructured.NestedMap(o.Object, path...)
		if !found || err != nil {
			continue
		}
		if ref, is := spec["nodeClassRef"].(map[string]any); is && ref["kind"] == from.Kind {
			ref["group"], ref["kind"] = Class.Group, Class.Kind
		}
		requirements, _ := spec["requirements"].([]any)
		for _, one := range requirements {
			if one, is := one.(map[string]any); is {
				values, _ := one["values"].([]any)
				for k, value := range values {
					values[k] = called(fmt.Sprint(value))
				}
			}
		}
		_ = unstructured.SetNestedMap(o.Object, spec, path...)
	}
}

// discovered is a node class as Karpenter's guide has it, which selects the account's capacity reservations where it has any.
func (r *Region) discovered() map[string]any {
	tagged := []any{map[string]any{"tags": map[string]any{"karpenter.sh/discovery": cluster}}}
	spec := map[string]any{
		"role": "KarpenterNodeRole-" + cluster, "amiSelectorTerms": []any{map[string]any{"alias": "al2023@latest"}},
		"subnetSelectorTerms": tagged, "securityGroupSelectorTerms": tagged,
	}
	var reserved []any
	r.View(func(tx *fakecloud.Tx) {
		for _, of := range tx.Reservations.All() {
			reserved = append(reserved, map[string]any{"id": of.Name})
		}
	})
	if len(reserved) > 0 {
		spec["capacityReservationSelectorTerms"] = reserved
	}
	return spec
}

var (
	kwokType = regexp.MustCompile(`^([csm])-(\d+)x-(amd64|arm64)-linux$`)
	kwokZone = regexp.MustCompile(`^test-zone-([a-c])$`)
	// sizes are those of the families below, by their processors.
	sizes = []struct{ cores, size string }{
		{"1", "large"}, {"2", "large"}, {"4", "xlarge"}, {"8", "2xlarge"}, {"16", "4xlarge"}, {"32", "8xlarge"}, {"48", "12xlarge"},
		{"64", "16xlarge"},
	}
)

// called is what AWS calls a type or a zone of Karpenter's provider kwok: types with 2, 4 and 8 GiB for each processor.
func called(name string) string {
	if zone := kwokZone.FindStringSubmatch(name); zone != nil {
		return aws.Region + zone[1]
	}
	of := kwokType.FindStringSubmatch(name)
	if of == nil {
		return name
	}
	at := slices.IndexFunc(sizes, func(s struct{ cores, size string }) bool { return s.cores == of[2] })
	if at < 0 {
		return name
	}
	maker := map[string]string{"amd64": "6i.", "arm64": "6g."}[of[3]]
	return map[string]string{"c": "c", "s": "m", "m": "r"}[of[1]] + maker + sizes[at].size
}
