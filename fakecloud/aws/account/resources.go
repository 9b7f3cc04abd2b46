package account

import (
	"fmt"
	"slices"

	"nodestorm/fakecloud/aws/offer"
)

func (a *Account) checkImages() error {
	seen := map[string]bool{}
	for k, i := range a.Images {
		err := checkTags(i.Tags)
		switch {
		case len(a.Images) > most:
			return fmt.Errorf("images: there are %d, want %d at most", len(a.Images), most)
		case err != nil:
		case !imageForm.MatchString(i.Name):
			err = fmt.Errorf("want a name of 3 to 128 letters, digits, spaces and ()[]./'@-_")
		case seen[i.Name]:
			err = fmt.Errorf("its name is there twice")
		case i.Architecture != "x86_64" && i.Architecture != "arm64":
			err = fmt.Errorf("architecture %q: want x86_64 or arm64", i.Architecture)
		}
		if err != nil {
			return fmt.Errorf("image %d (%q): %w", k+1, i.Name, err)
		}
		seen[i.Name] = true
	}
	return nil
}

func (a *Account) checkParameters() error {
	seen := map[string]bool{}
	for k, p := range a.Parameters {
		var err error
		isImage := func(i Image) bool { return i.Name == p.Image }
		switch {
		case len(a.Parameters) > most:
			return fmt.Errorf("parameters: there are %d, want %d at most", len(a.Parameters), most)
		case !parameterForm.MatchString(p.Name):
			err = fmt.Errorf("want a name of letters, digits and ./-_")
		case seen[p.Name]:
			err = fmt.Errorf("its name is there twice")
		case (p.Value == "") == (p.Image == ""):
			err = fmt.Errorf("want a value or the name of an image")
		case len(p.Value) > 4096:
			err = fmt.Errorf("its value has %d bytes: want 4,096 at most", len(p.Value))
		case p.Image != "" && !slices.ContainsFunc(a.Images, isImage):
			err = fmt.Errorf("there is no image %q", p.Image)
		}
		if err != nil {
			return fmt.Errorf("parameter %d (%.60q): %w", k+1, p.Name, err)
		}
		seen[p.Name] = true
	}
	return nil
}

func (a *Account) checkProfiles() error {
	seen := map[string]bool{}
	for _, role := range a.Roles {
		switch {
		case !iamForm.MatchString(role):
			return fmt.Errorf("role %.80q: want a name of 1 to 64 letters, digits and +=,.@-_", role)
		case seen[role]:
			return fmt.Errorf("role %q is there twice", role)
		}
		seen[role] = true
	}
	seen = map[string]bool{}
	for k, p := range a.InstanceProfiles {
		err := checkTags(p.Tags)
		switch {
		case len(a.InstanceProfiles) > most:
			return fmt.Errorf("instanceProfiles: there are %d, want %d at most", len(a.InstanceProfiles), most)
		case err != nil:
		case !iamForm.MatchString(p.Name):
			err = fmt.Errorf("want a name of 1 to 64 letters, digits and +=,.@-_")
		case seen[p.Name]:
			err = fmt.Errorf("its name is there twice")
		case !pathForm.MatchString(p.Path):
			err = fmt.Errorf("path %.40q: want one that begins and ends with /", p.Path)
		case p.Role != "" && !slices.Contains(a.Roles, p.Role):
			err = fmt.Errorf("there is no role %q: there are %q", p.Role, a.Roles)
		}
		if err != nil {
			return fmt.Errorf("instance profile %d (%.80q): %w", k+1, p.Name, err)
		}
		seen[p.Name] = true
	}
	return nil
}

// parameters are the texts of the parameters, by their names.
func (a *Account) parameters() map[string]string {
	all := map[string]string{}
	for _, p := range a.Parameters {
		all[p.Name] = p.Value
		if p.Image != "" {
			all[p.Name] = offer.AMI(p.Image)
		}
	}
	return all
}
