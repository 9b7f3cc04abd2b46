// Package reports holds what was last verified. What renders runs is in the packages below.
package reports

import _ "embed" // verified.json

// Verified is what was last verified of each failure, as reports/matrix writes it: the
// runs themselves are too large to keep.
//
//go:embed verified.json
var Verified []byte
