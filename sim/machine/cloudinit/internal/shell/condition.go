package shell

import (
	"cmp"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// testExpr answers [[ ]].
func (r *run) testExpr(x syntax.TestExpr) status {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return r.testExpr(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return not(r.testExpr(x.X))
		}
		if w, ok := x.X.(*syntax.Word); ok {
			return r.unary(x.Op.String(), r.word(w))
		}
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			return both(x.Op == syntax.AndTest, r.testExpr(x.X), r.testExpr(x.Y))
		}
		left, ok1 := x.X.(*syntax.Word)
		right, ok2 := x.Y.(*syntax.Word)
		if !ok1 || !ok2 {
			break
		}
		switch x.Op {
		case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
			l, pat := r.word(left), r.pattern(right)
			if r.unanswered(l + pat) {
				return open
			}
			return answer(r.matches(pat, l) != (x.Op == syntax.TsNoMatch))
		}
		return r.compare(r.word(left), x.Op.String(), r.word(right))
	case *syntax.Word:
		return r.unary("-n", r.word(x))
	}
	r.why = "a test"
	return open
}

// test answers test and [ ], with up to four arguments.
func test(r *run, c invocation) status {
	args := c.args[1:]
	if c.args[0] == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return no
		}
		args = args[:len(args)-1]
	}
	negated := false
	for len(args) > 1 && args[0] == "!" {
		args, negated = args[1:], !negated
	}
	s := open
	switch len(args) {
	case 0:
		s = no
	case 1:
		s = r.unary("-n", args[0])
	case 2:
		s = r.unary(args[0], args[1])
	case 3:
		s = r.compare(args[0], args[1], args[2])
	default:
		r.why = "a test of many parts"
	}
	if negated {
		return not(s)
	}
	return s
}

// unanswered reports whether text is not known, and says why.
func (r *run) unanswered(text string) bool {
	why, unknown := r.m.Unknown(text)
	if unknown {
		r.why = why
	}
	return unknown
}

func (r *run) unary(op, value string) status {
	if r.unanswered(value) {
		return open
	}
	switch op {
	case "-n":
		return answer(value != "")
	case "-z":
		return answer(value == "")
	case "-e", "-f", "-r", "-s", "-d", "-a", "-w", "-x":
		s := r.exists(value)
		if s == open {
			r.why = "whether the image has " + value
		}
		return s
	case "-v":
		_, set := r.vars[value]
		return answer(set)
	}
	r.why = "test " + op
	return open
}

// numeric are the operators for numbers, with the outcomes of cmp.Compare that they accept.
var numeric = map[string][]int{"-eq": {0}, "-ne": {-1, 1}, "-lt": {-1}, "-le": {-1, 0}, "-gt": {1}, "-ge": {0, 1}}

func (r *run) compare(left, op, right string) status {
	if r.unanswered(left + right) {
		return open
	}
	switch op {
	case "=", "==":
		return answer(left == right)
	case "!=":
		return answer(left != right)
	}
	l, err1 := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if orders, found := numeric[op]; found && err1 == nil && err2 == nil {
		return answer(slices.Contains(orders, cmp.Compare(l, n)))
	}
	r.why = "test " + op
	return open
}
