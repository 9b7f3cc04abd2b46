package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/table"
)

// Pages, as docs.hetzner.cloud has them under "Pagination".
const (
	defaultPerPage = 25
	maxPerPage     = 50
)

// Kind is a resource that can be listed and read.
type Kind[T any] struct {
	Plural, Singular string
	All              func(*Call) []*T
	Meta             func(*T) table.Meta
	Encode           func(*Call, *T) any
	// filters are the queries in addition to name, label_selector, sort and pages. A resource has to pass one of the
	// query's values.
	Filters map[string]func(r *T, value string) bool
	// sorts are what it can be sorted by in addition to id, name and created.
	sorts map[string]func(a, b *T) int
	// hide is asked for what the query does not ask for by default.
	Hide func(c *Call, r *T) bool
}

func (k Kind[T]) List(c *Call) (int, any, error) {
	all, err := k.Selected(c, k.All(c))
	if err != nil {
		return 0, nil, err
	}
	return k.Page(c, all)
}

// Page is the reply with the page that the query asks for.
func (k Kind[T]) Page(c *Call, all []*T) (int, any, error) {
	p, err := c.pagination(len(all))
	if err != nil {
		return 0, nil, err
	}
	from := min((p.Page-1)*p.PerPage, len(all))
	some := []any{}
	for _, r := range all[from:min(from+p.PerPage, len(all))] {
		some = append(some, k.Encode(c, r))
	}
	return http.StatusOK, map[string]any{k.Plural: some, "meta": map[string]any{"pagination": p}}, nil
}

// Selected are the resources that the query asks for, in its order.
func (k Kind[T]) Selected(c *Call, all []*T) ([]*T, error) {
	query := c.Request.URL.Query()
	labels, err := ParseSelector(query.Get("label_selector"))
	if err != nil {
		return nil, fakecloud.Invalid("label_selector", "%v", err)
	}
	name := query.Get("name")
	var some []*T
	for _, r := range all {
		m := k.Meta(r)
		if (name != "" && m.Name != name) || !labels.Matches(m.Labels) || (k.Hide != nil && k.Hide(c, r)) {
			continue
		}
		pass := true
		for key, filter := range k.Filters {
			values := query[key]
			pass = pass && (len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return filter(r, v) }))
		}
		if pass {
			some = append(some, r)
		}
	}
	return some, k.sort(some, query["sort"])
}

func (k Kind[T]) sort(all []*T, keys []string) error {
	var by []func(a, b *T) int
	for _, key := range keys {
		name, order, _ := strings.Cut(key, ":")
		compare := k.compare(name)
		if compare == nil || (order != "" && order != "asc" && order != "desc") {
			return fakecloud.Invalid("sort", "%q is not a field to sort by, with :asc or :desc", key)
		}
		if order == "desc" {
			ascending := compare
			compare = func(a, b *T) int { return ascending(b, a) }
		}
		by = append(by, compare)
	}
	if len(by) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *T) int {
		for _, compare := range by {
			if order := compare(a, b); order != 0 {
				return order
			}
		}
		return 0
	})
	return nil
}

func (k Kind[T]) compare(name string) func(a, b *T) int {
	switch name {
	case "id":
		return func(a, b *T) int { return cmp.Compare(k.Meta(a).ID, k.Meta(b).ID) }
	case "name":
		return func(a, b *T) int { return cmp.Compare(k.Meta(a).Name, k.Meta(b).Name) }
	case "created":
		return func(a, b *T) int { return k.Meta(a).Created.Compare(k.Meta(b).Created) }
	}
	return k.sorts[name]
}

func (k Kind[T]) Get(c *Call) (int, any, error) {
	for _, r := range k.All(c) {
		if k.Meta(r).ID == c.id {
			return http.StatusOK, map[string]any{k.Singular: k.Encode(c, r)}, nil
		}
	}
	return 0, nil, fakecloud.NotFound(k.Singular, c.Request.PathValue("id"))
}

// pagination is schema.MetaPagination with null where there is no such page, as the API has it.
type pagination struct {
	Page         int  `json:"page"`
	PerPage      int  `json:"per_page"`
	PreviousPage *int `json:"previous_page"`
	NextPage     *int `json:"next_page"`
	LastPage     int  `json:"last_page"`
	TotalEntries int  `json:"total_entries"`
}

func (c *Call) pagination(total int) (pagination, error) {
	p := pagination{TotalEntries: total}
	var err error
	if p.Page, err = c.number("page", 1); err != nil {
		return p, err
	}
	if p.PerPage, err = c.number("per_page", defaultPerPage); err != nil {
		return p, err
	}
	p.PerPage = min(p.PerPage, maxPerPage)
	p.LastPage = max(1, (total+p.PerPage-1)/p.PerPage)
	if p.Page > 1 {
		p.PreviousPage = new(min(p.Page-1, p.LastPage))
	}
	if p.Page < p.LastPage {
		p.NextPage = new(p.Page + 1)
	}
	return p, nil
}

// maxPage keeps page numbers so small that their products fit an int.
const maxPage = 1 << 24

