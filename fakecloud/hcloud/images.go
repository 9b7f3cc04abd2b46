package hcloud

import (
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

var images = func() owned[fakecloud.Image] {
	o := newOwned("images", "image", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.Image] { return tx.Images }, (*call).image)
	o.filters = map[string]func(*fakecloud.Image, string) bool{
		"type":         func(i *fakecloud.Image, t string) bool { return i.Type == t },
		"status":       func(_ *fakecloud.Image, status string) bool { return status == "available" },
		"architecture": func(i *fakecloud.Image, architecture string) bool { return i.Architecture == architecture },
		"bound_to":     func(i *fakecloud.Image, id string) bool { return strconv.FormatInt(i.BoundTo, 10) == id },
	}
	o.hide = func(c *call, i *fakecloud.Image) bool {
		return !i.DeprecatedSince.IsZero() && c.r.URL.Query().Get("include_deprecated") != "true"
	}
	o.update = func(c *call, i *fakecloud.Image) error {
		var change schema.ImageUpdateRequest
		if err := c.decode(&change); err != nil {
			return err
		}
		if i.Type == "system" {
			return fakecloud.Errorf("forbidden", "system images cannot be changed")
		}
		if change.Description != nil {
			i.Description = *change.Description
		}
		if change.Type != nil {
			if *change.Type != "snapshot" {
				return fakecloud.Invalid("type", "must be snapshot")
			}
			i.Type, i.BoundTo = "snapshot", 0
		}
		return nil
	}
	o.free = func(_ *call, i *fakecloud.Image) error {
		if i.Type == "system" {
			return fakecloud.Errorf("forbidden", "system images cannot be deleted")
		}
		return nil
	}
	return o
}()

func imageOperations() []operation {
	return append([]operation{
		{"GET /images", images.list, true},
		{"GET /images/{id}", images.get, false},
		{"PUT /images/{id}", images.put, false},
		{"DELETE /images/{id}", images.delete, false},
		{"POST /images/{id}/actions/change_protection", images.protect, false},
	}, resourceActions("images", "image")...)
}

func (c *call) image(i *fakecloud.Image) any {
	s := schema.Image{
		ID: i.ID, Status: "available", Type: i.Type, Description: i.Description, DiskSize: i.DiskGB, Created: new(i.Created),
		OSFlavor: i.OSFlavor, Architecture: i.Architecture, RapidDeploy: i.Type == "system", Labels: labels(i.Labels),
		Protection: schema.ImageProtection{Delete: i.Protected},
	}
	if i.Name != "" {
		s.Name = new(i.Name)
	}
	if i.OSVersion != "" {
		s.OSVersion = new(i.OSVersion)
	}
	if i.Type != "system" {
		s.ImageSize = new(float32(2.3)) // GB: what a small system takes
	}
	if i.CreatedFrom != 0 {
		s.CreatedFrom = &schema.ImageCreatedFrom{ID: i.CreatedFrom, Name: i.FromName}
	}
	if i.BoundTo != 0 {
		s.BoundTo = new(i.BoundTo)
	}
	if !i.DeprecatedSince.IsZero() {
		s.Deprecated = new(i.DeprecatedSince)
		s.Deprecation = &schema.DeprecationInfo{Announced: i.DeprecatedSince, UnavailableAfter: i.DeprecatedSince.AddDate(0, 3, 0)}
	}
	return s
}
