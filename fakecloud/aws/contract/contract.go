// Package contract has tests of AWS's wire API as fakecloud/aws serves it: AWS's own SDK for Go calls each operation, provokes
// errors and turns pages, and a table says of each parameter that the SDK can send whether it is understood. It is a module of its own, so
// that the SDK is in no program.
package contract
