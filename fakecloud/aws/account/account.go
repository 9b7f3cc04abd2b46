// Package account reads what an account of AWS has at the start: a file in YAML, which people write. What is wrong with it is said
// in one line. It serves nothing.
package account

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/sim/strict"
)

// Account is what an account has. What a file leaves out is as in Default.
type Account struct {
	// Account is its number, of 12 digits.
	Account string `json:"account"`
	Region  string `json:"region"`
	// Zones are the region's and a letter.
	Zones []string `json:"zones"`
	// Types are the instance types that are offered, by names in which * stands for any text. Nil: all that are known.
	Types   []string `json:"types"`
	Cluster Cluster  `json:"cluster"`
	// Queue is the name of the queue of interruptions. Empty: that of the cluster.
	Queue string `json:"queue"`
	VPC   VPC    `json:"vpc"`
	// Subnets and security groups are the VPC's. Nil: a subnet in each zone, and a group, tagged for Karpenter to discover.
	Subnets        []Subnet        `json:"subnets"`
	SecurityGroups []SecurityGroup `json:"securityGroups"`
	// Images are the account's own, beside AWS's for EKS.
	Images     []Image     `json:"images"`
	Parameters []Parameter `json:"parameters"`
	// Roles are names of roles that nodes can have. Nil: KarpenterNodeRole-CLUSTER.
	Roles            []string          `json:"roles"`
	InstanceProfiles []InstanceProfile `json:"instanceProfiles"`
}

// Cluster is the cluster that EKS describes.
type Cluster struct {
	Name string `json:"name"`
	// Version is that of its Kubernetes, as in 1.34: images are found by it.
	Version string `json:"version"`
	// Endpoint is its API server's URL, CertificateAuthority that's certificate as PEM, in base64.
	Endpoint             string `json:"endpoint"`
	CertificateAuthority string `json:"certificateAuthority"`
	// ServiceCIDR is the range of its Services.
	ServiceCIDR string `json:"serviceCIDR"`
}

// VPC is the network. An empty ID is drawn.
type VPC struct {
	ID    string            `json:"id"`
	Range string            `json:"range"`
	Tags  map[string]string `json:"tags"`
}

// Subnet is a part of the VPC in a zone. Of its addresses AWS keeps five. An empty ID is drawn.
type Subnet struct {
	ID    string            `json:"id"`
	Name  string            `json:"name"`
	Zone  string            `json:"zone"`
	Range string            `json:"range"`
	Tags  map[string]string `json:"tags"`
}

// SecurityGroup is one of the VPC's. An empty ID is drawn.
type SecurityGroup struct {
	ID   string            `json:"id"`
	Name string            `json:"name"`
	Tags map[string]string `json:"tags"`
}

// Image is an AMI of the account's. Its ID follows from its name.
type Image struct {
	Name string `json:"name"`
	// Architecture is x86_64 or arm64.
	Architecture string            `json:"architecture"`
	Description  string            `json:"description"`
	Created      time.Time         `json:"created"`
	Tags         map[string]string `json:"tags"`
}

// Parameter is one of SSM's: a text, or the ID of an image by its name.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Image string `json:"image"`
}

// InstanceProfile is one of IAM's. An empty path is "/".
type InstanceProfile struct {
	Name string            `json:"name"`
	Path string            `json:"path"`
	Role string            `json:"role"`
	Tags map[string]string `json:"tags"`
}

// Default is the account without a file: that of AWS's examples, with a cluster that is called nodestorm.
func Default() *Account {
	a := &Account{}
	a.complete()
	return a
}

