package ec2

import (
	"cmp"
	"encoding/base64"
	"errors"
	"slices"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// Template is a launch template of a group.
type Template struct{ ID, Name string }

// ForGroup is what a group has whose instances are launched from a template, in subnets, or in a subnet of each zone: there has
// to be one. Where the template has requirements in place of a type, it is the first that fits.
func (s *Service) ForGroup(tx *fakecloud.Tx, id, name, version string, subnets, zones []string) (fakecloud.Group, Template, error) {
	t, err := s.find(id, name, version)
	if err != nil {
		return fakecloud.Group{}, Template{}, err
	}
	tags, _ := tagsFor(t.data.Tags, "instance") // checked with the template
	g := fakecloud.Group{Type: t.data.InstanceType, InstanceLabels: tags}
	image, of := s.imageNamed(tx, t.data.ImageID)
	if image == nil {
		return g, Template{}, missing("AMIID", "image id", "["+t.data.ImageID+"]")
	}
	if r := t.data.Requirements; r != nil {
		if fitting := s.fitting(r, image.Architecture); len(fitting) > 0 {
			g.Type = fitting[0]
		}
	}
	user, _ := base64.StdEncoding.DecodeString(t.data.UserData) // checked with the template
	g.Image, g.UserData = of.Name, string(user)
	places := make([]order, max(len(subnets), len(zones)))
	for k := range places {
		o := &order{typeName: g.Type, image: t.data.ImageID, data: &t.data, template: t}
		if len(subnets) > 0 {
			o.subnet = subnets[k]
		} else {
			o.zone = zones[k]
		}
		r, err := s.resolve(tx, o)
		if err != nil {
			return g, Template{}, err
		}
		g.Places = append(g.Places, fakecloud.Place{Location: r.zone, Network: r.network.ID, Subnet: r.in.Range})
	}
	g.Location = g.Places[0].Location
	return g, Template{t.id, t.name}, nil
}

// Adopt notes what EC2 has of an instance that the cloud launched for a group from a template.
func (s *Service) Adopt(tx *fakecloud.Tx, i *fakecloud.Instance, from Template) {
	k := slices.IndexFunc(s.templates, func(t *template) bool { return t.id == from.ID })
	if k < 0 || len(i.Networks) == 0 {
		return
	}
	t := s.templates[k]
	o := &order{typeName: i.Type, image: t.data.ImageID, zone: i.Location, data: &t.data, template: t, reservation: "r-" + tx.Hex(17)}
	if n := tx.Networks.Get(i.Networks[0].Network); n != nil {
		for _, in := range n.Subnets {
			if in.Range.Contains(i.Networks[0].IP) {
				o.subnet = in.Name
			}
		}
	}
	if r, err := s.resolve(tx, o); err == nil {
		s.keep(tx, i, r)
	}
}

// Refusal is in EC2's words why an instance of a type could not be launched in a zone; struck is that a fault's words are those already.
func Refusal(f *fakecloud.Failure, struck bool, typeName, zone string) string {
	if struck {
		return cmp.Or(f.Message, api.Message(f.Code))
	}
	is := &wire.Error{}
	if errors.As(refusal(fakecloud.Errorf(f.Code, "%s", f.Message), &order{typeName: typeName, zone: zone}), &is) {
		return is.Message
	}
	return f.Message
}
