// Package audit turns kube-apiserver's audit log into events of the history: it
// provides the policy that makes the API server write the log, and converts the
// log's lines. Where the lines come from, a pipe or a file, is the caller's.
package audit

import _ "embed"

//go:embed policy.yaml
var policyYAML []byte

// Policy is the audit policy to pass to kube-apiserver, as YAML. The log's
// format must be json, its mode blocking: then a call's line is written before
// its response.
func Policy() []byte { return policyYAML }

// TargetGroup is a group that the identities of programs under test have in addition to
// their own, so that the policy knows them: what they say in Events is in the log. No
// right goes with it.
const TargetGroup = "nodestorm:target"

// programGroup begins the names of groups that say which program an identity is of.
const programGroup = "nodestorm:program:"

// ProgramGroup is a group by which the history knows the calls of a program, whatever
// account it has. No right goes with it.
func ProgramGroup(program string) string { return programGroup + program }

// UserGroup is a group of the identity of a user whose calls are to be written
// down: the log has their bodies, but for what is secret. No right goes with it.
const UserGroup = "nodestorm:somebody"

const replicaGroup = "nodestorm:replica:"

// ReplicaGroup is the group of an identity whose calls are those of one of several processes that a program consists of: they have
// its name as their detail "replica".
func ReplicaGroup(name string) string { return replicaGroup + name }
