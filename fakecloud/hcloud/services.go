package hcloud

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
)

// service is a load balancer's service as requests have it: what is nil keeps its value.
type service = schema.LoadBalancerActionUpdateServiceRequest

// serviceOf is a service of a request that creates a load balancer.
func serviceOf(r schema.LoadBalancerCreateRequestService) service {
	s := service{Protocol: &r.Protocol, DestinationPort: r.DestinationPort, Proxyprotocol: r.Proxyprotocol}
	if r.ListenPort != nil {
		s.ListenPort = *r.ListenPort
	}
	s.HTTP = (*schema.LoadBalancerActionUpdateServiceRequestHTTP)(r.HTTP)
	if h := r.HealthCheck; h != nil {
		s.HealthCheck = &schema.LoadBalancerActionUpdateServiceRequestHealthCheck{
			Protocol: &h.Protocol, Port: h.Port, Interval: h.Interval, Timeout: h.Timeout, Retries: h.Retries,
			HTTP: (*schema.LoadBalancerActionUpdateServiceRequestHealthCheckHTTP)(h.HTTP),
		}
	}
	return s
}

func addService(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r service
	if err := c.Decode(&r); err != nil {
		return err
	}
	return appendService(c, lb, r)
}

// appendService checks a service and adds it, with the API's defaults for what it leaves open.
func appendService(c *rest.Call, lb *fakecloud.LoadBalancer, r service) error {
	if r.Protocol == nil {
		return fakecloud.Invalid("protocol", "must be tcp, http or https")
	}
	port := map[string]int{"http": 80, "https": 443}[*r.Protocol]
	if r.ListenPort == 0 {
		r.ListenPort = port
	}
	s := fakecloud.Service{
		ListenPort: r.ListenPort, DestinationPort: port,
		Check: fakecloud.HealthCheck{Protocol: "tcp", Interval: 15, Timeout: 10, Retries: 3},
	}
	if port == 443 {
		s.DestinationPort = 80
	}
	if err := fill(c, &s, r); err != nil {
		return err
	}
	if r.HealthCheck == nil || r.HealthCheck.Port == nil {
		s.Check.Port = s.DestinationPort
	}
	if slices.ContainsFunc(lb.Services, func(old fakecloud.Service) bool { return old.ListenPort == s.ListenPort }) {
		return fakecloud.Errorf("source_port_already_used", "source port %d is used already", s.ListenPort)
	}
	if limit := c.Cloud().Catalogue().LoadBalancerType(lb.Type).MaxServices; len(lb.Services) >= limit {
		return fakecloud.Errorf("resource_limit_exceeded", "load balancer type %s has at most %d services", lb.Type, limit)
	}
	lb.Services = append(lb.Services, s)
	return nil
}

func updateService(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r service
	if err := c.Decode(&r); err != nil {
		return err
	}
	k, err := serviceAt(lb, r.ListenPort)
	if err != nil {
		return err
	}
	return fill(c, &lb.Services[k], r)
}

func deleteService(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerDeleteServiceRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	k, err := serviceAt(lb, r.ListenPort)
	if err == nil {
		lb.Services = slices.Delete(lb.Services, k, k+1)
	}
	return err
}

func serviceAt(lb *fakecloud.LoadBalancer, port int) (int, error) {
	k := slices.IndexFunc(lb.Services, func(s fakecloud.Service) bool { return s.ListenPort == port })
	if k < 0 {
		return k, fakecloud.NotFound("load_balancer_service", port)
	}
	return k, nil
}

