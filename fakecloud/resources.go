package fakecloud

import (
	"net/netip"
	"time"

	"nodestorm/fakecloud/table"
)

// PlacementGroup spreads instances over hosts.
type PlacementGroup struct {
	table.Meta
	Type string // "spread"
}

// MaxSpread is how many instances a spread group may hold (docs.hetzner.com, Cloud, Placement
// Groups, overview: "10 servers").
const MaxSpread = 10

// Firewall is a set of rules for instances.
type Firewall struct {
	table.Meta
	Rules     []FirewallRule
	Servers   []int64
	Selectors []string // label selectors of further instances
}

// FirewallRule is one rule. Port and Description are nil where not given.
type FirewallRule struct {
	Direction, Protocol       string
	SourceIPs, DestinationIPs []string
	Port, Description         *string
}

// SSHKey is a public key.
type SSHKey struct {
	table.Meta
	Fingerprint, PublicKey string
}

// Volume is a disk of its own.
type Volume struct {
	table.Meta
	Size     int // GB
	Location string
	Server   int64   // zero: attached to none
	Format   *string // nil: raw
}

// PrimaryIP is an address that outlives or goes with its instance.
type PrimaryIP struct {
	table.Meta
	Type         string // "ipv4" or "ipv6"
	IP           netip.Addr
	Location     string
	AssigneeType string // "server", "load_balancer" or "unassigned"
	AssigneeID   int64
	AutoDelete   bool
	DNSPtr       map[string]string
}

// FloatingIP is an address that moves between instances.
type FloatingIP struct {
	table.Meta
	Type, Description string
	IP                netip.Addr
	HomeLocation      string
	Server            int64
	DNSPtr            map[string]string
}

// Certificate is a TLS certificate for load balancers.
type Certificate struct {
	table.Meta
	Type                string // "uploaded" or "managed"
	PEM, Fingerprint    string
	NotBefore, NotAfter time.Time
	DomainNames         []string
}

// LoadBalancer spreads traffic over targets.
type LoadBalancer struct {
	table.Meta
	Type, Location, Algorithm string
	Public                    bool
	IPv4, IPv6                netip.Addr
	PrimaryIPv4ID             int64
	PrimaryIPv6ID             int64
	Networks                  []Attachment
	Services                  []Service
	Targets                   []Target
	DNSPtr                    map[string]string
}

// Service is one port that a load balancer listens on.
type Service struct {
	Protocol                    string // "tcp", "http" or "https"
	ListenPort, DestinationPort int
	ProxyProtocol               bool
	HTTP                        *ServiceHTTP // nil for tcp
	Check                       HealthCheck
}

// ServiceHTTP is what only HTTP services have.
type ServiceHTTP struct {
	CookieName                   string
	CookieLifetime               int // seconds
	Certificates                 []int64
	RedirectHTTP, StickySessions bool
	TimeoutIdle                  int // seconds
}

// HealthCheck is how a service finds out which targets are well.
type HealthCheck struct {
	Protocol               string
	Port                   int
	Interval, Timeout      int // seconds
	Retries                int
	Domain, Path, Response string // HTTP only
	StatusCodes            []string
	TLS                    bool
}

// Target is where a load balancer sends traffic: exactly one of Server, Selector and IP is set.
type Target struct {
	Server       int64
	Selector     string
	IP           string
	UsePrivateIP bool
}
