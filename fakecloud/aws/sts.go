package aws

import "nodestorm/fakecloud/aws/api"

// What GetCallerIdentity answers.
type identity struct {
	UserID       string `wire:"UserId"`
	Account, Arn string
}

// callers are STS's operations.
func callers(cfg Config) []api.Operation {
	who := func(*api.Call, *nothing) (*identity, error) {
		return &identity{UserID: "AIDA00000000000000001", Account: cfg.Account, Arn: "arn:aws:iam::" + cfg.Account + ":user/nodestorm"}, nil
	}
	return []api.Operation{api.Does("GetCallerIdentity", who)}
}
