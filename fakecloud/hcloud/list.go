package hcloud

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

// Pages, as docs.hetzner.cloud has them under "Pagination".
const (
	defaultPerPage = 25
	maxPerPage     = 50
)

// kind is a resource that can be listed and read.
type kind[T any] struct {
	plural, singular string
	all              func(*call) []*T
	meta             func(*T) fakecloud.Meta
	encode           func(*call, *T) any
	// filters are the queries besides name, label_selector, sort and pages. A resource has to pass one of the
	// query's values.
	filters map[string]func(r *T, value string) bool
	// sorts are what it can be sorted by besides id, name and created.
	sorts map[string]func(a, b *T) int
	// hide is asked for what the query does not ask for by default.
	hide func(c *call, r *T) bool
}

func (k kind[T]) list(c *call) (int, any, error) {
	all, err := k.selected(c, k.all(c))
	if err != nil {
		return 0, nil, err
	}
	return k.page(c, all)
}

// page is the reply with the page that the query asks for.
func (k kind[T]) page(c *call, all []*T) (int, any, error) {
	p, err := c.pagination(len(all))
	if err != nil {
		return 0, nil, err
	}
	from := min((p.Page-1)*p.PerPage, len(all))
	some := []any{}
	for _, r := range all[from:min(from+p.PerPage, len(all))] {
		some = append(some, k.encode(c, r))
	}
	return http.StatusOK, map[string]any{k.plural: some, "meta": map[string]any{"pagination": p}}, nil
}

// selected are the resources that the query asks for, in its order.
func (k kind[T]) selected(c *call, all []*T) ([]*T, error) {
	query := c.r.URL.Query()
	labels, err := parseSelector(query.Get("label_selector"))
	if err != nil {
		return nil, fakecloud.Invalid("label_selector", "%v", err)
	}
	name := query.Get("name")
	var some []*T
	for _, r := range all {
		m := k.meta(r)
		if (name != "" && m.Name != name) || !labels.matches(m.Labels) || (k.hide != nil && k.hide(c, r)) {
			continue
		}
		pass := true
		for key, filter := range k.filters {
			values := query[key]
			pass = pass && (len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return filter(r, v) }))
		}
		if pass {
			some = append(some, r)
		}
	}
	return some, k.sort(some, query["sort"])
}

