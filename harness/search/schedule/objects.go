package schedule

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/machine/node"
)

// deployment are the objects that an act creates. Pods that are held have the annotation held.
func deployment(a Act, held string) string {
	text, priority := "", ""
	if a.Priority != 0 {
		text = fmt.Sprintf("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %d\n---\n", a.Name, a.Priority)
		priority = "      priorityClassName: " + a.Name + "\n"
	}
	var annotations []string
	grace := ""
	if a.Held {
		annotations = append(annotations, held)
	}
	if a.For > 0 {
		annotations = append(annotations, fmt.Sprintf("%s: %s", node.StopAfterAnnotation, a.For.Short()))
		grace = fmt.Sprintf("      terminationGracePeriodSeconds: %d\n", int(time.Duration(2*mostStop).Seconds()))
	}
	text += fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}, annotations: {%[3]s}}
    spec:
`, a.Name, a.Pods, strings.Join(annotations, ", ")) + priority + grace
	switch a.Spread {
	case "zones":
		text += fmt.Sprintf("      topologySpreadConstraints:\n        - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "+
			"whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: %s}}}\n", a.Name)
	case "nodes":
		text += fmt.Sprintf("      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "+
			"kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}\n", a.Name)
	}
	return text + fmt.Sprintf("      containers: [{name: %[1]s, image: %[1]s, resources: {requests: {cpu: %[2]dm}}}]\n", a.Name, a.CPU)
}

// job is the object that an act creates. A pod that is evicted comes again.
func job(a Act) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %[1]s}
spec:
  parallelism: %[2]d
  completions: %[2]d
  backoffLimit: 1000
  template:
    metadata: {labels: {app: %[1]s}, annotations: {%[3]s: %[4]s}}
    spec:
      restartPolicy: Never
      containers: [{name: %[1]s, image: %[1]s, resources: {requests: {cpu: %[5]dm}}}]
`, a.Name, a.Pods, node.RunForAnnotation, a.For, a.CPU)
}

// buffer are the objects that an act creates.
func buffer(a Act) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PodTemplate
metadata: {name: %[1]s}
template:
  metadata: {labels: {app: %[1]s}}
  spec: {containers: [{name: %[1]s, image: %[1]s, resources: {requests: {cpu: %[3]dm}}}]}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: %[1]s}
spec: {podTemplateRef: {name: %[1]s}, replicas: %[2]d}
`, a.Name, a.Pods, a.CPU)
}

// budget is the object that an act creates.
func budget(a Act) string {
	return fmt.Sprintf(`apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s}
spec: {maxUnavailable: %[2]d, selector: {matchLabels: {app: %[1]s}}}
`, a.Name, a.Pods)
}

// daemons is the object that an act creates: a pod on each Node, whatever its taints.
func daemons(a Act) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: DaemonSet
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: %[1]s, image: %[1]s, resources: {requests: {cpu: %[2]dm}}}]
`, a.Name, a.CPU)
}
