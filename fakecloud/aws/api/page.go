package api

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// errToken is the error of a token that no answer had.
var errToken = errors.New("the token is none that was given")

// Page is a page of a list, and the token of the next one, empty for none. Most is how many the request wants at most; nil means all
// that a page can have. Like AWS's, a page is of the list as it is when it is asked for: what has come and gone since may be
// missed or seen twice.
func Page[T any](all []T, most *int64, token string, page int) (some []T, next string, err error) {
	from := 0
	if token != "" {
		text, err := base64.RawURLEncoding.DecodeString(token)
		rest, is := strings.CutPrefix(string(text), "from:")
		k, err2 := strconv.Atoi(rest)
		if err != nil || !is || err2 != nil || k < 0 {
			return nil, "", errToken
		}
		from = min(k, len(all))
	}
	if most != nil {
		page = min(page, int(*most))
	}
	to := min(from+page, len(all))
	if to < len(all) {
		next = base64.RawURLEncoding.EncodeToString([]byte("from:" + strconv.Itoa(to)))
	}
	return all[from:to], next, nil
}
