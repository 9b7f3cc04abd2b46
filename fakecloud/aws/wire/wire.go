// Package wire speaks AWS's protocols: ec2query, awsquery, awsJson 1.0 and 1.1, and restJson. Operations are described by Go
// types of ours; how a request is read and an answer written follows from them. It knows no operation and no cloud.
//
// A field of a struct is spoken by its tag, "wire", or by its name where the tag has none:
//
//	InstanceIDs []string `wire:"instanceId"`             InstanceId.1 in a request of ec2query, <instanceId><item> in an answer
//	MaxResults  *int64   `wire:",min=5,max=1000"`        a pointer: it may be missing
//	Name        string   `wire:"name,required"`          a request without it is refused
//	LocationType string  `wire:",enum=region|availability-zone"`
//
// In requests of ec2query names begin with a capital, in its answers with a small letter; the other protocols have names as
// they are written. What a request says beyond its type is refused: AWS itself overlooks such parameters in some of its
// services, and a fake that does so lies about what it understands.
package wire

import (
	"fmt"
	"net/http"
	"time"
)

// Protocol is how a service speaks.
type Protocol int

// The protocols.
const (
	EC2Query Protocol = iota // EC2: forms in, XML out
	AWSQuery                 // IAM, STS, Auto Scaling: forms in, XML out
	JSON10                   // SQS: JSON, the operation in a header
	JSON11                   // SSM, Pricing
	RESTJSON                 // EKS, ARC zonal shift: JSON, the operation in method and path
)

// IsForm reports whether requests are forms and answers XML.
func (p Protocol) IsForm() bool { return p == EC2Query || p == AWSQuery }

// ContentType is that of answers.
func (p Protocol) ContentType() string {
	switch p {
	case EC2Query:
		return "text/xml;charset=UTF-8"
	case AWSQuery:
		return "text/xml"
	case JSON10:
		return "application/x-amz-json-1.0"
	case JSON11:
		return "application/x-amz-json-1.1"
	}
	return "application/json"
}

// Error is what a service answers to a call that it does not carry out. Status zero means the one that belongs to the code.
type Error struct {
	Status        int
	Code, Message string
	// Query is the code that SQS had before it spoke JSON. Empty: there was none.
	Query string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf returns an Error with the status of its code.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// statuses are those of codes that do not have 400. EC2's are from its API reference ("Error codes for the Amazon EC2 API"),
// the others from the lists of errors that all services share, and of IAM.
var statuses = map[string]int{
	DryRun: http.StatusPreconditionFailed, "AuthFailure": http.StatusUnauthorized, "UnauthorizedOperation": http.StatusForbidden,
	"SignatureDoesNotMatch": http.StatusForbidden, "InvalidClientTokenId": http.StatusForbidden, "AccessDenied": http.StatusForbidden,
	"MissingAuthenticationToken": http.StatusForbidden, "AccessDeniedException": http.StatusBadRequest, "OptInRequired": http.StatusForbidden,
	"RequestLimitExceeded": http.StatusServiceUnavailable, "Unavailable": http.StatusServiceUnavailable,
	"ServiceUnavailable": http.StatusServiceUnavailable, "ServiceUnavailableException": http.StatusServiceUnavailable,
	"InternalError": http.StatusInternalServerError, "InternalFailure": http.StatusInternalServerError,
	"InternalServerError": http.StatusInternalServerError, "ServerException": http.StatusInternalServerError,
	"ServiceFailure": http.StatusInternalServerError, "InsufficientInstanceCapacity": http.StatusInternalServerError,
	"InsufficientCapacity": http.StatusInternalServerError, "InsufficientAddressCapacity": http.StatusInternalServerError,
	"NoSuchEntity": http.StatusNotFound, "EntityAlreadyExists": http.StatusConflict, "DeleteConflict": http.StatusConflict,
	"LimitExceeded": http.StatusConflict, "ConcurrentModification": http.StatusConflict, "ResourceNotFoundException": http.StatusNotFound,
	"RequestEntityTooLarge": http.StatusRequestEntityTooLarge, "UnknownOperationException": http.StatusNotFound,
}

// StatusOf is the HTTP status of an error.
func (e *Error) StatusOf() int {
	if e.Status != 0 {
		return e.Status
	}
	if status, known := statuses[e.Code]; known {
		return status
	}
	return http.StatusBadRequest
}

// timeForm is how XML has times.
const timeForm = "2006-01-02T15:04:05.000Z"

// formatTime is a time as XML has it.
func formatTime(t time.Time) string { return t.UTC().Format(timeForm) }
