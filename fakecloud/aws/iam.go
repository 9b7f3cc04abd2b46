package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// profiles are IAM's instance profiles, with the roles that they can have. They are used within the cloud's Update only.
type profiles struct {
	account string
	roles   map[string]*role
	all     map[string]*profile // by name
}

type role struct {
	name, id string
	created  time.Time
}

type profile struct {
	name, id, path string
	created        time.Time
	role           *role // nil: none
	tags           []iamTag
}

func newProfiles(cfg Config) *profiles {
	p := &profiles{account: cfg.Account, roles: map[string]*role{}, all: map[string]*profile{}}
	now := cfg.Cloud.Clock().Now()
	for k, name := range cfg.Roles {
		p.roles[name] = &role{name: name, id: fmt.Sprintf("AROA%017d", k+1), created: now}
	}
	for k, of := range cfg.Profiles {
		is := &profile{name: of.Name, id: fmt.Sprintf("AIPA%017d", k+1), path: of.Path, created: now, role: p.roles[of.Role]}
		for _, key := range slices.Sorted(maps.Keys(of.Tags)) {
			is.tags = append(is.tags, iamTag{key, of.Tags[key]})
		}
		p.all[of.Name] = is
	}
	return p
}

// has is the ARN of a profile by its name, or empty.
func (p *profiles) has(name string) (arn string) {
	if is := p.all[name]; is != nil {
		return p.arn("instance-profile", is.path, is.name)
	}
	return ""
}

func (p *profiles) arn(kind, path, name string) string {
	return "arn:aws:iam::" + p.account + ":" + kind + path + name
}

func (p *profiles) operations() []api.Operation {
	return []api.Operation{
		api.Does("GetInstanceProfile", p.get),
		api.Does("CreateInstanceProfile", p.create),
		api.Does("DeleteInstanceProfile", p.remove),
		api.Does("AddRoleToInstanceProfile", p.addRole),
		api.Does("RemoveRoleFromInstanceProfile", p.removeRole),
		api.Does("ListInstanceProfiles", p.list),
	}
}

// What requests and answers have.
type (
	profileRequest struct {
		InstanceProfileName string `wire:",required,min=1,max=128"`
	}
	createProfileRequest struct {
		InstanceProfileName string   `wire:",required,min=1,max=128"`
		Path                string   `wire:",max=512"`
		Tags                []iamTag `wire:",max=50"`
	}
	profileRoleRequest struct {
		InstanceProfileName string `wire:",required,min=1,max=128"`
		RoleName            string `wire:",required,min=1,max=64"`
	}
	listProfilesRequest struct {
		PathPrefix string `wire:",max=512"`
		Marker     string
		MaxItems   *int64 `wire:",min=1,max=1000"`
	}
	iamTag struct {
		Key   string `wire:",required,min=1,max=128"`
		Value string `wire:",max=256"`
	}
	iamRole struct {
		Path, RoleName           string
		RoleID                   string `wire:"RoleId"`
		Arn                      string
		CreateDate               time.Time
		AssumeRolePolicyDocument string
	}
	iamProfile struct {
		Path, InstanceProfileName string
		InstanceProfileID         string `wire:"InstanceProfileId"`
		Arn                       string
		CreateDate                time.Time
		Roles                     []iamRole
		Tags                      []iamTag `wire:",omit"`
	}
	profileAnswer  struct{ InstanceProfile iamProfile }
	profilesAnswer struct {
		InstanceProfiles []iamProfile
		IsTruncated      bool
		Marker           string
	}
	nothing struct{}
)

func (p *profiles) spoken(is *profile) iamProfile {
	s := iamProfile{
		Path: is.path, InstanceProfileName: is.name, InstanceProfileID: is.id, CreateDate: is.created, Tags: is.tags,
		Arn: p.arn("instance-profile", is.path, is.name),
	}
	if r := is.role; r != nil {
		s.Roles = []iamRole{{Path: "/", RoleName: r.name, RoleID: r.id, Arn: p.arn("role", "/", r.name), CreateDate: r.created}}
	}
	return s
}

func (p *profiles) named(name string) (*profile, error) {
	if is := p.all[name]; is != nil {
		return is, nil
	}
	return nil, wire.Errorf("NoSuchEntity", "Instance Profile %s cannot be found.", name)
}

func (p *profiles) get(_ *api.Call, in *profileRequest) (*profileAnswer, error) {
	is, err := p.named(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	return &profileAnswer{p.spoken(is)}, nil
}

func (p *profiles) create(c *api.Call, in *createProfileRequest) (*profileAnswer, error) {
	path := cmp.Or(in.Path, "/")
	switch {
	case p.all[in.InstanceProfileName] != nil:
		return nil, wire.Errorf("EntityAlreadyExists", "Instance Profile %s already exists.", in.InstanceProfileName)
	case !strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/"):
		return nil, wire.Errorf("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only "+
			"alphanumeric characters and/or / characters.")
	}
	is := &profile{
		name: in.InstanceProfileName, id: "AIPA" + strings.ToUpper(c.Tx.Hex(17)), path: path, created: c.Tx.Now(), tags: in.Tags,
	}
	p.all[is.name] = is
	return &profileAnswer{p.spoken(is)}, nil
}

func (p *profiles) remove(_ *api.Call, in *profileRequest) (*nothing, error) {
	is, err := p.named(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if is.role != nil {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(p.all, is.name)
	return &nothing{}, nil
}

func (p *profiles) addRole(_ *api.Call, in *profileRoleRequest) (*nothing, error) {
	is, err := p.named(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	r := p.roles[in.RoleName]
	switch {
	case r == nil:
		return nil, wire.Errorf("NoSuchEntity", "The role with name %s cannot be found.", in.RoleName)
	case is.role != nil:
		return nil, wire.Errorf("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	is.role = r
	return &nothing{}, nil
}

func (p *profiles) removeRole(_ *api.Call, in *profileRoleRequest) (*nothing, error) {
	is, err := p.named(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if is.role == nil || is.role.name != in.RoleName {
		return nil, wire.Errorf("NoSuchEntity", "The role with name %s cannot be found.", in.RoleName)
	}
	is.role = nil
	return &nothing{}, nil
}

// list lists by name; a marker is the name of the last one of the page before.
func (p *profiles) list(_ *api.Call, in *listProfilesRequest) (*profilesAnswer, error) {
	out := &profilesAnswer{InstanceProfiles: []iamProfile{}}
	most := 100
	if in.MaxItems != nil {
		most = int(*in.MaxItems)
	}
	var names []string
	for name, is := range p.all {
		if strings.HasPrefix(is.path, cmp.Or(in.PathPrefix, "/")) && name > in.Marker {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > most {
		names, out.IsTruncated, out.Marker = names[:most], true, names[most-1]
	}
	for _, name := range names {
		out.InstanceProfiles = append(out.InstanceProfiles, p.spoken(p.all[name]))
	}
	return out, nil
}
