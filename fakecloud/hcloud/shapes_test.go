package hcloud

import (
	"reflect"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

type actionsBody struct {
	Actions []schema.Action `json:"actions"`
}

type passwordBody struct {
	Action       schema.Action `json:"action"`
	RootPassword *string       `json:"root_password"`
}

func init() {
	of := map[string]reflect.Type{}
	for name, value := range map[string]any{
		"GET /servers": schema.ServerListResponse{}, "POST /servers": schema.ServerCreateResponse{}, "/servers/{id}": schema.ServerGetResponse{},
		"DELETE /servers/{id}": schema.ServerDeleteResponse{}, "GET /servers/{id}/metrics": schema.ServerGetMetricsResponse{},
		"POST /servers/{id}/actions/create_image":    schema.ServerActionCreateImageResponse{},
		"POST /servers/{id}/actions/enable_rescue":   schema.ServerActionEnableRescueResponse{},
		"POST /servers/{id}/actions/reset_password":  schema.ServerActionResetPasswordResponse{},
		"POST /servers/{id}/actions/rebuild":         passwordBody{},
		"POST /servers/{id}/actions/request_console": schema.ServerActionRequestConsoleResponse{},
		"GET /server_types":                          schema.ServerTypeListResponse{}, "/server_types/{id}": schema.ServerTypeGetResponse{},
		"GET /locations": schema.LocationListResponse{}, "/locations/{id}": schema.LocationGetResponse{},
		"GET /datacenters": schema.DatacenterListResponse{}, "/datacenters/{id}": schema.DatacenterGetResponse{},
		"GET /load_balancer_types": schema.LoadBalancerTypeListResponse{}, "/load_balancer_types/{id}": schema.LoadBalancerTypeGetResponse{},
		"GET /isos": schema.ISOListResponse{}, "/isos/{id}": schema.ISOGetResponse{},
		"GET /images": schema.ImageListResponse{}, "/images/{id}": schema.ImageGetResponse{}, "GET /pricing": schema.PricingGetResponse{},
		"GET /networks": schema.NetworkListResponse{}, "POST /networks": schema.NetworkCreateResponse{},
		"/networks/{id}":             schema.NetworkGetResponse{},
		"GET /networks/{id}/members": schema.NetworkMemberListResponse{},
		"GET /load_balancers":        schema.LoadBalancerListResponse{}, "POST /load_balancers": schema.LoadBalancerCreateResponse{},
		"/load_balancers/{id}": schema.LoadBalancerGetResponse{}, "DELETE /load_balancers/{id}": schema.ActionGetResponse{},
		"GET /load_balancers/{id}/metrics": schema.LoadBalancerGetMetricsResponse{},
		"GET /volumes":                     schema.VolumeListResponse{}, "POST /volumes": schema.VolumeCreateResponse{},
		"/volumes/{id}":    schema.VolumeGetResponse{},
		"GET /primary_ips": schema.PrimaryIPListResponse{}, "POST /primary_ips": schema.PrimaryIPCreateResponse{},
		"/primary_ips/{id}": schema.PrimaryIPGetResponse{},
		"GET /floating_ips": schema.FloatingIPListResponse{}, "POST /floating_ips": schema.FloatingIPCreateResponse{},
		"/floating_ips/{id}": schema.FloatingIPGetResponse{},
		"GET /firewalls":     schema.FirewallListResponse{}, "POST /firewalls": schema.FirewallCreateResponse{},
		"/firewalls/{id}":       schema.FirewallGetResponse{},
		"GET /placement_groups": schema.PlacementGroupListResponse{}, "POST /placement_groups": schema.PlacementGroupCreateResponse{},
		"/placement_groups/{id}": schema.PlacementGroupGetResponse{},
		"GET /ssh_keys":          schema.SSHKeyListResponse{}, "POST /ssh_keys": schema.SSHKeyCreateResponse{},
		"/ssh_keys/{id}":    schema.SSHKeyGetResponse{},
		"GET /certificates": schema.CertificateListResponse{}, "POST /certificates": schema.CertificateCreateResponse{},
		"/certificates/{id}": schema.CertificateGetResponse{},
	} {
		if strings.HasPrefix(name, "/") { // read and changed alike
			of["GET "+name], of["PUT "+name] = reflect.TypeOf(value), reflect.TypeOf(value)
			continue
		}
		of[name] = reflect.TypeOf(value)
	}
	for _, op := range operations() {
		if of[op.Name] != nil || !strings.Contains(op.Name, "/actions") {
			continue
		}
		switch {
		case strings.HasSuffix(op.Name, "/actions"):
			of[op.Name] = reflect.TypeFor[schema.ActionListResponse]()
		case strings.HasPrefix(op.Name, "POST /firewalls"):
			of[op.Name] = reflect.TypeFor[actionsBody]()
		default:
			of[op.Name] = reflect.TypeFor[schema.ActionGetResponse]()
		}
	}
	shapes.of = of
}