func (k kind[T]) sort(all []*T, keys []string) error {
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

func (k kind[T]) compare(name string) func(a, b *T) int {
	switch name {
	case "id":
		return func(a, b *T) int { return cmp.Compare(k.meta(a).ID, k.meta(b).ID) }
	case "name":
		return func(a, b *T) int { return cmp.Compare(k.meta(a).Name, k.meta(b).Name) }
	case "created":
		return func(a, b *T) int { return k.meta(a).Created.Compare(k.meta(b).Created) }
	}
	return k.sorts[name]
}

func (k kind[T]) get(c *call) (int, any, error) {
	for _, r := range k.all(c) {
		if k.meta(r).ID == c.id {
			return http.StatusOK, map[string]any{k.singular: k.encode(c, r)}, nil
		}
	}
	return 0, nil, fakecloud.NotFound(k.singular, c.r.PathValue("id"))
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

func (c *call) pagination(total int) (pagination, error) {
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

func (c *call) number(key string, otherwise int) (int, error) {
	text := c.r.URL.Query().Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, fakecloud.Invalid(key, "must be a number from 1")
	}
	return n, nil
}

// owned is a kind of the project's own resources: they can be changed and deleted.
type owned[T any] struct {
	kind[T]
	table func(*fakecloud.Tx) *fakecloud.Table[T]
	// noun is the resource in errors and in actions' references.
	noun string
	// update carries out what an update means besides name and labels. Nil means nothing.
	update func(c *call, r *T) error
	// free says why the resource cannot be deleted now; and lets go of what goes with it. Nil means nothing.
	free func(c *call, r *T) error
}

// newOwned fills in what follows from the table.
func newOwned[T any](plural, singular string, table func(*fakecloud.Tx) *fakecloud.Table[T], encode func(*call, *T) any) owned[T] {
	return owned[T]{
		kind: kind[T]{
			plural: plural, singular: singular, encode: encode,
			all:  func(c *call) []*T { return table(c.tx).All() },
			meta: func(r *T) fakecloud.Meta { return *fakecloud.MetaOf(r) },
		},
		table: table, noun: singular,
	}
}

// find returns the resource that the path names.
func (o owned[T]) find(c *call) (*T, error) {
	if r := o.table(c.tx).Get(c.id); r != nil {
		return r, nil
	}
	return nil, fakecloud.NotFound(o.noun, c.r.PathValue("id"))
}

func (o owned[T]) get(c *call) (int, any, error) {
	r, err := o.find(c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{o.singular: o.encode(c, r)}, nil
}

func (o owned[T]) put(c *call) (int, any, error) {
	r, err := o.find(c)
	if err != nil {
		return 0, nil, err
	}
	var change struct {
		Name   *string            `json:"name"`
		Labels *map[string]string `json:"labels"`
	}
	if err := c.decode(&change); err != nil {
		return 0, nil, err
	}
	if change.Name != nil && *change.Name != o.meta(r).Name {
		if err := o.checkName(c, *change.Name); err != nil {
			return 0, nil, err
		}
	}
	if change.Labels != nil {
		if err := checkLabels(*change.Labels); err != nil {
			return 0, nil, fakecloud.Invalid("labels", "%v", err)
		}
	}
	changed := *r
	m := fakecloud.MetaOf(&changed)
	if change.Name != nil {
		m.Name = *change.Name
	}
	if change.Labels != nil {
		m.Labels = *change.Labels
	}
	if o.update != nil {
		if err := o.update(c, &changed); err != nil {
			return 0, nil, err
		}
	}
	o.table(c.tx).Put(changed)
	return o.get(c)
}

func (o owned[T]) delete(c *call) (int, any, error) {
	if err := o.drop(c); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}

// drop deletes the resource that the path names.
func (o owned[T]) drop(c *call) error {
	r, err := o.find(c)
	if err != nil {
		return err
	}
	if o.meta(r).Protected {
		return protected(o.noun)
	}
	if o.free != nil {
		if err := o.free(c, r); err != nil {
			return err
		}
	}
	o.table(c.tx).Delete(c.id)
	return nil
}

func protected(noun string) error {
	return fakecloud.Errorf("protected", "%s deletion is protected", noun)
}

// checkName says what is wrong with a new resource's name.
func (o owned[T]) checkName(c *call, name string) error {
	if name == "" || len(name) > 128 {
		return fakecloud.Invalid("name", "must have 1 to 128 characters")
	}
	if o.table(c.tx).Named(name) != nil {
		return fakecloud.Errorf("uniqueness_error", "%s name is already used", o.noun)
	}
	return nil
}

// newMeta checks a new resource's name and labels, and returns its Meta; last, because it counts.
func (o owned[T]) newMeta(c *call, name string, labels *map[string]string) (fakecloud.Meta, error) {
	if err := o.checkName(c, name); err != nil {
		return fakecloud.Meta{}, err
	}
	if labels == nil {
		return c.tx.NewMeta(name, nil), nil
	}
	if err := checkLabels(*labels); err != nil {
		return fakecloud.Meta{}, fakecloud.Invalid("labels", "%v", err)
	}
	return c.tx.NewMeta(name, *labels), nil
}

// protect is the action change_protection of a resource that only knows protection from deletion.
func (o owned[T]) protect(c *call) (int, any, error) {
	r, err := o.find(c)
	if err != nil {
		return 0, nil, err
	}
	var change struct {
		Delete *bool `json:"delete"`
	}
	if err := c.decode(&change); err != nil {
		return 0, nil, err
	}
	if change.Delete != nil {
		changed := *r
		fakecloud.MetaOf(&changed).Protected = *change.Delete
		o.table(c.tx).Put(changed)
	}
	return c.started("change_protection", o.ref(c))
}

// ref refers to the resource that the path names.
func (o owned[T]) ref(c *call) fakecloud.Ref { return fakecloud.Ref{Type: o.singular, ID: c.id} }

// started starts an action and is the reply that shows it.
func (c *call) started(command string, resources ...fakecloud.Ref) (int, any, error) {
	a := c.tx.Start(command, nil, resources...)
	return http.StatusCreated, schema.ActionGetResponse{Action: c.action(a)}, nil
}
