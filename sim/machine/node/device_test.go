package node

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/sim/fault"
)

// TestDevices has one plugin come late, and another one end and come back.
func TestDevices(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Capacity: corev1.ResourceList{
			"cpu": resource.MustParse("4"), "example.com/late": resource.MustParse("2"), "example.com/lost": resource.MustParse("1"),
		}, Profile: Profile{Faults: []fault.Fault{
			of("late", DeviceMissing{Resource: "example.com/late"}, 0, 2*time.Minute),
			of("lost", DeviceMissing{Resource: "example.com/lost"}, 5*time.Minute, time.Minute),
			of("nothing", DeviceMissing{Resource: "example.com/other"}, 0, time.Minute),
		}}})
		for _, at := range []struct {
			time       time.Duration
			late, lost string
		}{{time.Second, "0", "1"}, {3 * time.Minute, "2", "1"}, {5*time.Minute + time.Second, "2", "0"}, {7 * time.Minute, "2", "1"}} {
			w.at(at.time)
			for name, want := range map[corev1.ResourceName]string{"cpu": "4", "example.com/late": at.late, "example.com/lost": at.lost} {
				status := w.node().Status
				for list, has := range map[string]corev1.ResourceList{"capacity": status.Capacity, "allocatable": status.Allocatable} {
					same(t, at.time.String()+" "+list+" "+string(name), has.Name(name, resource.DecimalSI).String(), want)
				}
			}
		}
		if err := Faults.Check(of("all", DeviceMissing{Resource: "cpu"}, 0, 0)); err == nil {
			t.Error("a machine loses its processors")
		}
		for name, from := range map[string][2]time.Duration{
			"late": {0, 2 * time.Minute}, "lost": {5 * time.Minute, 6 * time.Minute}, "nothing": {-1, -1},
		} {
			times := w.faultTimes(name)
			wantTime(t, "effective", times, from[0])
			wantTime(t, "cleared", times, from[1])
		}
	})
}
