package clusterautoscaler

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is a node group of the Hetzner provider.
type Group struct {
	Name string
	// Min and Max are how many instances it may have, both inclusive.
	Min, Max int
	// Type and Location are the cloud's names: "cx22", "fsn1".
	Type, Location string
}

// Intent says what is wanted of a Cluster Autoscaler in words that do not depend
// on its version. What is zero stays as the manifest or the build has it.
type Intent struct {
	// Provider is the value of --cloud-provider. Required.
	Provider string
	Groups   []Group
	// Discovery are values of --node-group-auto-discovery: which groups to look
	// after, where they are not listed. Cluster API's: "clusterapi:clusterName=x".
	Discovery []string
	// Expander chooses among groups. Empty is "least-waste", whatever the
	// build's default: random until 1.32.
	Expander string
	// Backoff is how long a group is left alone after a failed scale-up, however
	// often it has failed. Builds have 5m, which grows to 30m.
	Backoff time.Duration
}

// The names that Kubernetes labels and Hetzner's server types and locations have.
var (
	groupName = regexp.MustCompile(`^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$`)
	cloudName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
)

// Check finds what is wrong with the intent before anything starts.
func (i Intent) Check() error {
	if i.Provider == "" {
		return errors.New("no cloud provider given")
	}
	var names []string
	for _, g := range i.Groups {
		if err := g.check(); err != nil {
			return err
		}
		if slices.Contains(names, g.Name) {
			return fmt.Errorf("node group %q is there twice", g.Name)
		}
		names = append(names, g.Name)
	}
	if i.Backoff < 0 {
		return fmt.Errorf("the backoff is %s: want more than zero", i.Backoff)
	}
	return nil
}

func (g Group) check() error {
	switch {
	case !groupName.MatchString(g.Name) || len(g.Name) > 63:
		return fmt.Errorf("node group %q: want a name of letters, digits, dots and dashes, at most 63", g.Name)
	case g.Min < 0 || g.Max < 1 || g.Min > g.Max:
		return fmt.Errorf("node group %q: from %d to %d instances: want 0 <= min <= max, and max above 0", g.Name, g.Min, g.Max)
	case !cloudName.MatchString(g.Type):
		return fmt.Errorf("node group %q: %q is no server type (want for example cx22)", g.Name, g.Type)
	case !cloudName.MatchString(g.Location):
		return fmt.Errorf("node group %q: %q is no location (want for example fsn1)", g.Name, g.Location)
	}
	return nil
}

// String is the group as --nodes has it.
func (g Group) String() string {
	return fmt.Sprintf("%d:%d:%s:%s:%s", g.Min, g.Max, g.Type, g.Location, g.Name)
}

// ParseGroup reads min:max:type:location:name.
func ParseGroup(text string) (Group, error) {
	parts := strings.SplitN(text, ":", 5)
	if len(parts) != 5 {
		return Group{}, fmt.Errorf("node group %q: want min:max:type:location:name, for example 1:10:cx22:fsn1:pool1", text)
	}
	from, errMin := strconv.Atoi(parts[0])
	to, errMax := strconv.Atoi(parts[1])
	if errMin != nil || errMax != nil {
		return Group{}, fmt.Errorf("node group %q: min and max: want whole numbers", text)
	}
	g := Group{Min: from, Max: to, Type: parts[2], Location: parts[3], Name: parts[4]}
	return g, g.check()
}

// stated are the flags that the intent asks for by name.
func (i Intent) stated() flags {
	var f flags
	f.add("cloud-provider", i.Provider)
	for _, g := range i.Groups {
		f.add("nodes", g.String())
	}
	for _, d := range i.Discovery {
		f.add("node-group-auto-discovery", d)
	}
	if i.Expander != "" {
		f.add("expander", i.Expander)
	}
	if i.Backoff != 0 {
		f.add("initial-node-group-backoff-duration", i.Backoff.String())
		f.add("max-node-group-backoff-duration", i.Backoff.String())
	}
	return f
}

// pins are the defaults that changed between versions, at the value that most
// have: a comparison across versions is to compare nothing else. A build without
// the flag behaves that way anyway.
var pins = flags{
	{"expander", "least-waste"},                     // random until 1.32
	{"cordon-node-before-terminating", "false"},     // true from 1.34
	{"frequent-loops-enabled", "false"},             // true from 1.35
	{"enable-dynamic-resource-allocation", "false"}, // true, and locked, from 1.35
	{"leader-elect", "false"},                       // there is only one; 1.32.0 cannot parse it
}

// commandLine is what to run a build with: the manifest's flags, of which those
// that the intent states and those that the place demands are replaced, and the
// pins where nothing was given. Without a manifest, given is nil.
func commandLine(k Known, given, stated, place flags) flags {
	line := given.replace(stated)
	for _, pin := range pins {
		if k.Has(pin.name) && !k.locked(pin.name) && !line.has(pin.name) {
			line.add(pin.name, pin.value)
		}
	}
	for _, p := range place {
		if k.Has(p.name) {
			line = line.replace(flags{p})
		}
	}
	return line
}
