// Package document writes a report as HTML, Markdown or JSON.
package document

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// Policy is the Content-Security-Policy of a page that has its script and its style in
// itself: nothing else runs, and nothing comes from elsewhere. More are further
// directives.
func Policy(script, style string, more ...string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return strings.Join(append([]string{fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; "+
		"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
		hash(script), hash(style))}, more...), "; ")
}
