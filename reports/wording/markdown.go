package wording

import (
	"regexp"
	"strings"
)

// zero is a character without a width: where GitHub would make a link, a mention or
// a reference, which a backslash does not keep it from.
const zero = "\u200b"

var (
	escaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">",
		"&gt;", "&", "&amp;", "|", "\\|", "~", "\\~", "!", "\\!",
		"#", "\\#"+zero, "@", "@"+zero, "://", ":"+zero+"//", "www.", "www"+zero+".", "GH-", "GH"+zero+"-")
	// begins is what begins a list or a rule: a number does with a point and a space, and not with a hyphen, as a date has.
	begins = regexp.MustCompile(`^(?:(\d+)([.)](?:\s|$))|([-+=.)]))`)
	// plain is a name that is the same as code.
	plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@._/+-]*$`)
)

// Markdown makes text that others wrote harmless for Markdown on GitHub: none of it
// is markup, HTML, a link, a mention of a user or a reference to an issue. It is
// for a paragraph, an item or a cell of a table.
func Markdown(text string) string {
	return begins.ReplaceAllString(escaper.Replace(strings.TrimSpace(Clean(text))), `$1\$2$3`)
}

// MarkdownName is the name of a target or of a scenario, as code: GitHub takes
// karpenter@v1.6.4 for an address and makes a link of it.
func MarkdownName(name string) string {
	if plain.MatchString(name) {
		return "`" + name + "`"
	}
	return Markdown(name)
}

var issue = regexp.MustCompile(`^([\w.-]+/[\w.-]+)#(\d+)$`)

// IssueURL is where owner/repository#number is, or empty if the text is no such thing.
func IssueURL(text string) string {
	if !issue.MatchString(text) {
		return ""
	}
	return issue.ReplaceAllString(text, "https://github.com/$1/issues/$2")
}
