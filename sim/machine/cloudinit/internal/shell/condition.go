package shell

import (
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
			if why, found := r.m.Unknown(l + pat); found {
				r.why = why
				return open
			}
			return answer(matches(pat, l) != (x.Op == syntax.TsNoMatch))
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

func (r *run) unary(op, value string) status {
	if why, found := r.m.Unknown(value); found {
		r.why = why
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

func (r *run) compare(left, op, right string) status {
	for _, v := range []string{left, right} {
		if why, found := r.m.Unknown(v); found {
			r.why = why
			return open
		}
	}
	switch op {
	case "=", "==":
		return answer(left == right)
	case "!=":
		return answer(left != right)
	}
	l, err1 := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if err1 == nil && err2 == nil {
		switch op {
		case "-eq":
			return answer(l == n)
		case "-ne":
			return answer(l != n)
		case "-lt":
			return answer(l < n)
		case "-le":
			return answer(l <= n)
		case "-gt":
			return answer(l > n)
		case "-ge":
			return answer(l >= n)
		}
	}
	r.why = "test " + op
	return open
}
