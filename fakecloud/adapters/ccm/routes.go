package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
)

// routes leads the pod addresses of each Node to its server, through the network.
type routes struct{ *cloud }

// ListRoutes lists all routes of the network. One whose gateway is no server's is a
// black hole, which the controller removes.
func (c routes) ListRoutes(ctx context.Context, _ string) ([]*cloudprovider.Route, error) {
	network, err := c.reload(ctx)
	if err != nil {
		return nil, err
	}
	if len(network.Routes) == 0 {
		return nil, nil
	}
	servers, err := c.client.Server.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the servers: %w", err)
	}
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	names := map[string]string{} // of Nodes by provider ID
	for _, n := range nodes {
		names[n.Spec.ProviderID] = n.Name
	}
	targets := map[string]string{} // names by private address
	for _, s := range servers {
		if ip := c.privateIP(s); ip != nil {
			name := names[idPrefix+strconv.FormatInt(s.ID, 10)]
			if name == "" {
				name = s.Name
			}
			targets[ip.String()] = name
		}
	}
	var list []*cloudprovider.Route
	for _, r := range network.Routes {
		target, known := targets[r.Gateway.String()]
		list = append(list, &cloudprovider.Route{
			Name:            r.Destination.String() + " via " + r.Gateway.String(),
			DestinationCIDR: r.Destination.String(),
			TargetNode:      types.NodeName(target),
			Blackhole:       !known,
		})
	}
	return list, nil
}

// reload asks for the network as it is now.
func (c *cloud) reload(ctx context.Context) (*hcloud.Network, error) {
	network, _, err := c.client.Network.GetByID(ctx, c.network.ID)
	if err == nil && network == nil {
		err = fmt.Errorf("it is gone")
	}
	if err != nil {
		return nil, fmt.Errorf("asking for network %q: %w", c.network.Name, err)
	}
	return network, nil
}

// CreateRoute leads route.DestinationCIDR to the address that the Node has in the
// network. A route to the same destination by another way goes first.
func (c routes) CreateRoute(ctx context.Context, _, _ string, route *cloudprovider.Route) error {
	_, destination, err := net.ParseCIDR(route.DestinationCIDR)
	if err != nil {
		return fmt.Errorf("destination of the route to %q: %w", route.TargetNode, err)
	}
	network, err := c.reload(ctx)
	if err != nil {
		return err
	}
	gateway, err := gateway(network, route.TargetNodeAddresses)
	if err != nil {
		return fmt.Errorf("route to %q: %w", route.TargetNode, err)
	}
	for _, r := range network.Routes {
		if r.Destination.String() != destination.String() {
			continue
		}
		if r.Gateway.Equal(gateway) {
			return nil
		}
		if err := c.remove(ctx, network, r); err != nil {
			return err
		}
	}
	action, _, err := c.client.Network.AddRoute(ctx, network, hcloud.NetworkAddRouteOpts{
		Route: hcloud.NetworkRoute{Destination: destination, Gateway: gateway},
	})
	if err == nil {
		err = c.client.Action.WaitFor(ctx, action)
	}
	if err != nil {
		return fmt.Errorf("adding route to %s via %s: %w", destination, gateway, err)
	}
	return nil
}

// gateway is the Node's internal address in the network.
func gateway(network *hcloud.Network, addresses []corev1.NodeAddress) (net.IP, error) {
	for _, a := range addresses {
		ip := net.ParseIP(a.Address)
		if a.Type == corev1.NodeInternalIP && ip != nil && network.IPRange.Contains(ip) {
			return ip, nil
		}
	}
	return nil, fmt.Errorf("the Node has no internal address in network %q (%s) yet", network.Name, network.IPRange)
}

// DeleteRoute removes the routes to a destination.
func (c routes) DeleteRoute(ctx context.Context, _ string, route *cloudprovider.Route) error {
	network, err := c.reload(ctx)
	if err != nil {
		return err
	}
	for _, r := range network.Routes {
		if r.Destination.String() == route.DestinationCIDR {
			if err := c.remove(ctx, network, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cloud) remove(ctx context.Context, network *hcloud.Network, r hcloud.NetworkRoute) error {
	action, _, err := c.client.Network.DeleteRoute(ctx, network, hcloud.NetworkDeleteRouteOpts{Route: r})
	if err == nil {
		err = c.client.Action.WaitFor(ctx, action)
	}
	if err != nil {
		return fmt.Errorf("removing route to %s via %s: %w", r.Destination, r.Gateway, err)
	}
	return nil
}
