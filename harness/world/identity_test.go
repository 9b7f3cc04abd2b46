package world_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
)

// testActor: what we do is nodestorm's in the history, and not that of the program's file, which may have any name.
func testActor(t *testing.T, w *world.World) {
	client, err := kubernetes.NewForConfig(w.Admin())
	if err != nil {
		t.Fatal(err)
	}
	ours := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ours"}}
	if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), ours, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	made, err := w.History().Wait(ctx, func(r history.Entry) bool { return r.Object.Name == ours.Name })
	if err != nil || made.Actor != "nodestorm" {
		t.Errorf("%q has made it, %v", made.Actor, err)
	}
}

// testHost: a program of a world reads its own name as the host name, and not that of this machine.
func testHost(t *testing.T, w *world.World) {
	if !process.NamesHosts() {
		t.Skip("not root, or without CAP_SYS_ADMIN: no process can have a host name of its own")
	}
	said := make(chan string, 1)
	p, err := w.StartComponent(t.Context(), process.Spec{
		Name: "target-2", Path: "/bin/sh", Args: []string{"-c", "cat /proc/sys/kernel/hostname; exec sleep 1000"},
		Lines: func(line []byte) { said <- string(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.StopProgram(t.Context(), p.Name(), true) }()
	select {
	case host := <-said:
		if host != "target-2" {
			t.Errorf("it is on %q", host)
		}
	case <-time.After(time.Minute):
		t.Error("it says nothing")
	}
}
