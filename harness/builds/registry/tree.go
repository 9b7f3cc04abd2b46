package registry

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// tree is what the files of an image look like from inside, without their
// content. Layers are added from the lowest up.
//
// Paths are absolute and clean. Whiteouts are as the OCI image specification has
// them (layer.md, "Representing Changes"): .wh.NAME hides NAME of the layers
// below, .wh..wh..opq all that they have in its folder.
type tree struct {
	layer  int // the next to be added
	nodes  map[string]node
	gone   map[string]int // the layer below which a path is hidden
	opaque map[string]int // the same for what is in it
	files  int
	names  int // bytes of paths and links
}

// node is a path's entry in the highest layer that has one.
type node struct {
	layer   int
	kind    byte   // a tar.Type…
	link    string // a symbolic link's
	content place  // a file's
	mode    int64
	size    int64
}

// place is where content is: in the number-th entry of a layer, from 1.
type place struct{ layer, number int }

func newTree() *tree {
	return &tree{nodes: map[string]node{}, gone: map[string]int{}, opaque: map[string]int{}}
}

const whiteout = ".wh."

// add puts the layer whose tar is read from r on top of the others.
func (t *tree) add(r io.Reader) error {
	in := tar.NewReader(r)
	for number := 1; ; number++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			t.layer++
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading its tar: %w", err)
		}
		t.files++
		t.names += len(h.Name) + len(h.Linkname)
		if t.files > maxFiles || t.names > maxNames {
			return fmt.Errorf("the image has more than %d files, or more than %d bytes of names", maxFiles, maxNames)
		}
		if err := t.enter(h, number); err != nil {
			return err
		}
	}
}

func (t *tree) enter(h *tar.Header, number int) error {
	name, err := pathInside("/", h.Name)
	if err != nil {
		return fmt.Errorf("its file %.200q: %w", h.Name, err)
	}
	dir, base := path.Split(name)
	if base == ".wh..wh..opq" {
		t.opaque[path.Clean(dir)] = t.layer
		return nil
	}
	if hidden, is := strings.CutPrefix(base, whiteout); is {
		// Cut off, it may be one of the names that lead elsewhere.
		if hidden == "" || hidden == "." || hidden == ".." {
			return fmt.Errorf("its file %q hides nothing", h.Name)
		}
		t.gone[path.Join(dir, hidden)] = t.layer
		return nil
	}
	n := node{layer: t.layer, kind: h.Typeflag, mode: h.Mode, size: h.Size}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		n.kind, n.content = tar.TypeReg, place{t.layer, number}
	case tar.TypeSymlink:
		if n.link = h.Linkname; len(n.link) > maxPath {
			return fmt.Errorf("its link %.200q: %w", h.Name, errTooLong)
		}
	case tar.TypeLink:
		to, err := pathInside("/", h.Linkname)
		if err != nil {
			return fmt.Errorf("its hard link %.200q to %.200q: %w", h.Name, h.Linkname, err)
		}
		if n = t.nodes[to]; n.kind != tar.TypeReg {
			return fmt.Errorf("its hard link %.200q leads to %.200q, which is no file before it", h.Name, h.Linkname)
		}
		n.layer = t.layer
	}
	t.nodes[name] = n
	return nil
}

// pathInside is the path to, seen from the folder dir. It fails if that is above the
// root, where the kernel would stay in it: no image of good will has such a path.
func pathInside(dir, to string) (string, error) {
	if !strings.HasPrefix(to, "/") {
		to = dir + "/" + to
	}
	depth := 0
	for part := range strings.SplitSeq(to, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return "", errOutside
			}
		default:
			depth++
		}
	}
	if len(to) > maxPath || depth > maxFolders {
		return "", errTooLong
	}
	return path.Clean(to), nil
}

var (
	errNotThere = errors.New("it is not in the image")
	errOutside  = errors.New("it is outside of the image")
	errTooLong  = fmt.Errorf("it is longer than %d bytes or %d folders", maxPath, maxFolders)
)

// visible is the entry of a path, unless a higher layer hides it.
func (t *tree) visible(name string) (node, bool) {
	n, found := t.nodes[name]
	if !found {
		return node{}, false
	}
	if by, hidden := t.gone[name]; hidden && by > n.layer {
		return node{}, false
	}
	for dir := name; dir != "/"; {
		dir = path.Dir(dir)
		if by, hidden := t.gone[dir]; hidden && by > n.layer {
			return node{}, false
		}
		if by, hidden := t.opaque[dir]; hidden && by > n.layer {
			return node{}, false
		}
		if above, found := t.nodes[dir]; found && above.kind != tar.TypeDir && above.layer > n.layer {
			return node{}, false
		}
	}
	return n, true
}

// resolve follows the links on the way to a path, and at its end.
func (t *tree) resolve(name string) (node, error) {
	at, rest := "/", strings.Split(strings.TrimPrefix(name, "/"), "/")
	links := 0
	for range maxSteps {
		next, err := pathInside(at, rest[0])
		if err != nil {
			return node{}, err
		}
		rest = rest[1:]
		n, found := t.visible(next)
		switch {
		case found && n.kind == tar.TypeSymlink:
			if links++; links > maxLinks {
				return node{}, fmt.Errorf("there are more than %d links on the way to it", maxLinks)
			}
			if _, err := pathInside(at, n.link); err != nil {
				return node{}, fmt.Errorf("the link %s to %q: %w", next, n.link, err)
			}
			if strings.HasPrefix(n.link, "/") {
				at = "/"
			}
			rest = append(strings.Split(strings.Trim(n.link, "/"), "/"), rest...)
		case len(rest) == 0 && found:
			return n, nil
		case len(rest) == 0:
			return node{}, errNotThere
		case found && n.kind != tar.TypeDir:
			return node{}, fmt.Errorf("%s is no folder", next)
		default: // a folder need not have an entry
			at = next
		}
	}
	return node{}, fmt.Errorf("there are more than %d folders on the way to it", maxSteps)
}

// find is where the content of the program at an absolute path is.
func (t *tree) find(name string) (place, error) {
	n, err := t.resolve(name)
	switch {
	case err != nil:
		return place{}, err
	case n.kind == tar.TypeDir:
		return place{}, errors.New("it is a folder; name the program in it with --path")
	case n.kind != tar.TypeReg:
		return place{}, errors.New("it is a device or a pipe, and no program")
	case n.size > maxProgram:
		return place{}, fmt.Errorf("it is %d bytes, more than %d", n.size, maxProgram)
	}
	return n.content, nil
}

func (t *tree) hasFile(name string) bool {
	_, err := t.find(name)
	return err == nil
}

// programsLike lists up to three programs that have word in their names.
func (t *tree) programsLike(word string) (few []string) {
	var all []string
	for name, n := range t.nodes {
		if n.kind == tar.TypeReg && n.mode&0o111 != 0 && strings.Contains(path.Base(name), word) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	for _, name := range all {
		if _, seen := t.visible(name); seen && len(few) < 3 {
			few = append(few, name)
		}
	}
	return few
}
