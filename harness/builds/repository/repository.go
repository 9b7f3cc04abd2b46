// Package repository reads what a user's git repository has: refs, the commits between
// two, a checkout of one. The repository is a folder with a checkout, a bare one, or a
// URL, of which a mirror is kept. It changes nothing in a folder, runs nothing that the
// repository's own configuration has git run (view), asks for no password, and builds
// nothing. All of nodestorm's calls of git are here.
package repository

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"nodestorm/sim/strict"

	"nodestorm/sim/oneline"
)

// Repository is one that can be read.
type Repository struct {
	// Name is what the user called it: an absolute folder, or a URL without what is
	// secret in it.
	Name string
	// Prefix is the folder below its top that the user named, slashed; often empty.
	Prefix string
	dir    string // where git finds it
	at     *place
	secret string // the URL as the user wrote it, if it is one
}

// url-like: with a scheme, or as ssh has it, host:path.
var (
	remotePattern = regexp.MustCompile(`^(https?|ssh|git|file)://[^\s]+$`)
	sshPattern    = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:[^\s]+$`)
)

// Open finds the repository that name is: a folder in one, or a URL, of which the mirror
// in the folder mirrors is made, or brought up to date.
func Open(ctx context.Context, name, mirrors string) (*Repository, error) {
	switch {
	case name == "" || strings.HasPrefix(name, "-"):
		return nil, fmt.Errorf("%q names no repository: want a folder or a URL", name)
	case isFolder(name):
		return local(ctx, name)
	case remotePattern.MatchString(name), sshPattern.MatchString(name):
		return remote(ctx, name, mirrors)
	case strings.Contains(name, "://") || strings.Contains(name, "::"):
		return nil, fmt.Errorf("%s is no repository that can be read: want a folder, or a URL with https, http, ssh, git or file", Redacted(name))
	}
	return nil, fmt.Errorf("%s is no folder, and no URL of a git repository", name)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func local(ctx context.Context, name string) (*Repository, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	at, err := discover(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read as a git repository: %w", dir, err)
	}
	return &Repository{Name: dir, Prefix: at.prefix, dir: cmp.Or(at.top, dir), at: at}, nil
}

// remote mirrors the branches and tags of a URL, whose secrets are not kept.
func remote(ctx context.Context, name, mirrors string) (_ *Repository, err error) {
	sum := sha256.Sum256([]byte(Redacted(name)))
	r := &Repository{Name: Redacted(name), dir: filepath.Join(mirrors, hex.EncodeToString(sum[:8])), secret: name}
	if err := os.MkdirAll(mirrors, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(r.dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", lock.Path(), err), lock.Close())
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := run(ctx, "", nil, nil, "init", "--quiet", "--bare", "--template=", r.dir); err != nil {
		return nil, fmt.Errorf("making a mirror of %s: %w", r.Name, err)
	}
	// What a fetch that was killed leaves is no ref yet.
	_, err = run(ctx, r.dir, nil, []string{"GIT_DIR=" + r.dir, "GIT_ALLOW_PROTOCOL=" + protocols},
		"fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-recurse-submodules", "--", name,
		"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", r.Name, r.withoutSecrets(err))
	}
	if r.at, err = discover(ctx, r.dir); err != nil {
		return nil, fmt.Errorf("reading the mirror of %s: %w", r.Name, err)
	}
	return r, nil
}

// Redacted is a URL without the user's name and password.
func Redacted(name string) string {
	u, err := url.Parse(name)
	if err != nil || u.User == nil || u.Host == "" {
		return name
	}
	if _, secret := u.User.Password(); secret || u.Scheme != "ssh" {
		u.User = nil
	}
	return u.String()
}

// Remote reports whether the repository is a mirror of one elsewhere.
func (r *Repository) Remote() bool { return r.secret != "" }

// Top is the folder of the checkout, empty of what has none.
func (r *Repository) Top() string { return r.at.top }

// Dirty reports whether a checkout holds what is in no commit.
func (r *Repository) Dirty(ctx context.Context) bool {
	return r.at.top != "" && r.at.differs(ctx, r.at.top)
}

func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	return r.at.git(ctx, args...)
}

// lacking adds to an error what a partial clone is without.
func (r *Repository) lacking(ctx context.Context, err error) error {
	_, none := run(ctx, r.dir, nil, nil, "config", "--get-regexp", `^(remote\..*\.promisor|extensions\.partialclone)$`)
	if none != nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; it is a partial clone, of which nothing is fetched here: get what is missing with %s, or name its URL", err,
		oneline.Command("git", "-C", r.dir, "fetch", "--refetch", "--no-filter"))
}

// Commit is the one that a ref names: a tag, a branch, a commit.
func (r *Repository) Commit(ctx context.Context, ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, " \t\n\x00") || strings.Contains(ref, "..") {
		return "", fmt.Errorf("%q is no ref: want a tag, a branch or a commit", ref)
	}
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		return commit, nil
	}
	near := ""
	if refs, err := r.refs(ctx); err == nil {
		near = nearest(ref, refs)
	}
	return "", fmt.Errorf("%s has no ref %q%s%s", r.Name, ref, near, r.Shallow(ctx))
}

// Shallow is the end of an error's sentence where a shallow clone may lack what is asked
// of it, and empty of others.
func (r *Repository) Shallow(ctx context.Context) string {
	if said, err := r.git(ctx, "rev-parse", "--is-shallow-repository"); err != nil || said != "true" {
		return ""
	}
	return fmt.Sprintf("; it is a shallow clone, of which %s gets the rest",
		oneline.Command("git", "-C", r.dir, "fetch", "--unshallow", "--tags"))
}

// refs are the short names of tags, branches, and branches of remotes.
func (r *Repository) refs(ctx context.Context) ([]string, error) {
	listed, err := r.git(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags", "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	return strings.Fields(listed), nil
}

// nearest says which ref may have been meant: one that ends alike, or one that is
// spelled alike.
func nearest(ref string, refs []string) string {
	if len(refs) == 0 {
		return ": it has none at all"
	}
	var alike []string
	for _, other := range refs {
		bare := strings.TrimPrefix(ref, "v")
		if other == bare || slices.ContainsFunc([]string{"-" + ref, "/" + ref, "-" + bare},
			func(end string) bool { return strings.HasSuffix(other, end) }) || other == "v"+ref {
			alike = append(alike, other)
		}
	}
	if len(alike) == 0 {
		return strict.Meant(ref, refs)
	}
	return fmt.Sprintf(", did you mean %q?", strings.Join(alike[:min(4, len(alike))], `" or "`))
}

// Tags are all tags and the commits that they name.
func (r *Repository) Tags(ctx context.Context) (map[string]string, error) {
	listed, err := r.git(ctx, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname) %(*objectname)", "refs/tags")
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for line := range strings.Lines(listed) {
		if f := strings.Fields(line); len(f) >= 2 {
			tags[f[0]] = f[len(f)-1]
		}
	}
	return tags, nil
}

// Place is a commit and which of the others come right before it.
type Place struct {
	Commit  string
	Parents []string
}

// CommitsBetween are the commits that are reachable from newer and not from older, and that
// touch folder (slashed, empty for all) in a file that can shape a program; newest first,
// each before its parents, which are the next of them that do. FirstParent keeps to the
// line of merges.
func (r *Repository) CommitsBetween(ctx context.Context, older, newer, folder string, firstParent bool) ([]Place, error) {
	args := []string{"rev-list", "--parents", "--topo-order"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	args = append(args, newer, "^"+older, "--", ":(top)"+folder)
	for _, none := range []string{"*_test.go", "*.md"} {
		args = append(args, ":(top,exclude,glob)"+strings.TrimPrefix(folder+"/**/", "/")+none)
	}
	args = append(args, ":(top,exclude).github")
	listed, err := r.git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("listing the commits between %s and %s: %w", older, newer, err)
	}
	var places []Place
	for line := range strings.Lines(listed) {
		f := strings.Fields(line)
		if len(f) > 0 {
			places = append(places, Place{f[0], f[1:]})
		}
	}
	return places, nil
}

// MergeBase is where two commits' histories part.
func (r *Repository) MergeBase(ctx context.Context, a, b string) (string, error) {
	base, err := r.git(ctx, "merge-base", a, b)
	if err != nil {
		return "", fmt.Errorf("%.12s and %.12s have no commit in common%s", a, b, r.Shallow(ctx))
	}
	return base, nil
}

// Message is who wrote a commit when, and what it says.
type Message struct {
	Author  string
	Date    string // as 2006-01-02
	Subject string
	Body    string
}

// Message is what a commit says of itself.
func (r *Repository) Message(ctx context.Context, commit string) (Message, error) {
	said, err := r.git(ctx, "log", "-1", "--no-show-signature", "--format=%an%x00%cs%x00%s%x00%b", commit, "--")
	parts := strings.SplitN(said, "\x00", 4)
	if err == nil && len(parts) < 4 {
		err = errors.New("git log said something else")
	}
	if err != nil {
		return Message{}, fmt.Errorf("reading commit %.12s: %w", commit, err)
	}
	return Message{parts[0], parts[1], parts[2], strings.TrimSpace(parts[3])}, nil
}

// Checkout puts a commit into a folder that is not there yet, as a repository of its own
// that borrows the objects, wherever r has them from: what git puts in place of others
// there (refs/replace) and where a shallow history ends is as in r.
func (r *Repository) Checkout(ctx context.Context, commit, into string) error {
	if err := r.borrow(ctx, into); err != nil {
		return fmt.Errorf("borrowing from %s: %w", r.Name, err)
	}
	if _, err := run(ctx, into, nil, nil, "checkout", "--quiet", "--force", "--detach", commit, "--"); err != nil {
		return fmt.Errorf("checking out %.12s of %s: %w", commit, r.Name, r.lacking(ctx, err))
	}
	return nil
}

// borrow makes an empty repository with r's objects. A clone would copy all that a shallow
// one has, or of a bare one only what branches lead to.
func (r *Repository) borrow(ctx context.Context, into string) error {
	if _, err := run(ctx, "", nil, nil, "init", "--quiet", "--object-format="+r.at.objects, "--template=", "--", into); err != nil {
		return err
	}
	objects, info := filepath.Join(r.at.shared, "objects"), filepath.Join(into, ".git", "objects", "info")
	if err := errors.Join(os.MkdirAll(info, 0o755), os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o600)); err != nil {
		return err
	}
	if ends, err := strict.ReadFile(filepath.Join(r.at.shared, "shallow"), 64<<20); err == nil {
		if err := os.WriteFile(filepath.Join(into, ".git", "shallow"), ends, 0o600); err != nil {
			return err
		}
	}
	replaced, err := r.git(ctx, "for-each-ref", "--format=%(refname) %(objectname)", "refs/replace")
	if err != nil {
		return err
	}
	for line := range strings.Lines(replaced) {
		ref, object, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := run(ctx, into, nil, nil, "update-ref", ref, object); err != nil {
			return err
		}
	}
	return nil
}

// HasFile reports whether a commit has a file, slashed from the top.
func (r *Repository) HasFile(ctx context.Context, commit, file string) bool {
	_, err := r.git(ctx, "cat-file", "-e", commit+":"+file)
	return err == nil
}

// Contains reports whether a commit is newer's, or one before it.
func (r *Repository) Contains(ctx context.Context, newer, commit string) bool {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", commit, newer)
	return err == nil
}
