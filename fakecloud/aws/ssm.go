package aws

import (
	"strings"
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
)

// What GetParameter asks and answers.
type (
	getParameterRequest struct {
		Name           string `wire:",required,min=1,max=2048"`
		WithDecryption *bool
	}
	parameter struct {
		ARN, DataType, Name, Type, Value string
		LastModifiedDate                 time.Time
		Version                          int64
	}
	parameterAnswer struct{ Parameter parameter }
)

// parameters are SSM's operations: the account's own parameters and, of AWS's public ones, those of the images.
func parameters(cfg Config) []api.Operation {
	created := time.Time{}
	if cfg.Cloud != nil {
		created = cfg.Cloud.Clock().Now()
	}
	get := func(_ *api.Call, in *getParameterRequest) (*parameterAnswer, error) {
		if value, is := cfg.Parameters[in.Name]; is {
			return &parameterAnswer{parameter{
				ARN: "arn:aws:ssm:" + cfg.Region + ":" + cfg.Account + ":parameter/" + strings.TrimPrefix(in.Name, "/"), Name: in.Name,
				DataType: "text", Type: "String", Value: value, LastModifiedDate: created, Version: 1,
			}}, nil
		}
		// The recommended image is the last one with its path.
		var found *parameterAnswer
		for _, i := range offer.Images() {
			named := strings.ReplaceAll(i.Path, "%s", cfg.Cluster.Version)
			pinned := strings.ReplaceAll(i.Pinned, "%s", cfg.Cluster.Version)
			if in.Name != named && in.Name != pinned {
				continue
			}
			found = &parameterAnswer{parameter{
				ARN: "arn:aws:ssm:" + cfg.Region + "::parameter" + in.Name, DataType: "text", Name: in.Name, Type: "String",
				Value: offer.AMI(strings.ReplaceAll(i.Name, "%s", cfg.Cluster.Version)), LastModifiedDate: i.Created, Version: 1,
			}}
		}
		if found == nil {
			return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", in.Name)
		}
		return found, nil
	}
	about := func(_ *api.Call, in *getParameterRequest) api.Subject {
		return api.Subject{Matches: []cloudfault.Call{{Name: in.Name}}}
	}
	return []api.Operation{api.With(api.Does("GetParameter", get), about)}
}
