package buildstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/executable"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/builds/tree"
	"nodestorm/sim/time/clock/overlay"
)

// What the environment says of registries, for all commands.
const (
	EnvFrom   = "NODESTORM_FROM"
	EnvMirror = "NODESTORM_MIRROR"
)

// NoRegistry is what a Mirror can be in place of one: no registry is asked for the projects' images.
const NoRegistry = "off"

// Registries are where targets are asked for.
type Registries struct {
	// From is a repository that Push has written builds to, such as
	// registry.example/team/builds, which is asked first; with @sha256:… it is one build, and
	// that is taken. Empty is none.
	From string
	// Mirror is asked in place of the registries that the projects publish in: HOST/PREFIX for
	// the HOST of each reference. Empty is those themselves.
	Mirror string
	// Lock is a file of digests in addition to the store's own; empty is none.
	Lock Lock
}

// check finds what is wrong before anybody is asked.
func (r Registries) check() error {
	if r.Mirror != "" && r.Mirror != NoRegistry {
		repo, err := name.NewRepository(r.Mirror + "/x")
		if host, _, _ := strings.Cut(r.Mirror, "/"); err != nil || repo.RegistryStr() != host {
			return fmt.Errorf("%q is no place of a mirror: want HOST[:PORT][/PREFIX], for example registry.example/mirror", r.Mirror)
		}
	}
	if r.From != "" {
		repository, digest, pinned := strings.Cut(r.From, "@")
		_, err := name.NewRepository(repository, name.StrictValidation)
		if pinned && err == nil {
			_, err = name.NewDigest(repository + "@" + digest)
		}
		if err != nil {
			return fmt.Errorf("%q is no repository: want one that nodestorm target push has written to, for example "+
				"registry.example/team/nodestorm", r.From)
		}
	}
	return nil
}

// resolve is where a reference is looked for.
func (r Registries) resolve(reference string) string {
	if r.Mirror == "" {
		return reference
	}
	_, rest, _ := strings.Cut(reference, "/")
	return r.Mirror + "/" + rest
}

// Offer is what registries have of a target: it has been asked for, and nothing taken yet.
type Offer struct {
	builds.Ref
	// Size is how many bytes taking it reads.
	Size int64
	// Where are the references under which it was found.
	Where []string

	programs []offered
	from     string // a build that was pushed, by its digest
	digests  map[string]string
	locks    []Lock
}

type offered struct {
	PublishedProgram
	found *registry.Remote
}

// storeLock is the store's own.
func (s *Store) storeLock() Lock { return Lock(filepath.Join(s.dir, "images.lock")) }

// FindOffer asks registries for a target: a build that was pushed, or the images of its
// project. The error is an *UnpublishedError if there are none, a *MovedError, or an
// *image.UnreachableError.
func (s *Store) FindOffer(ctx context.Context, ref builds.Ref, where Registries) (*Offer, error) {
	offer, err := s.findOffer(ctx, ref, where)
	if err != nil {
		return nil, fmt.Errorf("pulling %s: %w", ref, err)
	}
	return offer, nil
}

func (s *Store) findOffer(ctx context.Context, ref builds.Ref, where Registries) (*Offer, error) {
	if err := errors.Join(ref.Check(), where.check()); err != nil {
		return nil, err
	}
	offer := &Offer{Ref: ref, digests: map[string]string{}}
	if where.Lock != "" {
		offer.locks = []Lock{where.Lock}
	}
	if where.From != "" {
		found, err := offer.askPushed(ctx, where.From)
		if err != nil || found {
			return offer, err
		}
	}
	programs, err := Published(ref)
	if err != nil {
		return nil, err
	}
	if where.Mirror == NoRegistry {
		return nil, &UnpublishedError{ref, "no registry is asked, since --mirror or NODESTORM_MIRROR is " + NoRegistry}
	}
	offer.locks = append(offer.locks, s.storeLock())
	for _, p := range programs {
		at := where.resolve(p.Image)
		found, err := registry.Query(ctx, at, runtime.GOARCH)
		if err != nil {
			return nil, err
		}
		offer.programs = append(offer.programs, offered{p, found})
		offer.Where, offer.Size = append(offer.Where, at), offer.Size+found.Size()
		offer.digests[p.Image] = found.Digest()
	}
	return offer, offer.check()
}

