package aws

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	accounts "nodestorm/fakecloud/aws/account"
	"nodestorm/fakecloud/loopback"
	"nodestorm/harness/cloud/live"
)

var alone = &live.Standalone{
	Command: Name,
	Short:   "Serve AWS as node autoscalers call it, on loopback",
	Long: `Serve an account of AWS on loopback, in real time, until Ctrl-C: EC2, IAM, SSM,
SQS, EKS, STS, ARC zonal shift and the price list, as far as Karpenter for AWS
calls them, and Auto Scaling as far as Cluster Autoscaler does. All have one
endpoint. Printed are the variables that SDKs and the aws command go by, with a
key of this run.

--state is a file in YAML with what the account has: nodestorm help accounts.
Without one there is a cluster called nodestorm, with a subnet in each of three
zones. What becomes of it is not kept. Instances run and boot into nothing; in
the worlds of replays they become Nodes.

Status 3: a fault made no difference.`,
	Example: `  nodestorm cloud aws --port 4566
  nodestorm cloud aws --state account.yaml --faults faults.yaml`,
	What: "instance(s)", Begins: true,
	New: func(flags *pflag.FlagSet) live.Serving {
		s := &served{}
		flags.StringVar(&s.file, "state", "", "`FILE` with what the account has: nodestorm help accounts")
		return s
	},
}

// served is an account that is served alone.
type served struct {
	file    string
	account *accounts.Account
}

func (s *served) Check(read func(string) ([]byte, error), _ bool) error {
	s.account = accounts.Default()
	if s.file == "" {
		return nil
	}
	text, err := read(s.file)
	if err == nil {
		s.account, err = accounts.Read(text)
	}
	if err != nil {
		return fmt.Errorf("--state %s: %w", s.file, err)
	}
	return nil
}

func (s *served) Config() fakecloud.Config { return s.account.Settings() }

func (s *served) Begin() func(*fakecloud.Tx) error { return s.account.Begin }

func (s *served) Serve(ctx context.Context, c *fakecloud.Cloud, l net.Listener, o live.Options) (live.Served, error) {
	if !o.Everywhere {
		if _, err := loopback.Listener(l); err != nil {
			return live.Served{}, err
		}
	}
	id, secret := newKey()
	server, err := aws.New(s.account.Config(c, map[string]string{id: secret}))
	if err != nil {
		return live.Served{}, err
	}
	up := loopback.Serve(ctx, l, server, server.UnsignedCalls())
	a := s.account
	return live.Served{
		Closer: up, Endpoint: up.URL(),
		Says: fmt.Sprintf("AWS is up: account %s, cluster %s, queue %s. Use it with", a.Account, a.Cluster.Name, a.Queue),
		Environment: []string{
			"AWS_ENDPOINT_URL=" + up.URL(), "AWS_REGION=" + a.Region, "AWS_DEFAULT_REGION=" + a.Region, "AWS_ACCESS_KEY_ID=" + id,
			"AWS_SECRET_ACCESS_KEY=" + secret, "AWS_EC2_METADATA_DISABLED=true",
		},
	}, nil
}

// newKey is an access key and its secret.
func newKey() (id, secret string) { return "AKIA" + rand.Text()[:16], rand.Text() + rand.Text()[:14] }
