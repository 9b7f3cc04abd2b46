package hcloud

import (
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var images = func() rest.Owned[fakecloud.Image] {
	o := rest.NewOwned("images", "image", func(tx *fakecloud.Tx) *table.Table[fakecloud.Image] { return tx.Images }, imageBody)
	o.Filters = map[string]func(*fakecloud.Image, string) bool{
		"type":         func(i *fakecloud.Image, t string) bool { return i.Type == t },
		"status":       func(_ *fakecloud.Image, status string) bool { return status == "available" },
		"architecture": func(i *fakecloud.Image, architecture string) bool { return i.Architecture == architecture },
		"bound_to":     func(i *fakecloud.Image, id string) bool { return strconv.FormatInt(i.BoundTo, 10) == id },
	}
	o.Hide = func(c *rest.Call, i *fakecloud.Image) bool {
		return !i.DeprecatedSince.IsZero() && c.Request.URL.Query().Get("include_deprecated") != "true"
	}
	o.Update = func(c *rest.Call, i *fakecloud.Image) error {
		var change schema.ImageUpdateRequest
		if err := c.Decode(&change); err != nil {
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
	o.Free = func(_ *rest.Call, i *fakecloud.Image) error {
		if i.Type == "system" {
			return fakecloud.Errorf("forbidden", "system images cannot be deleted")
		}
		return nil
	}
	return o
}()

func imageOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /images", images.List),
		rest.NewOperation("GET /images/{id}", images.Get),
		rest.NewOperation("PUT /images/{id}", images.Put),
		rest.NewOperation("DELETE /images/{id}", images.Delete),
		rest.NewOperation("POST /images/{id}/actions/change_protection", images.Protect),
	}, rest.ResourceActions("images", "image")...)
}

func imageBody(c *rest.Call, i *fakecloud.Image) any {
	s := schema.Image{
		ID: i.ID, Status: "available", Type: i.Type, Description: i.Description, DiskSize: i.DiskGB, Created: new(i.Created),
		OSFlavor: i.OSFlavor, Architecture: i.Architecture, RapidDeploy: i.Type == "system", Labels: rest.Labels(i.Labels),
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
