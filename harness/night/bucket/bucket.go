// Package bucket keeps objects below one prefix of a bucket, in any store that speaks S3. It knows
// nothing of what is in them.
package bucket

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"nodestorm/sim/oneline"
)

// Scheme begins the names of places that are buckets.
const Scheme = "s3://"

// EnvEndpoint names the store that buckets are in, EnvRegion where in it. Credentials are those
// of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of AWS's credentials file.
const (
	EnvEndpoint = "AWS_ENDPOINT_URL"
	EnvRegion   = "AWS_REGION"
)

// most is how many objects are listed: beyond, a prefix is not ours.
const most = 10_000

// Bucket is a prefix of one. It is safe for concurrent use.
type Bucket struct {
	client       *minio.Client
	where        string
	name, prefix string
}

// Open finds s3://BUCKET/PREFIX. Nothing is asked of the store yet.
func Open(where string) (*Bucket, error) {
	rest, is := strings.CutPrefix(where, Scheme)
	if !is {
		return nil, fmt.Errorf("%s: want s3://BUCKET/PREFIX", where)
	}
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
		return nil, fmt.Errorf("%s=%q: credentials and runs would go without TLS, which is done on loopback only", EnvEndpoint, endpoint)
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		Secure: at.Scheme == "https", Region: os.Getenv(EnvRegion), MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return &Bucket{client, where, name, prefix}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Names are those of the objects right below the prefix for which ours holds, in their order.
func (b *Bucket) Names(ctx context.Context, ours func(name string) bool) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	listed := 0
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, b.wrapError("listing", o.Err)
		}
		if name := strings.TrimPrefix(o.Key, b.prefix); ours(name) {
			names = append(names, name)
		}
		if listed++; listed > most {
			return nil, fmt.Errorf("%s has more than %d objects", b.where, most)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Get reads an object. Errors of the reader are the store's, too: see ReadError.
func (b *Bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := b.client.GetObject(ctx, b.name, path.Join(b.prefix, name), minio.GetObjectOptions{})
	if err != nil {
		return nil, b.wrapError("reading "+name, err)
	}
	return in, nil
}

// ReadError is an error of what Get has returned, in a line.
func (b *Bucket) ReadError(name string, err error) error { return b.wrapError("reading "+name, err) }

// Put keeps an object of so many bytes, whole or not at all.
func (b *Bucket) Put(ctx context.Context, name string, in io.Reader, size int64, contentType string) error {
	_, err := b.client.PutObject(ctx, b.name, path.Join(b.prefix, name), in, size, minio.PutObjectOptions{ContentType: contentType})
	if err != nil {
		return b.wrapError("keeping "+name, err)
	}
	return nil
}

// wrapError is an error in a line, with the way out where there is one.
func (b *Bucket) wrapError(doing string, err error) error {
	said := minio.ToErrorResponse(err)
	out := ""
	switch {
	case said.StatusCode == 507 || strings.Contains(said.Code, "Quota") || strings.Contains(said.Code, "StorageFull") ||
		strings.Contains(said.Code, "InsufficientStorage"):
		out = "; it is full: make room, or name another place"
	case said.StatusCode == 401 || said.StatusCode == 403:
		out = "; credentials are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of AWS's credentials file"
	case said.StatusCode == 404:
		out = "; make the bucket, or see " + EnvEndpoint
	}
	return &StoreError{fmt.Errorf("%s: %s: %w%s", b.where, doing, oneline.CutError(err, 400), out)}
}

// StoreError is what a bucket's store refused, or that it cannot be reached: nothing that is wrong
// here.
type StoreError struct{ error }

func (e *StoreError) Unwrap() error { return e.error }
