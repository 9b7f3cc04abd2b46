package nemesis

import "fmt"

// deployment are the objects that an act creates.
func deployment(a Act) string {
	text, priority := "", ""
	if a.Priority != 0 {
		text = fmt.Sprintf("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %d\n---\n", a.Name, a.Priority)
		priority = "      priorityClassName: " + a.Name + "\n"
	}
	text += fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
`, a.Name, a.Pods) + priority
	switch a.Spread {
	case "zones":
		text += fmt.Sprintf("      topologySpreadConstraints:\n        - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: %s}}}\n", a.Name)
	case "nodes":
		text += fmt.Sprintf("      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}\n", a.Name)
	}
	return text + fmt.Sprintf("      containers: [{name: %[1]s, image: %[1]s, resources: {requests: {cpu: %[2]dm}}}]\n", a.Name, a.CPU)
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
