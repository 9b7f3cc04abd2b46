package api

import "strings"

// Like reports whether a value is what a filter wants: * stands for any text and ? for one character, after a backslash for themselves.
func Like(want, is string) bool {
	if !strings.ContainsAny(want, `*?\`) {
		return want == is
	}
	return match([]rune(want), []rune(is))
}

// match is Like with one place to come back to: the last *.
func match(want, is []rune) bool {
	w, k, star, from := 0, 0, -1, 0
	for k < len(is) {
		switch {
		case w < len(want) && want[w] == '*':
			star, from = w, k
			w++
		case w+1 < len(want) && want[w] == '\\' && want[w+1] == is[k]:
			w += 2
			k++
		case w < len(want) && want[w] != '\\' && (want[w] == '?' || want[w] == is[k]):
			w++
			k++
		case star >= 0:
			from++
			w, k = star+1, from
		default:
			return false
		}
	}
	for w < len(want) && want[w] == '*' {
		w++
	}
	return w == len(want)
}
