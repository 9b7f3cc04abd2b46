// Package instanceapi serves a fakecloud.Cloud as a small API of our own, JSON over HTTP, for cloud providers
// that launch instances one by one: Karpenter's, in fakecloud/adapters/karpenter, is its client.
//
//	GET    /types              what there is, with zones, capacity types and prices
//	GET    /images
//	POST   /instances          launch one; its name is the caller's, and taken but once
//	GET    /instances          all
//	GET    /instances/{name}
//	DELETE /instances/{name}   terminate
//	GET    /interruptions      which are taken back, and when
//
// The API does not say what has run out, as clouds do not: a launch is refused with resource_unavailable.
//
// It decides nothing about the cloud: that is fakecloud's. Every call goes to the history, with source
// "cloud" and the operation as verb ("LaunchInstance").
package instanceapi

import "nodestorm/fakecloud/jsonapi"

// API are the calls.
var API = jsonapi.API{
	Calls: []jsonapi.Operation{
		{Name: "DescribeTypes", Route: "GET /types", Words: "describe types", Handle: describeTypes},
		{Name: "DescribeImages", Route: "GET /images", Words: "describe images", Handle: describeImages},
		{Name: "LaunchInstance", Route: "POST /instances", Words: "launch instances", Handle: launchInstance, Subject: launchSubject},
		{Name: "DescribeInstances", Route: "GET /instances", Words: "describe instances", Handle: describeInstances},
		{Name: "DescribeInstance", Route: "GET /instances/{name}", Words: "describe single_instances", Handle: describeInstance},
		{Name: "DescribeInterruptions", Route: "GET /interruptions", Words: "describe interruptions", Handle: describeInterruptions},
		{Name: "TerminateInstance", Route: "DELETE /instances/{name}", Words: "terminate instances", Handle: terminateInstance},
	},
	Commands: []string{"create_server", "start_server", "delete_server"},
}
