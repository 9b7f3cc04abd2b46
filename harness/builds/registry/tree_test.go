package registry

import (
	"archive/tar"
	"bytes"
	"io"
	"path"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func file(name string) tar.Header { return tar.Header{Name: name, Mode: 0o755} }

func symlink(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
}

func hardlink(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: to}
}

func dir(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeDir} }

// What a path shows is what a container of the image would see there.
func TestTree(t *testing.T) {
	for name, c := range map[string]struct {
		layers [][]tar.Header
		path   string // "/x" if empty
		want   string // the content, or what the error says
	}{
		"a file":              {layers: [][]tar.Header{{file("x")}}, want: "layer 0: x"},
		"a file with dots":    {layers: [][]tar.Header{{dir("./"), file("./a/../x")}}, want: "layer 0: ./a/../x"},
		"a file from /":       {layers: [][]tar.Header{{file("/x")}}, want: "layer 0: /x"},
		"the upper one":       {layers: [][]tar.Header{{file("x")}, {file("x")}, {file("y")}}, want: "layer 1: x"},
		"the later one":       {layers: [][]tar.Header{{file("x"), file("./x")}}, want: "layer 0: ./x"},
		"a hidden one":        {layers: [][]tar.Header{{file("x")}, {file(".wh.x")}}, want: "it has no /x"},
		"hidden and new":      {layers: [][]tar.Header{{file("x")}, {file(".wh.x")}, {file("x")}}, want: "layer 2: x"},
		"hidden and its own":  {layers: [][]tar.Header{{file("x")}, {file("x"), file(".wh.x")}}, want: "layer 1: x"},
		"a hidden folder":     {layers: [][]tar.Header{{file("a/b/x")}, {file(".wh.a")}}, path: "/a/b/x", want: "it has no /a/b/x"},
		"an opaque folder":    {layers: [][]tar.Header{{file("a/b/x")}, {file("a/.wh..wh..opq"), file("a/y")}}, path: "/a/b/x", want: "it has no /a/b/x"},
		"in an opaque folder": {layers: [][]tar.Header{{file("a/x")}, {file("a/y"), file("a/.wh..wh..opq")}}, path: "/a/y", want: "layer 1: a/y"},
		"an opaque root":      {layers: [][]tar.Header{{file("x")}, {file(".wh..wh..opq")}}, want: "it has no /x"},
		"a file for a folder": {layers: [][]tar.Header{{file("a/x")}, {file("a")}}, path: "/a/x", want: "/a is no folder"},
		"and a folder again":  {layers: [][]tar.Header{{file("a/x")}, {file("a")}, {dir("a"), file("a/y")}}, path: "/a/x", want: "layer 0: a/x"},

		"a link":                 {layers: [][]tar.Header{{symlink("x", "a/y"), file("a/y")}}, want: "layer 0: a/y"},
		"a link from /":          {layers: [][]tar.Header{{symlink("b/x", "/a/y"), file("a/y")}}, path: "/b/x", want: "layer 0: a/y"},
		"a link upwards":         {layers: [][]tar.Header{{symlink("a/b/x", "../../y")}, {file("y")}}, path: "/a/b/x", want: "layer 1: y"},
		"a linked folder":        {layers: [][]tar.Header{{symlink("bin", "usr/bin/"), file("usr/bin/x")}}, path: "/bin/x", want: "layer 0: usr/bin/x"},
		"a link to a link":       {layers: [][]tar.Header{{symlink("x", "y"), symlink("y", "./z"), file("z")}}, want: "layer 0: z"},
		"a link in a ring":       {layers: [][]tar.Header{{symlink("x", "y"), symlink("y", "x")}}, want: "more than 40 links"},
		"a growing link":         {layers: [][]tar.Header{{symlink("x", "x/x")}}, want: "more than 40 links"},
		"a link out":             {layers: [][]tar.Header{{symlink("x", "../../etc/passwd")}}, want: `the link /x to "../../etc/passwd": it is outside of the image`},
		"a folder linked out":    {layers: [][]tar.Header{{symlink("a", "/../..")}}, path: "/a/x", want: "outside of the image"},
		"a link to nothing":      {layers: [][]tar.Header{{symlink("x", "/etc/hostname")}}, want: "it has no /x"},
		"a hard link":            {layers: [][]tar.Header{{file("y")}, {hardlink("x", "y")}}, want: "layer 0: y"},
		"a hard link that stays": {layers: [][]tar.Header{{file("y"), hardlink("x", "y")}, {file("y")}, {file(".wh.y")}}, want: "layer 0: y"},

		"a file outside":         {layers: [][]tar.Header{{file("../x")}}, want: `its file "../x": it is outside of the image`},
		"a hard link out":        {layers: [][]tar.Header{{hardlink("x", "../../etc/passwd")}}, want: `its hard link "x" to "../../etc/passwd": it is outside of the image`},
		"a hard link to nothing": {layers: [][]tar.Header{{hardlink("x", "etc/passwd")}}, want: "no file before it"},
		"a hard link to a link":  {layers: [][]tar.Header{{symlink("y", "z"), hardlink("x", "y")}}, want: "no file before it"},
		"whiteout of nothing":    {layers: [][]tar.Header{{file(".wh.")}}, want: "hides nothing"},
		"whiteout of the parent": {layers: [][]tar.Header{{file("a/.wh...")}}, want: "hides nothing"},
		"a long name":            {layers: [][]tar.Header{{file(strings.Repeat("a/", 2100) + "x")}}, want: "longer than 4096 bytes"},
		"a deep name":            {layers: [][]tar.Header{{file(strings.Repeat("a/", 300) + "x")}}, want: "or 255 folders"},
		"a long link":            {layers: [][]tar.Header{{symlink("x", strings.Repeat("a", 5000))}}, want: "longer than 4096 bytes"},
		"many folders":           {layers: [][]tar.Header{{symlink("x", strings.Repeat("a/../", 200)+"y"), symlink("y", strings.Repeat("a/../", 400)+"z")}}, want: "more than 1000 folders"},

		"a folder": {layers: [][]tar.Header{{dir("x")}}, want: "it is a folder"},
		"a pipe":   {layers: [][]tar.Header{{{Name: "x", Typeflag: tar.TypeFifo}}}, want: "it is a device or a pipe"},
		"the root": {layers: [][]tar.Header{{dir("./"), file("x")}}, path: "/", want: "it is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "" {
				c.path = "/x"
			}
			from := layoutOf(t, imageOf(t, v1.Config{}, c.layers...))
			if !strings.HasPrefix(c.want, "layer ") {
				wants(t, from, "amd64", c.path, c.want)
				return
			}
			im, err := Open(t.Context(), from, "amd64", t.TempDir(), nil)
			ok(t, err)
			if got := read(t, im, c.path); got != c.want {
				t.Errorf("%s is %q, want %q", c.path, got, c.want)
			}
		})
	}
}

