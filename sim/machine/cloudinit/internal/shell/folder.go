package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// abs is p as an absolute path without dots.
func (r *run) abs(p string) string {
	if !path.IsAbs(p) {
		p = path.Join(r.cwd, p)
	}
	return path.Clean(p)
}

// fresh are the folders in which there is nothing but what user data has put there:
// they belong to Kubernetes distributions, or are empty after each boot.
var fresh = []string{
	"/etc/rancher", "/var/lib/rancher", "/etc/kubernetes", "/var/lib/kubelet", "/var/lib/cloud",
	"/tmp", "/run", "/var/run", "/var/tmp",
}

// exists answers whether there is a file or folder p.
func (r *run) exists(p string) status {
	if marked(p) {
		return open
	}
	p = r.abs(p)
	if _, found := r.m.Files[p]; found {
		return yes
	}
	for name := range r.m.Files {
		if strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/") {
			return yes
		}
	}
	for _, dir := range fresh {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return no
		}
	}
	return open
}

// write is a program's writing of a file.
func (r *run) write(p, content string, appends bool, pos syntax.Pos) {
	if marked(p) || p == "/dev/null" || strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/sys/") {
		return
	}
	p = r.abs(p)
	f, found := r.m.Files[p]
	if !found {
		f.Mode = 0o644
	}
	if appends {
		content = f.Content + content
	}
	f.Content, f.From = r.m.produce(content), r.position(pos)
	r.m.Files[p] = f
}

func (r *run) read(p string) string {
	if f, found := r.m.Files[r.abs(p)]; found {
		return r.m.produce(f.Content)
	}
	return r.m.mark("the content of " + p + ", which user data did not write")
}

func (r *run) folder(p string) bool {
	_, file := r.m.Files[r.abs(p)]
	return !file && r.exists(p) == yes
}

func (r *run) transfer(c invocation, from, to string) status {
	source, found := r.m.Files[r.abs(from)]
	if !found {
		s := r.exists(from)
		if s == open {
			r.write(to, r.read(from), false, c.pos)
			return assumed
		}
		return s
	}
	r.write(to, source.Content, false, c.pos)
	if written, ok := r.m.Files[r.abs(to)]; ok {
		written.Mode = source.Mode
		r.m.Files[r.abs(to)] = written
	}
	if c.args[0] == "mv" && r.abs(from) != r.abs(to) {
		delete(r.m.Files, r.abs(from))
	}
	return yes
}
