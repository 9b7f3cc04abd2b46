package world_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/time/clock"
	"nodestorm/sim/time/clock/disktest"
)

// A world whose folder stands still for 3 s is distorted, and says who waited.
func TestStalledFolder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cfg := config(t, clock.Auto)
	dir, stall := disktest.New(t)
	cfg.Out = dir
	w := start(t, cfg)
	w.Begin()
	if why := w.Driver().Figures().Distorted(); why != "" {
		t.Logf("a busy machine: %s", why)
	}
	// Calls, and so events of the history, all the time.
	calls := make(chan error, 1)
	calling, enough := context.WithCancel(ctx)
	go func() {
		for calling.Err() == nil {
			c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c", Namespace: "default"}}
			if _, err := w.Client().CoreV1().ConfigMaps("default").Create(ctx, c, metav1.CreateOptions{}); err != nil {
				calls <- err
				return
			}
			w.Clock().Sleep(100 * time.Millisecond)
		}
		calls <- nil
	}()
	w.Clock().Sleep(5 * time.Second)
	stall(3 * time.Second)
	enough()
	select {
	case err := <-calls:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("no call ended after the stall")
	}
	f := w.Driver().Figures()
	if why := f.Distorted(); !strings.Contains(why, "nodestorm: waited ") || !strings.Contains(why, "for a disk") {
		t.Errorf("after a stall of 3s the reason is %q; %+v", why, f.Programs)
	}
	for _, p := range f.Programs {
		t.Logf("%+v", p)
	}
}
