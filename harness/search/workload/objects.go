package workload

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/sim/machine/node"
)

// fields are those of an object.
type fields = map[string]any

// keptFor is how many seconds a Job that is complete is kept: as long as kubectl users look at it, and not for ever.
const keptFor = 300

func bytesOf(n float64) string { return resource.NewQuantity(int64(n), resource.BinarySI).String() }

// template is that of the pods of an act, whose containers run so long; zero: until they are stopped.
func (l Load) template(a Act, runs time.Duration) fields {
	_, app, _ := strings.Cut(a.Object, "/")
	annotations := fields{}
	for key, value := range l.Annotations {
		annotations[key] = value
	}
	if runs > 0 {
		annotations[node.RunForAnnotation] = runs.String()
	}
	requests := fields{}
	if a.CPU > 0 {
		requests["cpu"] = resource.NewMilliQuantity(int64(1000*a.CPU+0.5), resource.DecimalSI).String()
	}
	if a.Memory > 0 {
		requests["memory"] = bytesOf(a.Memory)
	}
	spec := fields{"containers": []any{fields{"name": "app", "image": "app", "resources": fields{"requests": requests}}}}
	if l.Priority != 0 {
		spec["priorityClassName"] = l.className()
	}
	if len(l.NodeSelector) > 0 {
		spec["nodeSelector"] = l.NodeSelector
	}
	if len(l.Tolerations) > 0 {
		spec["tolerations"] = l.Tolerations
	}
	selector := fields{"matchLabels": fields{"load": l.Name}}
	switch l.Spread {
	case "zones":
		spec["topologySpreadConstraints"] = []any{fields{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
			"whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}}
	case "nodes":
		spec["affinity"] = fields{"podAntiAffinity": fields{"requiredDuringSchedulingIgnoredDuringExecution": []any{
			fields{"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}}}}
	}
	return fields{"metadata": fields{"labels": fields{"app": app, "load": l.Name}, "annotations": annotations}, "spec": spec}
}

func (l Load) deploy(a Act) string {
	return toYAML(fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": l.Name},
		"spec": fields{"replicas": a.Pods, "selector": fields{"matchLabels": fields{"app": l.Name}}, "template": l.template(a, 0)}})
}

// job has a pod that was evicted come again, however often that is.
func (l Load) job(a Act, runs time.Duration) string {
	_, name, _ := strings.Cut(a.Object, "/")
	template := l.template(a, runs)
	template["spec"].(fields)["restartPolicy"] = "Never"
	return toYAML(fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": name}, "spec": fields{
		"parallelism": a.Pods, "completions": a.Pods, "backoffLimit": 1000, "ttlSecondsAfterFinished": keptFor, "template": template}})
}

func (l Load) pod(a Act, runs time.Duration) string {
	_, name, _ := strings.Cut(a.Object, "/")
	object := l.template(a, runs)
	object["apiVersion"], object["kind"] = "v1", "Pod"
	object["metadata"].(fields)["name"] = name
	if runs > 0 {
		object["spec"].(fields)["restartPolicy"] = "Never"
	}
	return toYAML(object)
}

func (l Load) className() string { return "load-" + l.Name }

// priorityClass is that of the load's pods, or nothing.
func (l Load) priorityClass() string {
	if l.Priority == 0 {
		return ""
	}
	return toYAML(fields{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": fields{"name": l.className()},
		"value": l.Priority})
}

// budget is that of a Deployment's pods, or nothing.
func (l Load) budget() string {
	if l.MaxUnavailable == 0 {
		return ""
	}
	return toYAML(fields{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": fields{"name": l.Name},
		"spec": fields{"maxUnavailable": l.MaxUnavailable, "selector": fields{"matchLabels": fields{"app": l.Name}}}})
}