// Whatever a layer holds, reading it ends, and what is found in it is in it.
func FuzzTree(f *testing.F) {
	for _, seed := range [][]tar.Header{
		{file("x"), dir("a"), symlink("a/x", "../x"), hardlink("y", "x"), file(".wh.b"), file("a/.wh..wh..opq")},
		{symlink("x", "y"), symlink("y", "/x"), symlink("a", "../..")},
		{{Name: "x", Typeflag: tar.TypeChar}, {Name: "x", PAXRecords: map[string]string{"GNU.sparse.major": "1"}, Format: tar.FormatPAX}},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range seed {
			_ = w.WriteHeader(&h) // not all can be written
		}
		_ = w.Close()
		f.Add(b.Bytes(), "/a/x")
	}
	f.Fuzz(func(t *testing.T, layer []byte, program string) {
		if !path.IsAbs(program) {
			return
		}
		tree := newTree()
		for range 2 {
			if err := tree.add(bytes.NewReader(layer)); err != nil {
				return
			}
		}
		for name := range tree.nodes {
			if name != path.Clean(name) || !path.IsAbs(name) {
				t.Errorf("a node is called %q", name)
			}
		}
		_ = tree.programsLike("x")
		at, err := tree.find(program)
		if err != nil {
			return
		}
		// Its size in the header is all that it may have; holes count.
		n, _ := tree.resolve(program)
		if n.size > 1<<20 {
			return
		}
		var out bytes.Buffer
		if err := copyOut(t.Context(), static(layer), at.number, &out); err == nil && int64(out.Len()) != n.size {
			t.Errorf("%d bytes, not %d", out.Len(), n.size)
		}
	})
}

// static is a layer that needs no unpacking.
type static []byte

func (s static) Uncompressed() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s)), nil }
