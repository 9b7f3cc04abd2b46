package externalgrpc

import (
	"maps"
	"slices"
)

// words say what a call does, and to what.
var words = map[string]string{
	"list groups":         "NodeGroups",
	"find groups":         "NodeGroupForNode",
	"get targets":         "NodeGroupTargetSize",
	"increase groups":     "NodeGroupIncreaseSize",
	"decrease groups":     "NodeGroupDecreaseTargetSize",
	"list instances":      "NodeGroupNodes",
	"delete instances":    "NodeGroupDeleteNodes",
	"get templates":       "NodeGroupTemplateNodeInfo",
	"get options":         "NodeGroupGetOptions",
	"get prices_of_nodes": "PricingNodePrice",
	"get prices_of_pods":  "PricingPodPrice",
	"get label_of_gpus":   "GPULabel",
	"list types_of_gpus":  "GetAvailableGPUTypes",
	"refresh groups":      "Refresh",
	"close connections":   "Cleanup",
}

// Call is the name of the call (see Operations) that is meant by words such as "increase groups" or "list
// instances". Known are the words of all calls, for those that mean none.
func Call(said string) (name string, known []string) {
	if name, ok := words[said]; ok {
		return name, nil
	}
	return "", slices.Sorted(maps.Keys(words))
}
