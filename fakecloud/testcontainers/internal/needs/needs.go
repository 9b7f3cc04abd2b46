// Package needs skips tests that lack something, by name and with the command that brings
// it.
package needs

import (
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// Image skips the test without Docker, or if Docker does not have the image: the test must not
// look for it in a registry.
func Image(t *testing.T, name string) {
	t.Helper()
	docker, err := testcontainers.NewDockerProvider()
	if err == nil {
		defer docker.Close()
		err = docker.Health(t.Context())
	}
	if err != nil {
		t.Skipf("no Docker answers: %v; start dockerd, or name its socket in DOCKER_HOST", err)
	}
	if _, err := docker.Client().ImageInspect(t.Context(), name); err != nil {
		t.Skipf("Docker does not have the image: %v; make and load it with: make image && docker load --input bin/image.tar", err)
	}
}
