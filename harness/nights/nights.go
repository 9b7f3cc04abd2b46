// Package nights is where nights are kept, one file each: a folder, or a bucket of any
// store that speaks S3. It knows nothing of what is in the files.
package nights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"nodestorm/harness/run"
)

// What a place may cost us.
const (
	maxNight  = 64 << 20 // bytes of a file
	maxNights = 10_000
)

// Place keeps files.
type Place interface {
	// Names are those of the files, in their order.
	Names(ctx context.Context) ([]string, error)
	Read(ctx context.Context, name string) ([]byte, error)
	// Write keeps a file, whole or not at all.
	Write(ctx context.Context, name string, text []byte) error
}

// EnvEndpoint names the store that buckets are in, EnvRegion where in it.
const (
	EnvEndpoint = "AWS_ENDPOINT_URL"
	EnvRegion   = "AWS_REGION"
)

// Open finds the place: a folder, or s3://BUCKET/PREFIX.
func Open(where string) (Place, error) {
	bucket, is := strings.CutPrefix(where, "s3://")
	if !is {
		if where == "" {
			return nil, errors.New("no folder given")
		}
		return folder(where), nil
	}
	return openBucket(where, bucket)
}

// file is a name that a night's file may have.
var file = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.json$`)

type folder string

func (f folder) Names(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notThere(f)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && file.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxNights {
		return nil, fmt.Errorf("%s has more than %d nights", string(f), maxNights)
	}
	return names, nil
}

// notThere is a folder that does not exist.
type notThere string

func (f notThere) Error() string {
	return string(f) + " is not there; name the folder in which nights are kept, or s3://BUCKET/PREFIX"
}

func (notThere) Is(err error) bool { return err == fs.ErrNotExist }

func (f folder) Read(_ context.Context, name string) ([]byte, error) {
	in, err := os.Open(filepath.Join(string(f), name))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return bounded(in, name)
}

func (f folder) Write(_ context.Context, name string, text []byte) error {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return fmt.Errorf("keeping a night: %w", err)
	}
	return run.WriteFile(string(f), name, text)
}

func bounded(in io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxNight+1))
	if err == nil && len(text) > maxNight {
		err = fmt.Errorf("%s is no night: it has more than %d MiB", name, maxNight>>20)
	}
	return text, err
}

type bucket struct {
	client       *minio.Client
	where        string
	name, prefix string
}

func openBucket(where, rest string) (Place, error) {
	name, prefix, _ := strings.Cut(rest, "/")
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	if err := s3utils.CheckValidBucketNameStrict(name); err != nil {
		return nil, fmt.Errorf("%s: %w; want s3://BUCKET/PREFIX", where, err)
	}
	endpoint := os.Getenv(EnvEndpoint)
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com"
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("%s=%q: want the URL of a store without a path, such as https://s3.example", EnvEndpoint, endpoint)
	}
	if at.Scheme == "http" && !loopback(at.Hostname()) {
		return nil, fmt.Errorf("%s=%q: credentials and nights would go without TLS, which is done on loopback only", EnvEndpoint, endpoint)
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		Secure: at.Scheme == "https", Region: os.Getenv(EnvRegion), MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return &bucket{client, where, name, prefix}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (b *bucket) Names(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, b.says("listing nights", o.Err)
		}
		if name := strings.TrimPrefix(o.Key, b.prefix); file.MatchString(name) {
			names = append(names, name)
		}
		if len(names) > maxNights {
			return nil, fmt.Errorf("%s has more than %d nights", b.where, maxNights)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (b *bucket) Read(ctx context.Context, name string) ([]byte, error) {
	in, err := b.client.GetObject(ctx, b.name, path.Join(b.prefix, name), minio.GetObjectOptions{})
	if err != nil {
		return nil, b.says("reading "+name, err)
	}
	defer in.Close()
	text, err := bounded(in, name)
	if err != nil {
		return nil, b.says("reading "+name, err)
	}
	return text, nil
}

func (b *bucket) Write(ctx context.Context, name string, text []byte) error {
	_, err := b.client.PutObject(ctx, b.name, path.Join(b.prefix, name), strings.NewReader(string(text)), int64(len(text)), minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true})
	if err != nil {
		return b.says("keeping "+name, err)
	}
	return nil
}

// says is an error in a line, with the way out where there is one.
func (b *bucket) says(doing string, err error) error {
	said := minio.ToErrorResponse(err)
	out := ""
	switch {
	case said.StatusCode == 507 || strings.Contains(said.Code, "Quota") || strings.Contains(said.Code, "StorageFull") || strings.Contains(said.Code, "InsufficientStorage"):
		out = "; it is full: make room, or name another place"
	case said.StatusCode == 401 || said.StatusCode == 403:
		out = "; credentials are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of AWS's credentials file"
	case said.StatusCode == 404:
		out = "; make the bucket, or see " + EnvEndpoint
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	return &StoreError{fmt.Errorf("%s: %s: %w%s", b.where, doing, oneLine{err, text}, out)}
}

// StoreError is what a bucket's store refused, or that it cannot be reached: nothing that is wrong
// here, and no reason to lose a night.
type StoreError struct{ error }

func (e *StoreError) Unwrap() error { return e.error }

// oneLine is an error whose words may be a store's own.
type oneLine struct {
	error
	text string
}

func (e oneLine) Error() string { return e.text }
func (e oneLine) Unwrap() error { return e.error }