func (c *Call) number(key string, otherwise int) (int, error) {
	text := c.Request.URL.Query().Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, fakecloud.Invalid(key, "must be a number from 1")
	}
	return n, nil
}

// Owned is a kind of the project's own resources: they can be changed and deleted.
type Owned[T any] struct {
	Kind[T]
	table func(*fakecloud.Tx) *table.Table[T]
	// noun is the resource in errors and in actions' references.
	noun string
	// update carries out what an update means beyond name and labels. Nil means nothing.
	Update func(c *Call, r *T) error
	// free says why the resource cannot be deleted now; and lets go of what goes with it. Nil means nothing.
	Free func(c *Call, r *T) error
}

// NewOwned fills in what follows from the table.
func NewOwned[T any](plural, singular string, of func(*fakecloud.Tx) *table.Table[T], encode func(*Call, *T) any) Owned[T] {
	return Owned[T]{
		Kind: Kind[T]{
			Plural: plural, Singular: singular, Encode: encode,
			All:  func(c *Call) []*T { return of(c.Tx).All() },
			Meta: func(r *T) table.Meta { return *table.MetaOf(r) },
		},
		table: of, noun: singular,
	}
}

// Find returns the resource that the path names.
func (o Owned[T]) Find(c *Call) (*T, error) {
	if r := o.table(c.Tx).Get(c.id); r != nil {
		return r, nil
	}
	return nil, fakecloud.NotFound(o.noun, c.Request.PathValue("id"))
}

func (o Owned[T]) Get(c *Call) (int, any, error) {
	r, err := o.Find(c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{o.Singular: o.Encode(c, r)}, nil
}

func (o Owned[T]) Put(c *Call) (int, any, error) {
	r, err := o.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var change struct {
		Name   *string            `json:"name"`
		Labels *map[string]string `json:"labels"`
	}
	if err := c.Decode(&change); err != nil {
		return 0, nil, err
	}
	if change.Name != nil && *change.Name != o.Meta(r).Name {
		if err := o.checkName(c, *change.Name); err != nil {
			return 0, nil, err
		}
	}
	if change.Labels != nil {
		if err := CheckLabels(*change.Labels); err != nil {
			return 0, nil, fakecloud.Invalid("labels", "%v", err)
		}
	}
	changed := *r
	m := table.MetaOf(&changed)
	if change.Name != nil {
		m.Name = *change.Name
	}
	if change.Labels != nil {
		m.Labels = *change.Labels
	}
	if o.Update != nil {
		if err := o.Update(c, &changed); err != nil {
			return 0, nil, err
		}
	}
	o.table(c.Tx).Put(changed)
	return o.Get(c)
}

func (o Owned[T]) Delete(c *Call) (int, any, error) {
	if err := o.Drop(c); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}

// Drop deletes the resource that the path names.
func (o Owned[T]) Drop(c *Call) error {
	r, err := o.Find(c)
	if err != nil {
		return err
	}
	if o.Meta(r).Protected {
		return Protected(o.noun)
	}
	if o.Free != nil {
		if err := o.Free(c, r); err != nil {
			return err
		}
	}
	o.table(c.Tx).Delete(c.id)
	return nil
}

func Protected(noun string) error {
	return fakecloud.Errorf("protected", "%s deletion is protected", noun)
}

// checkName says what is wrong with a new resource's name.
func (o Owned[T]) checkName(c *Call, name string) error {
	if name == "" || len(name) > 128 {
		return fakecloud.Invalid("name", "must have 1 to 128 characters")
	}
	if o.table(c.Tx).Named(name) != nil {
		return fakecloud.Errorf("uniqueness_error", "%s name is already used", o.noun)
	}
	return nil
}

// NewMeta checks a new resource's name and labels, and returns its Meta; last, because it counts.
func (o Owned[T]) NewMeta(c *Call, name string, labels *map[string]string) (table.Meta, error) {
	if err := o.checkName(c, name); err != nil {
		return table.Meta{}, err
	}
	if labels == nil {
		return c.Tx.NewMeta(name, nil), nil
	}
	if err := CheckLabels(*labels); err != nil {
		return table.Meta{}, fakecloud.Invalid("labels", "%v", err)
	}
	return c.Tx.NewMeta(name, *labels), nil
}

// Protect is the action change_protection of a resource that only knows protection from deletion.
func (o Owned[T]) Protect(c *Call) (int, any, error) {
	r, err := o.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var change struct {
		Delete *bool `json:"delete"`
	}
	if err := c.Decode(&change); err != nil {
		return 0, nil, err
	}
	if change.Delete != nil {
		changed := *r
		table.MetaOf(&changed).Protected = *change.Delete
		o.table(c.Tx).Put(changed)
	}
	return c.Started("change_protection", o.Ref(c))
}

// Ref refers to the resource that the path names.
func (o Owned[T]) Ref(c *Call) fakecloud.Ref { return fakecloud.Ref{Type: o.Singular, ID: c.id} }

// Started starts an action and is the reply that shows it.
func (c *Call) Started(command string, resources ...fakecloud.Ref) (int, any, error) {
	a := c.Tx.Start(command, nil, resources...)
	return http.StatusCreated, schema.ActionGetResponse{Action: c.Action(a)}, nil
}
