package table

import (
	"slices"
	"unicode/utf8"

	"nodestorm/reports/wording"
)

const (
	gap        = 2  // between two columns
	leastTitle = 27 // characters of a last column of words there are at least
)

// Fit are the rows as a terminal of width columns can show them on one line each, 0 for as many
// as they need: columns that there is no room for are left out, the last but one first and the
// first need never, and the last, which is of words, is cut. It is left out if all that would
// be left of it is a word or two.
func Fit(width, need int, rows [][]string) [][]string {
	if width == 0 {
		return rows
	}
	fit := cloned(rows)
	for {
		last := len(fit[0]) - 1
		// mutant: a line of the list wraps
		room := width - 1 // a full line would wrap on some
		for column := range last {
			room -= widest(fit, column) + gap
		}
		switch {
		case room < leastTitle && last > need:
			drop(fit, last-1)
			continue
		case room < leastTitle && last > 1:
			drop(fit, last)
			return fit
		}
		for _, row := range fit {
			row[last] = wording.Cut(row[last], max(room, 1))
		}
		return fit
	}
}

// Narrow are rows of figures as such a terminal can show them: columns that there is no room for
// are left out, the last first, and the first need never.
func Narrow(width, need int, rows [][]string) [][]string {
	if width == 0 {
		return rows
	}
	fit := cloned(rows)
	for {
		taken := 0
		for column := range fit[0] {
			taken += widest(fit, column) + gap
		}
		if taken-gap < width || len(fit[0]) <= need {
			return fit
		}
		drop(fit, len(fit[0])-1)
	}
}

func cloned(rows [][]string) (clones [][]string) {
	for _, row := range rows {
		clones = append(clones, slices.Clone(row))
	}
	return clones
}

func widest(rows [][]string, column int) (characters int) {
	for _, row := range rows {
		characters = max(characters, utf8.RuneCountInString(row[column]))
	}
	return characters
}

func drop(rows [][]string, column int) {
	for i := range rows {
		rows[i] = slices.Delete(rows[i], column, column+1)
	}
}
