package cli

import (
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/reports/wording"
)

const (
	asNames   = console.AsNames
	asWide    = console.AsWide
	tagsUsage = console.TagsUsage
)

var (
	counted         = wording.Counted
	exactly         = console.Exactly
	group           = console.Group
	columns         = console.Columns
	choose          = replay.Choose
	completeTargets = console.CompleteTargets
)

func (e *env) say(format string, args ...any)    { e.Say(format, args...) }
func (e *env) remark(format string, args ...any) { e.Remark(format, args...) }
func (e *env) detail(format string, args ...any) { e.Detail(format, args...) }
func (e *env) newStatus() supply.Line            { return e.NewLine() }
