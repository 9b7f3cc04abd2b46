// Package table has tables of resources: what is in them is never changed in place, so that it can be read without a lock.
package table

import (
	"slices"
	"time"
)

// Meta is what all of a project's own resources have.
type Meta struct {
	// ID is unique among resources of its kind, and grows.
	ID int64
	// Name is unique among resources of its kind, but for images: those of two architectures have the same,
	// and snapshots have none.
	Name    string
	Labels  map[string]string
	Created time.Time
	// Protected refuses deletion.
	Protected bool
}

// About is itself: what embeds it has one.
func (m *Meta) About() *Meta { return m }

// MetaOf is the Meta of a resource, which has one. It may be changed where the resource may.
func MetaOf[T any](r *T) *Meta { return any(r).(interface{ About() *Meta }).About() }

// Table holds the resources of one kind. What is in it is never changed: Put replaces it. So
// what Get and All return may be kept and read without any lock.
type Table[T any] struct {
	changed  func()
	replaced func(old, by *T)
	byID     map[int64]*T
	ids      []int64            // ascending
	byName   map[string][]int64 // ascending
}

// New returns an empty one. Changed is called after each change. Replaced, unless it is nil, is called before a resource takes
// another's place: nil stands for none.
func New[T any](changed func(), replaced func(old, by *T)) *Table[T] {
	return &Table[T]{changed: changed, replaced: replaced, byID: map[int64]*T{}, byName: map[string][]int64{}}
}

// Get returns the resource with that ID, or nil.
func (t *Table[T]) Get(id int64) *T { return t.byID[id] }

// Named returns the resource with that name, or nil. Of several it is the first.
func (t *Table[T]) Named(name string) *T {
	if ids := t.byName[name]; len(ids) > 0 {
		return t.byID[ids[0]]
	}
	return nil
}

// All returns the resources by ascending ID.
func (t *Table[T]) All() []*T {
	all := make([]*T, len(t.ids))
	for i, id := range t.ids {
		all[i] = t.byID[id]
	}
	return all
}

// Len returns how many there are.
func (t *Table[T]) Len() int { return len(t.ids) }

// Put stores a resource under its ID, in place of the one that is there.
func (t *Table[T]) Put(r T) {
	id := MetaOf(&r).ID
	if t.byID[id] == nil {
		at, _ := slices.BinarySearch(t.ids, id)
		t.ids = slices.Insert(t.ids, at, id)
	}
	t.set(id, &r)
	t.changed()
}

// set has a resource, or nil for none, be the one with an ID.
func (t *Table[T]) set(id int64, r *T) {
	old := t.byID[id]
	if t.replaced != nil {
		t.replaced(old, r)
	}
	if old != nil {
		if r != nil && MetaOf(r).Name == MetaOf(old).Name {
			t.byID[id] = r
			return
		}
		t.name(MetaOf(old).Name, id, false)
	}
	if r == nil {
		delete(t.byID, id)
		return
	}
	t.byID[id] = r
	t.name(MetaOf(r).Name, id, true)
}

// name notes whether a resource has a name.
func (t *Table[T]) name(name string, id int64, has bool) {
	ids := t.byName[name]
	at, _ := slices.BinarySearch(ids, id)
	switch {
	case has:
		t.byName[name] = slices.Insert(ids, at, id)
	case len(ids) == 1:
		delete(t.byName, name)
	default:
		t.byName[name] = slices.Delete(ids, at, at+1)
	}
}

// Update replaces the resource with that ID by what change makes of a copy. Maps and slices in the
// copy are those of the original: change replaces them. An unknown ID changes nothing.
func (t *Table[T]) Update(id int64, change func(*T)) {
	if old := t.byID[id]; old != nil {
		r := *old
		change(&r)
		t.set(id, &r)
		t.changed()
	}
}

// Delete removes the resource with that ID.
func (t *Table[T]) Delete(id int64) {
	if t.byID[id] == nil {
		return
	}
	t.set(id, nil)
	at, _ := slices.BinarySearch(t.ids, id)
	t.ids = slices.Delete(t.ids, at, at+1)
	t.changed()
}