// fill puts what a request says into a service, and checks the result.
func fill(c *rest.Call, s *fakecloud.Service, r service) error {
	setIfGiven(&s.Protocol, r.Protocol)
	setIfGiven(&s.DestinationPort, r.DestinationPort)
	setIfGiven(&s.ProxyProtocol, r.Proxyprotocol)
	if s.Protocol == "tcp" {
		s.HTTP = nil
	} else if err := fillHTTP(c, s, r.HTTP); err != nil {
		return err
	}
	if h := r.HealthCheck; h != nil {
		setIfGiven(&s.Check.Protocol, h.Protocol)
		setIfGiven(&s.Check.Port, h.Port)
		setIfGiven(&s.Check.Interval, h.Interval)
		setIfGiven(&s.Check.Timeout, h.Timeout)
		setIfGiven(&s.Check.Retries, h.Retries)
		if http := h.HTTP; http != nil {
			setIfGiven(&s.Check.Domain, http.Domain)
			setIfGiven(&s.Check.Path, http.Path)
			setIfGiven(&s.Check.Response, http.Response)
			setIfGiven(&s.Check.StatusCodes, http.StatusCodes)
			setIfGiven(&s.Check.TLS, http.TLS)
		}
	}
	switch {
	case !slices.Contains([]string{"tcp", "http", "https"}, s.Protocol):
		return fakecloud.Invalid("protocol", "must be tcp, http or https")
	case !slices.Contains([]string{"tcp", "http"}, s.Check.Protocol):
		return fakecloud.Invalid("health_check.protocol", "must be tcp or http")
	case !isPort(s.ListenPort):
		return fakecloud.Invalid("listen_port", "must be 1 to 65535")
	case !isPort(s.DestinationPort):
		return fakecloud.Invalid("destination_port", "must be 1 to 65535")
	}
	return nil
}

func fillHTTP(c *rest.Call, s *fakecloud.Service, r *schema.LoadBalancerActionUpdateServiceRequestHTTP) error {
	http := fakecloud.ServiceHTTP{CookieName: "HCLBSTICKY", CookieLifetime: 300, TimeoutIdle: 50}
	if s.HTTP != nil {
		http = *s.HTTP
	}
	if r != nil {
		setIfGiven(&http.CookieName, r.CookieName)
		setIfGiven(&http.CookieLifetime, r.CookieLifetime)
		setIfGiven(&http.Certificates, r.Certificates)
		setIfGiven(&http.RedirectHTTP, r.RedirectHTTP)
		setIfGiven(&http.StickySessions, r.StickySessions)
		setIfGiven(&http.TimeoutIdle, r.TimeoutIdle)
	}
	for _, id := range http.Certificates {
		if c.Tx.Certificates.Get(id) == nil {
			return fakecloud.NotFound("certificate", id)
		}
	}
	s.HTTP = &http
	return nil
}

// setIfGiven stores what is there.
func setIfGiven[T any](into *T, value *T) {
	if value != nil {
		*into = *value
	}
}

func isPort(n int) bool { return n >= 1 && n <= 65535 }

func serviceBody(s fakecloud.Service) schema.LoadBalancerService {
	body := schema.LoadBalancerService{
		Protocol: s.Protocol, ListenPort: s.ListenPort, DestinationPort: s.DestinationPort, Proxyprotocol: s.ProxyProtocol,
		HealthCheck: &schema.LoadBalancerServiceHealthCheck{
			Protocol: s.Check.Protocol, Port: s.Check.Port, Interval: s.Check.Interval, Timeout: s.Check.Timeout, Retries: s.Check.Retries,
		},
	}
	if s.Check.Protocol == "http" {
		body.HealthCheck.HTTP = &schema.LoadBalancerServiceHealthCheckHTTP{
			Domain: s.Check.Domain, Path: s.Check.Path, Response: s.Check.Response, StatusCodes: rest.NonNil(s.Check.StatusCodes), TLS: s.Check.TLS,
		}
	}
	if h := s.HTTP; h != nil {
		body.HTTP = &schema.LoadBalancerServiceHTTP{
			CookieName: h.CookieName, CookieLifetime: h.CookieLifetime, Certificates: rest.NonNil(h.Certificates),
			RedirectHTTP: h.RedirectHTTP, StickySessions: h.StickySessions, TimeoutIdle: h.TimeoutIdle,
		}
	}
	return body
}
