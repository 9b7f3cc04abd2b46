package clusterapi

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace and ClusterName are those of the one cluster of a world.
const (
	Namespace   = "default"
	ClusterName = "storm"
)

// kubernetesVersion is what Machines say that they run. Cluster API compares it
// with the control plane's, and nothing else does.
const kubernetesVersion = "v1.36.3"

// CreateCluster creates the cluster, and waits until Cluster API says that its
// control plane is initialized: only then does it look at nodes.
func (a *ClusterAPI) CreateCluster(ctx context.Context) error {
	infra := object(infrastructure+"/"+version, "NodestormCluster", ClusterName)
	plane := object(controlPlane+"/"+version, "NodestormControlPlane", ClusterName)
	setSpec(plane, map[string]any{"version": kubernetesVersion})
	cluster := object(core+"/"+version, "Cluster", ClusterName)
	setSpec(cluster, map[string]any{"infrastructureRef": refTo(infra), "controlPlaneRef": refTo(plane)})
	if err := a.create(ctx, infra, plane, cluster); err != nil {
		return err
	}
	return a.cfg.World.Await(ctx, 5*time.Minute, func(ctx context.Context) error {
		err := a.client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)
		if err == nil && (condition(cluster, "ControlPlaneInitialized") != "True" || condition(cluster, "InfrastructureReady") != "True") {
			err = fmt.Errorf("the Cluster %q is not initialized", ClusterName)
		}
		return err
	})
}

// MachineDeployment is one, with the templates of the same name; a MachinePool is made
// from the same.
type MachineDeployment struct {
	Name         string
	Replicas     int64
	InstanceType string // of the cloud; empty means cpx31: 4 CPUs, 8 GB
	// Labels are its own and its template's, which Cluster API hands on to MachineSets and
	// Machines; Annotations are its own only.
	Labels, Annotations map[string]string
	// Taints and NodeLabels are what its nodes register with: "key=value:Effect,…",
	// "key=value,…".
	Taints, NodeLabels string
	// Zone is the failure domain of its machines, and their nodes' zone. Empty: none.
	Zone string
}

const defaultInstanceType = "cpx31"

// CreateMachineDeployment creates it; its machines come by and by.
func (a *ClusterAPI) CreateMachineDeployment(ctx context.Context, d MachineDeployment) error {
	if d.InstanceType == "" {
		d.InstanceType = defaultInstanceType
	}
	machine := MachineTemplate(d.Name, d.InstanceType)
	config := object(bootstrap+"/"+version, "NodestormConfigTemplate", d.Name)
	setSpec(config, map[string]any{"template": map[string]any{"spec": map[string]any{"taints": d.Taints, "nodeLabels": d.NodeLabels}}})
	md := object(core+"/"+version, "MachineDeployment", d.Name)
	md.SetLabels(d.Labels)
	md.SetAnnotations(d.Annotations)
	setSpec(md, map[string]any{
		"clusterName": ClusterName,
		"replicas":    d.Replicas,
		"selector":    map[string]any{"matchLabels": map[string]any{}},
		"template":    template(d, config, machine),
	})
	return a.create(ctx, machine, config, md)
}

// MachineTemplate is the template of machines of an instance type. Templates do not
// change: a rolling update is the change to another one.
func MachineTemplate(name, instanceType string) *unstructured.Unstructured {
	machine := object(infrastructure+"/"+version, "NodestormMachineTemplate", name)
	setSpec(machine, map[string]any{"template": map[string]any{"spec": map[string]any{"instanceType": instanceType}}})
	return machine
}

// CreateMachinePool creates a MachinePool, with the infrastructure and the bootstrap
// configuration of the same name; its instances come by and by.
func (a *ClusterAPI) CreateMachinePool(ctx context.Context, d MachineDeployment) error {
	if d.InstanceType == "" {
		d.InstanceType = defaultInstanceType
	}
	infra := object(infrastructure+"/"+version, "NodestormMachinePool", d.Name)
	setSpec(infra, map[string]any{"instanceType": d.InstanceType})
	config := object(bootstrap+"/"+version, "NodestormConfig", d.Name)
	setSpec(config, map[string]any{"taints": d.Taints, "nodeLabels": d.NodeLabels})
	pool := object(core+"/"+version, "MachinePool", d.Name)
	pool.SetLabels(d.Labels)
	pool.SetAnnotations(d.Annotations)
	setSpec(pool, map[string]any{
		"clusterName": ClusterName,
		"replicas":    d.Replicas,
		"template":    template(d, config, infra),
	})
	return a.create(ctx, infra, config, pool)
}

// template is what machines are made of.
func template(d MachineDeployment, config, infra *unstructured.Unstructured) map[string]any {
	labels := map[string]any{}
	for key, value := range d.Labels {
		labels[key] = value
	}
	spec := map[string]any{
		"clusterName":       ClusterName,
		"version":           kubernetesVersion,
		"bootstrap":         map[string]any{"configRef": refTo(config)},
		"infrastructureRef": refTo(infra),
	}
	if d.Zone != "" {
		spec["failureDomain"] = d.Zone
	}
	return map[string]any{"metadata": map[string]any{"labels": labels}, "spec": spec}
}

// CreateHealthCheck has the machines of a MachineDeployment replaced whose node is
// not Ready for so long, or does not come within startup.
func (a *ClusterAPI) CreateHealthCheck(ctx context.Context, deployment string, notReady, startup time.Duration) error {
	check := object(core+"/"+version, "MachineHealthCheck", deployment)
	unhealthy := func(status string) any {
		return map[string]any{"type": "Ready", "status": status, "timeout": metav1.Duration{Duration: notReady}.Duration.String()}
	}
	setSpec(check, map[string]any{
		"clusterName":         ClusterName,
		"selector":            map[string]any{"matchLabels": map[string]any{deploymentLabel: deployment}},
		"unhealthyConditions": []any{unhealthy("Unknown"), unhealthy("False")},
		"nodeStartupTimeout":  startup.String(),
	})
	return a.create(ctx, check)
}

func (a *ClusterAPI) create(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := a.client.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func setSpec(o *unstructured.Unstructured, spec map[string]any) { o.Object["spec"] = spec }

func refTo(o *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "namespace": o.GetNamespace()}
}

// condition is the status of a condition, empty where it is missing.
func condition(o *unstructured.Unstructured, name string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == name {
			status, _ := c["status"].(string)
			return status
		}
	}
	return ""
}