// Read reads an account. Its error is a line that names the field.
func Read(text []byte) (*Account, error) {
	a := &Account{}
	if err := strict.Unmarshal(text, a); err != nil {
		return nil, err
	}
	a.complete()
	for _, check := range []func() error{
		a.checkRegion, a.checkTypes, a.checkCluster, a.checkNetwork, a.checkGroups, a.checkImages, a.checkParameters, a.checkProfiles,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// complete has it have what it leaves out.
func (a *Account) complete() {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&a.Account, "123456789012")
	set(&a.Region, aws.Region)
	set(&a.Cluster.Name, "nodestorm")
	set(&a.Cluster.Version, "1.36")
	set(&a.Cluster.Endpoint, "https://127.0.0.1:6443")
	set(&a.Cluster.ServiceCIDR, "10.100.0.0/16")
	set(&a.Queue, a.Cluster.Name)
	set(&a.VPC.Range, "10.0.0.0/16")
	if a.Zones == nil {
		for _, letter := range offer.Zones {
			a.Zones = append(a.Zones, a.Region+string(letter))
		}
	}
	if a.Roles == nil {
		a.Roles = []string{"KarpenterNodeRole-" + a.Cluster.Name}
	}
	for k := range a.InstanceProfiles {
		set(&a.InstanceProfiles[k].Path, "/")
	}
}

var (
	numberForm  = regexp.MustCompile(`^[0-9]{12}$`)
	regionForm  = regexp.MustCompile(`^[a-z]{2}-[a-z]+-[0-9]$`) // of the partition aws, whose ARNs are written here
	clusterForm = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)
	versionForm = regexp.MustCompile(`^1\.[0-9]{1,2}$`)
	queueForm   = regexp.MustCompile(`^[0-9A-Za-z_-]{1,80}$`)
	// iamForm is that of names of IAM's, pathForm of its paths.
	iamForm       = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)
	pathForm      = regexp.MustCompile(`^/([\x21-\x7e]{1,510}/)?$`)
	imageForm     = regexp.MustCompile(`^[\w()\[\] ./'@-]{3,128}$`)
	parameterForm = regexp.MustCompile(`^[\w./-]{1,1000}$`)
)

func (a *Account) checkRegion() error {
	switch {
	case !numberForm.MatchString(a.Account):
		return fmt.Errorf("account %q: want a text of 12 digits", a.Account)
	case !regionForm.MatchString(a.Region) || strings.HasPrefix(a.Region, "cn-"):
		return fmt.Errorf("region %q: want one such as %s", a.Region, aws.Region)
	case len(a.Zones) == 0:
		return fmt.Errorf("zones: want one at least, such as %sa", a.Region)
	}
	seen := map[string]bool{}
	for _, zone := range a.Zones {
		letter, of := strings.CutPrefix(zone, a.Region)
		switch {
		case !of || len(letter) != 1 || letter < "a" || letter > "z":
			return fmt.Errorf("zone %q: want the region and a letter, such as %sa", zone, a.Region)
		case seen[zone]:
			return fmt.Errorf("zone %q is there twice", zone)
		}
		seen[zone] = true
	}
	return nil
}

func (a *Account) checkTypes() error {
	if a.Types != nil && len(a.Types) == 0 {
		return fmt.Errorf("types: want one at least, or no such field for all")
	}
	for _, pattern := range a.Types {
		var names []string
		known := false
		for _, t := range offer.Types() {
			is, err := path.Match(pattern, t.Name)
			if err != nil {
				return fmt.Errorf("type %q: want a name, in which * stands for any text", pattern)
			}
			known = known || is
			names = append(names, t.Name)
		}
		if !known {
			return fmt.Errorf("type %q does not exist among the %d that are known%s", pattern, len(names), strict.Meant(pattern, names))
		}
	}
	return nil
}

// offers reports whether a type is offered.
func (a *Account) offers(name string) bool {
	return a.Types == nil || slices.ContainsFunc(a.Types, func(pattern string) bool {
		is, _ := path.Match(pattern, name) // checked
		return is
	})
}

func (a *Account) checkCluster() error {
	c := a.Cluster
	at, err := url.Parse(c.Endpoint)
	_, notBase64 := base64.StdEncoding.DecodeString(c.CertificateAuthority)
	services, notRange := netip.ParsePrefix(c.ServiceCIDR)
	switch {
	case !clusterForm.MatchString(c.Name):
		return fmt.Errorf("cluster.name %q: want 1 to 100 letters, digits, - and _", c.Name)
	case !versionForm.MatchString(c.Version):
		return fmt.Errorf("cluster.version %q: want one of Kubernetes, such as 1.34", c.Version)
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http":
		return fmt.Errorf("cluster.endpoint %q: want the URL of an API server", c.Endpoint)
	case notBase64 != nil:
		return fmt.Errorf("cluster.certificateAuthority is not in base64")
	case notRange != nil || !services.Addr().Is4() || services.Masked() != services:
		return fmt.Errorf("cluster.serviceCIDR %q: want a range of IPv4 addresses, such as 10.100.0.0/16", c.ServiceCIDR)
	case !queueForm.MatchString(a.Queue):
		return fmt.Errorf("queue %q: want 1 to 80 letters, digits, - and _", a.Queue)
	}
	return nil
}
