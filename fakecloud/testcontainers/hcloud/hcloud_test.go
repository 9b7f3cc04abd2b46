package hcloud_test

import (
	"net"
	"strings"
	"testing"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/testcontainers/testcontainers-go"

	"nodestorm/fakecloud/testcontainers/hcloud"
	"nodestorm/fakecloud/testcontainers/internal/needs"
)

// A test of another project: three lines and there is a cloud; what follows is the
// project's own.
func TestServerIsCreated(t *testing.T) {
	needs.Image(t, hcloud.Image)

	cloud, err := hcloud.Run(t.Context(), hcloud.Image)
	testcontainers.CleanupContainer(t, cloud)
	client := clientOf(t, cloud, err)

	created, _, err := client.Server.Create(t.Context(), api.ServerCreateOpts{
		Name: "web-1", ServerType: &api.ServerType{Name: "cx23"}, Image: &api.Image{Name: "ubuntu-24.04"}, Location: &api.Location{Name: "fsn1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Action.WaitFor(t.Context(), append(created.NextActions, created.Action)...); err != nil {
		t.Fatal(err)
	}
	server, _, err := client.Server.GetByName(t.Context(), "web-1")
	if err != nil || server == nil || server.Status != api.ServerStatusRunning {
		t.Errorf("the server is %+v, %v", server, err)
	}
	endpoint, _ := cloud.URL(t.Context())
	stranger := api.NewClient(api.WithEndpoint(endpoint), api.WithToken("another"))
	if _, err := stranger.Server.All(t.Context()); !api.IsError(err, api.ErrorCodeUnauthorized) {
		t.Errorf("with another token: %v", err)
	}
	if !strings.HasPrefix(endpoint, "http://127.0.0.1:") && !strings.HasPrefix(endpoint, "http://localhost:") {
		t.Errorf("it is at %s", endpoint)
	}
}

// The cloud has the faults that it is configured with.
func TestFaults(t *testing.T) {
	needs.Image(t, hcloud.Image)
	cloud, err := hcloud.Run(t.Context(), hcloud.Image, hcloud.WithToken("mine"), hcloud.WithFaults(`faults:
- name: no network
  match: {operation: POST /networks}
  refuse: {code: resource_limit_exceeded, message: network limit exceeded}
`))
	testcontainers.CleanupContainer(t, cloud)
	client := clientOf(t, cloud, err)
	if cloud.Token() != "mine" {
		t.Errorf("the token is %q", cloud.Token())
	}
	if _, _, err := client.Network.Create(t.Context(), api.NetworkCreateOpts{Name: "n", IPRange: &net.IPNet{IP: net.IPv4(10, 0, 0, 0),
		Mask: net.CIDRMask(16, 32)}}); !api.IsError(err, api.ErrorCodeResourceLimitExceeded) {
		t.Errorf("creating a network: %v", err)
	}
	if _, err := client.Location.All(t.Context()); err != nil {
		t.Errorf("the rest works: %v", err)
	}
}

// Errors are returned, and nothing is left running.
func TestWrong(t *testing.T) {
	needs.Image(t, hcloud.Image)
	cloud, err := hcloud.Run(t.Context(), hcloud.Image, hcloud.WithFaults("faults: [{name: x, explode: {}}]"))
	testcontainers.CleanupContainer(t, cloud)
	if err == nil || !strings.Contains(err.Error(), "explode") {
		t.Errorf("an unknown fault: %v", err)
	}
}

func clientOf(t *testing.T, cloud *hcloud.Container, err error) *api.Client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := cloud.URL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(api.WithEndpoint(endpoint), api.WithToken(cloud.Token()))
}