// askPushed asks for a build that was pushed to the repository, if there is one.
func (o *Offer) askPushed(ctx context.Context, repository string) (bool, error) {
	if strings.Contains(repository, "@") {
		found, err := registry.Query(ctx, repository, runtime.GOARCH)
		if err != nil {
			return false, err
		}
		o.from, o.Size, o.Where = repository, found.Size(), []string{repository}
		return true, nil
	}
	for _, place := range o.places(repository) {
		found, err := registry.Query(ctx, place, runtime.GOARCH)
		if registry.NotThere(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		o.from, o.Size, o.Where = repository+"@"+found.Digest(), found.Size(), []string{place}
		o.digests[place] = found.Digest()
		return true, o.check()
	}
	return false, nil
}

// places are where Push may have written a build that serves: for the provider of the target's
// recipe if none is asked for, with our clock or without one.
func (o *Offer) places(repository string) (places []string) {
	refs := []builds.Ref{o.Ref}
	if known, err := Known(o.Ref); err == nil && known.Provider != o.Provider {
		refs = []builds.Ref{known.Ref, o.Ref}
	}
	for _, ref := range refs {
		for _, of := range []string{overlay.Digest(), ""} {
			places = append(places, repository+":"+tag(ref, of))
		}
	}
	return places
}

func (o *Offer) check() error {
	for _, lock := range o.locks {
		if err := lock.check(o.digests); err != nil {
			return err
		}
	}
	return nil
}

// PullOffer gets what was offered into the store, and locks it. Of a target that was built here,
// too, the build stays the one that Get returns. An error, or the end of ctx, leaves the store
// as it was.
func (s *Store) PullOffer(ctx context.Context, o *Offer, progress Progress) (t builds.Target, err error) {
	if o.from != "" {
		t, err = s.Pull(ctx, o.Ref, o.from, progress)
	} else if t, err = s.pullOffer(ctx, o, reporter{ref: o.Ref, start: time.Now(), to: progress}); err != nil {
		err = withHint(fmt.Errorf("pulling %s: %w", o.Ref, err))
	}
	for _, lock := range o.locks {
		if err == nil {
			err = s.lock(ctx, lock, o.digests)
		}
	}
	return t, err
}

func (s *Store) pullOffer(ctx context.Context, o *Offer, report reporter) (_ builds.Target, err error) {
	tmp, done, err := s.begin(ctx, o.Ref, report)
	if err != nil {
		return builds.Target{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	d := newDraft(tmp)
	m := builds.Manifest{Ref: o.Ref, Source: builds.Source{Kind: builds.FromImage, Published: true, Image: o.programs[0].Image}}
	var before int64
	for i, p := range o.programs {
		got, err := p.pull(ctx, filepath.Join(tmp, "image", fmt.Sprint(i)), d.binary(p.Name), func(done, _ int64) {
			report.send(Update{Stage: Pulling, Done: int((before + done) >> 20), Total: int(o.Size >> 20), Package: o.Where[i]})
		})
		if err != nil {
			return builds.Target{}, err
		}
		before += p.found.Size()
		m.Programs = append(m.Programs, got)
	}
	m.GoVersion = m.Programs[0].GoVersion
	for _, p := range m.Programs {
		if p.GoVersion == "" { // one that is not Go's is enough
			m.GoVersion = ""
		}
	}
	if len(m.Programs) == 1 && m.Programs[0].Name == o.Name {
		p := m.Programs[0]
		m.Source.Digest, m.Source.File, m.Programs = p.Digest, p.File, nil
	}
	if err := s.assets(ctx, o.Ref, d, report); err != nil {
		return builds.Target{}, err
	}
	key := keyOf(pulled, m.Source, m.Programs)
	if t, ok := s.reuse(o.Ref, key, m.Source); ok {
		return t, nil
	}
	return s.publish(d, key, m)
}

// pull puts the program into the file bin.
func (p offered) pull(ctx context.Context, work, bin string, progress func(done, total int64)) (builds.Program, error) {
	im, err := p.found.Open(ctx, work, progress)
	if err != nil {
		return builds.Program{}, err
	}
	file := p.Path
	if file == "" {
		if file, err = im.Program(); err != nil {
			return builds.Program{}, err
		}
	}
	file = path.Join("/", file)
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return builds.Program{}, err
	}
	out, err := os.OpenFile(bin, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return builds.Program{}, err
	}
	if err := errors.Join(im.Copy(ctx, file, out), out.Close()); err != nil {
		return builds.Program{}, err
	}
	var says builds.Manifest
	if err := executable.Inspect(bin, &says); err != nil {
		return builds.Program{}, fmt.Errorf("image %s: %s %w", p.Image, file, err)
	}
	sum, size, err := tree.SHA256(bin)
	return builds.Program{Name: p.Name, SHA256: sum, Size: size, Image: p.Image, Digest: p.found.Digest(), File: file,
		GoVersion: says.GoVersion}, err
}

// assets puts beside the program what else worlds need of the source of its release, which
// is in no image: the Go module is fetched, and not compiled.
func (s *Store) assets(ctx context.Context, ref builds.Ref, d draft, report reporter) error {
	r, err := Known(ref)
	if err != nil || r.Module == "" || len(r.Assets) == 0 {
		return nil //nolint:nilerr // what has no recipe has no assets
	}
	src, err := fromModule(ctx, r, d.tmp, io.Discard, report)
	if err != nil {
		return fmt.Errorf("its program is there, and %s is in its Go module: %w", strings.Join(r.Assets, ", "), err)
	}
	r.Faces = nil
	return d.fill(r, src.root)
}

// pulled begins the keys of entries that PullOffer has made, which others go before.
const pulled = "pulled"

// isPulled reports whether an entry was pulled, by its key.
func isPulled(key string) bool { return strings.HasPrefix(key, pulled+"-") }
