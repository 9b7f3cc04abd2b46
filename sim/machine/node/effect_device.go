package node

import (
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/sim/fault"
)

// DeviceMissing means that no device plugin serves an extended resource which the machine has: one that comes late, ends,
// or never comes. The kubelet reports none of it then (devicemanager/manager.go, GetCapacity), and says so at once.
type DeviceMissing struct {
	Resource string `json:"resource"`
}

var _ = coming.Add("deviceMissing", DeviceMissing{}, fault.Say(`is without the resource "DEVICE"`, "resource")).
	Called("device missing")

// Check implements fault.Checker.
func (e DeviceMissing) Check(fault.Fault) error {
	// mutant: a machine may lose its processors
	if domain, name, _ := strings.Cut(e.Resource, "/"); domain == "" || name == "" {
		return errors.New("field resource is no extended resource: want a name with a domain, such as example.com/device")
	}
	return nil
}

func (e DeviceMissing) missing() corev1.ResourceName { return corev1.ResourceName(e.Resource) }

func (e DeviceMissing) visible(k *kubelet, a *armed, now time.Time) bool {
	has := k.allocatable()[e.missing()]
	return a.Active(now) && k.reportsNone(e.missing()) && !has.IsZero()
}

func (e DeviceMissing) recovered(k *kubelet, a *armed, now time.Time) bool {
	return a.Expired(now) && !k.reportsNone(e.missing())
}

// reportsNone reports whether the Node has nothing of a resource for pods.
func (k *kubelet) reportsNone(of corev1.ResourceName) bool {
	return k.node == nil || k.node.Status.Allocatable.Name(of, resource.DecimalSI).IsZero()
}

// allocatable is what the machine has for pods.
func (k *kubelet) allocatable() corev1.ResourceList {
	if k.spec.Allocatable != nil {
		return k.spec.Allocatable
	}
	return k.spec.Capacity
}

// devices are the amounts of resources, for a list of what the machine has, that the Node does not have as they are now.
func (k *kubelet) devices(now time.Time, machine, reported corev1.ResourceList) corev1.ResourceList {
	changed := corev1.ResourceList{}
	for a, e := range forEachFault[interface{ missing() corev1.ResourceName }](k) {
		is, has := machine[e.missing()]
		if !has {
			continue
		}
		if a.Active(now) {
			is = resource.Quantity{}
		}
		// mutant: a device that is back is not reported
		if was := reported[e.missing()]; was.Cmp(is) != 0 {
			changed[e.missing()] = is
		}
	}
	return changed
}

// devicesChanged reports whether the Node has other devices than the machine has now.
func (k *kubelet) devicesChanged(now time.Time) bool {
	return k.node != nil && len(k.devices(now, k.allocatable(), k.node.Status.Allocatable)) > 0
}
