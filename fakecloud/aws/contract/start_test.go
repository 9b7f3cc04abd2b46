package contract

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/wire/wiretest"
)

// account is one of AWS, served on loopback in real time, with clients of all services.
type account struct {
	cloud   *fakecloud.Cloud
	server  *aws.Server
	config  sdk.Config
	ec2     *ec2.Client
	scaling *autoscaling.Client
	iam     *iam.Client
	ssm     *ssm.Client
	sqs     *sqs.Client
	eks     *eks.Client
	pricing *pricing.Client
	sts     *sts.Client
	shift   *arczonalshift.Client
}

func start(t *testing.T) *account {
	t.Helper()
	settings := aws.Settings()
	settings.Clock, settings.Seed = clock.RealClock{}, 1
	settings.Durations = map[string]time.Duration{"create_server": 0, "start_server": 0, "attach_to_network": 0, "delete_server": 0}
	cloud, err := fakecloud.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cloud.Close)
	served, err := aws.New(aws.Config{
		Cloud: cloud, Account: "123456789012", Keys: map[string]string{"AKIATEST": "secret"}, Queue: "q1", Latency: aws.Latency,
		Cluster: aws.Cluster{Name: "c1", Endpoint: "https://c1", CABundle: "Y2E=", ServiceCIDR: "10.100.0.0/16", Version: "1.34"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	a := clients(cloud, server.URL, "AKIATEST", "secret")
	a.server = served
	return a
}

// clients are those of all services at a URL, with a key. They try once.
func clients(cloud *fakecloud.Cloud, url, key, secret string) *account {
	a := &account{cloud: cloud, config: sdk.Config{
		Region: "us-west-2", BaseEndpoint: &url, RetryMaxAttempts: 1,
		Credentials: sdk.CredentialsProviderFunc(func(context.Context) (sdk.Credentials, error) {
			return sdk.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
		}),
	}}
	of := a.config
	a.ec2, a.ssm, a.sqs, a.eks, a.sts = ec2.NewFromConfig(of), ssm.NewFromConfig(of), sqs.NewFromConfig(of), eks.NewFromConfig(of), sts.NewFromConfig(of)
	a.shift = arczonalshift.NewFromConfig(of)
	a.scaling = autoscaling.NewFromConfig(of)
	a.iam = iam.NewFromConfig(of, func(o *iam.Options) { o.Region = "us-east-1" })
	a.pricing = pricing.NewFromConfig(of, func(o *pricing.Options) { o.Region = "us-east-1" })
	return a
}

// code is that of an error of AWS's, empty for none.
func code(err error) string {
	var is smithy.APIError
	if errors.As(err, &is) {
		return is.ErrorCode()
	}
	if err != nil {
		return "another error: " + err.Error()
	}
	return ""
}

// must returns what was answered.
func must[T any](t *testing.T) func(T, error) T {
	return func(is T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
}

// signAs signs a request by hand.
func signAs(r *http.Request, service, region, body string) {
	r.Host = r.URL.Host
	wiretest.Sign(r, body, "AKIATEST", "secret", service, region, time.Now())
}
